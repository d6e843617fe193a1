"use strict";
// A client of `superarm serve` for Node 18 or newer: this one file, without dependencies.
//
//   const { Client } = require("superarm-client");
//   const shop = new Client("http://127.0.0.1:8080", { timeout: 300, retries: 1 });
//   const { event, slate } = await shop.decide("home", { contexts, fallback: [0, 1, 2] });
//   await shop.feedback("home", event, { [slate[0]]: 1 });
const { randomUUID } = require("node:crypto");

/** The service refused: its status, its code ("bad_request", "not_found"...) and its sentence. */
class ServiceError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "ServiceError";
    this.status = status;
    this.code = code;
  }
}

const pause = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));
const name = (text) => encodeURIComponent(text);
/** Is the service away, or too busy to answer? Then the same request may be sent again, which is safe: events are decided once. */
const isAway = (error) => !(error instanceof ServiceError) || [429, 502, 503, 504].includes(error.status); // 502, 504: a proxy's

class Client {
  #url;
  #headers;
  #timeout;
  #retries;

  constructor(url = "http://127.0.0.1:8080", { key, timeout = 10000, retries = 4 } = {}) {
    const address = new URL(url);
    if (!/^https?:$/.test(address.protocol)) throw new TypeError(`${url} is not an address like http://127.0.0.1:8080`);
    this.#url = address.href.replace(/\/+$/, "");
    this.#headers = key ? { Authorization: `Bearer ${key}` } : {};
    this.#timeout = timeout;
    this.#retries = retries;
  }

  // ---- deciding ----

  async decide(agent, { fallback, ...request }) {
    const body = { ...request, event: request.event ?? randomUUID() };
    try {
      return await this.#json("POST", `/v1/agents/${name(agent)}/decide`, body);
    } catch (error) {
      if (fallback === undefined || !isAway(error)) throw error;
      return { event: null, slate: fallback, propensity: null, prefix_propensities: null, position_propensities: null, model: null, fallback: true };
    }
  }

  async feedback(agent, event, feedback, { id, by } = {}) {
    if (event === null) return; // of a fallback: nobody decided it
    await this.#json("POST", `/v1/agents/${name(agent)}/feedback`, { event, feedback, id, by });
  }

  async activate(agent, event) {
    if (event !== null) await this.#json("POST", `/v1/agents/${name(agent)}/activate/${name(event)}`);
  }

  shown(agent, request) {
    return this.#json("POST", `/v1/agents/${name(agent)}/shown`, { ...request, event: request.event ?? randomUUID() });
  }

  // ---- agents ----

  putAgent(agent, options, settings = {}) {
    return this.#json("PUT", `/v1/agents/${name(agent)}`, { options, ...settings });
  }

  async agents() {
    return (await this.#json("GET", "/v1/agents")).agents;
  }

  agent(agent) {
    return this.#json("GET", `/v1/agents/${name(agent)}`);
  }

  async deleteAgent(agent) {
    await this.#json("DELETE", `/v1/agents/${name(agent)}`);
  }

  async history(agent, start) {
    return (await this.#json("GET", `/v1/agents/${name(agent)}/history${start === undefined ? "" : `?from=${start}`}`)).history;
  }

  async erase(agent, event) {
    await this.#json("DELETE", `/v1/agents/${name(agent)}/events/${name(event)}`);
  }

  // ---- stored items ----

  putItems(agent, items) {
    return this.#lines("PUT", agent, items);
  }

  patchItems(agent, items) {
    return this.#lines("PATCH", agent, items);
  }

  deleteItems(agent, item) {
    return this.#json("DELETE", `/v1/agents/${name(agent)}/items${item === undefined ? "" : `/${name(item)}`}`);
  }

  async *items(agent) {
    for (let after = ""; ; ) {
      const text = (await this.#send("GET", `/v1/agents/${name(agent)}/items?limit=1000${after}`)).toString();
      const page = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
      yield* page;
      if (page.length < 1000) return;
      after = `&after=${name(page.at(-1).id)}`;
    }
  }

  async #lines(method, agent, items) {
    const body = [...items].map((item) => JSON.stringify(item)).join("\n");
    return JSON.parse((await this.#send(method, `/v1/agents/${name(agent)}/items`, body, "application/x-ndjson")).toString());
  }

  async *log(agent, start = 1) {
    for (;;) {
      const text = (await this.#send("GET", `/v1/agents/${name(agent)}/log?from=${start}&limit=1000`)).toString();
      const page = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
      yield* page;
      if (!page.length || !page.at(-1).final) return;
      start = page.at(-1).seq + 1;
    }
  }

  async ready() {
    try {
      await this.#once("GET", "/readyz");
      return true;
    } catch {
      return false;
    }
  }

  // ---- HTTP ----

  async #json(method, path, body) {
    const raw = await this.#send(method, path, body === undefined ? undefined : JSON.stringify(body));
    return raw.length ? JSON.parse(raw.toString()) : null;
  }

  async #send(method, path, body, type = "application/json") {
    for (let tried = 0; ; tried++) {
      try {
        return await this.#once(method, path, body, type);
      } catch (error) {
        if (!isAway(error) || tried >= this.#retries) throw error;
      }
      await pause(Math.min(2000, 50 * 4 ** tried));
    }
  }

  async #once(method, path, body, type) {
    const headers = { ...this.#headers, ...(body === undefined ? {} : { "Content-Type": type }) };
    const answer = await fetch(this.#url + path, { method, headers, body, signal: AbortSignal.timeout(this.#timeout) });
    const raw = Buffer.from(await answer.arrayBuffer());
    if (answer.ok) return raw;
    let error = { code: "error", message: `${method} ${path} was answered with ${answer.status}` };
    try {
      error = JSON.parse(raw.toString()).error ?? error;
    } catch {} // not the service's own words: a proxy's
    throw new ServiceError(answer.status, error.code, error.message);
  }
}

exports.Client = Client;
exports.ServiceError = ServiceError;
