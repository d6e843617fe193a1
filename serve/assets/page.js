"use strict";
// Everything that comes from a client is inserted as text (textContent), never as HTML.
const byId = (id) => document.getElementById(id);
let key = sessionStorage.getItem("superarm-key") || "";
let shown = "";

async function get(path) {
  const headers = key ? { Authorization: "Bearer " + key } : {};
  const answer = await fetch(path, { headers });
  if (answer.status === 401 || answer.status === 403) throw new Error("key");
  return answer;
}

function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

function draw(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function digits(number) {
  if (number === null || number === undefined) return "–";
  if (number === 0) return "0";
  const size = Math.abs(number);
  return size >= 1000 ? number.toFixed(0) : size >= 100 ? number.toFixed(1) : Number(number.toPrecision(3)).toString();
}

// Lines over the last ten minutes; each line is [class, [[seconds, value or null], ...]].
function chart(svg, lines, fromZero) {
  const width = 600, height = 180, left = 44, right = 8, top = 8, bottom = 22;
  const values = lines.flatMap(([, points]) => points.map((point) => point[1])).filter((value) => value !== null);
  const now = Date.now() / 1000;
  let low = fromZero || !values.length ? 0 : Math.min(...values), high = values.length ? Math.max(...values) : 1;
  if (high <= low) { high = low + Math.max(1e-9, Math.abs(low) || 1); }
  const x = (seconds) => left + (width - left - right) * (1 - (now - seconds) / 600);
  const y = (value) => height - bottom - (height - top - bottom) * (value - low) / (high - low);
  svg.replaceChildren();
  for (const value of [low, (low + high) / 2, high]) {
    svg.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    const label = draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" });
    label.textContent = digits(value);
    svg.append(label);
  }
  for (const [minutes, anchor] of [[10, "start"], [5, "middle"], [0, "end"]]) {
    const label = draw("text", { x: x(now - 60 * minutes), y: height - 6, "text-anchor": anchor });
    label.textContent = minutes ? minutes + " min ago" : "now";
    svg.append(label);
  }
  for (const [name, points] of lines) {
    let path = "", pen = "M";
    for (const [seconds, value] of points) {
      if (value === null) { continue; }
      path += pen + x(seconds).toFixed(1) + " " + y(value).toFixed(1);
      pen = "L";
    }
    if (path && pen === "L" && !path.includes("L")) path += path.replace("M", "L"); // one point is a dot
    if (path) svg.append(draw("path", { class: "line " + name, d: path }));
  }
}

function armRow(arm, low, high) {
  const row = make("div", "arm");
  const id = make("span", "id", String(arm.id));
  id.title = String(arm.id);
  row.append(id, make("span", "why", digits(arm.estimate) + " ± " + digits(arm.width)));
  const svg = draw("svg", { viewBox: "0 0 200 12", preserveAspectRatio: "none" });
  if (arm.estimate !== null && high > low) {
    const at = (value) => 4 + 192 * (value - low) / (high - low);
    const width = arm.width === null ? 0 : arm.width;
    svg.append(draw("line", { class: "bar", x1: at(arm.estimate - width), x2: at(arm.estimate + width), y1: 6, y2: 6 }));
    svg.append(draw("line", { class: "dot", x1: at(arm.estimate), x2: at(arm.estimate), y1: 1, y2: 11 }));
  }
  row.append(svg);
  return row;
}

function showRecent(recent) {
  const arms = recent.flatMap((one) => one.slate).filter((arm) => arm.estimate !== null);
  const low = Math.min(...arms.map((arm) => arm.estimate - (arm.width || 0)));
  const high = Math.max(...arms.map((arm) => arm.estimate + (arm.width || 0)));
  byId("recent").replaceChildren(...recent.map((one) => {
    const row = make("tr"), slate = make("td");
    slate.append(...one.slate.map((arm) => armRow(arm, low, high)));
    row.append(make("td", "", new Date(one.time).toLocaleTimeString()), make("td", "event", one.event), make("td", "", String(one.model)), slate);
    return row;
  }));
}

function showAgent(agent) {
  const rows = agent.series.rows, every = agent.series.seconds, now = Date.now() / 1000;
  const learnt = rows.reduce((sum, row) => sum + row[3], 0);
  const reward = rows.reduce((sum, row) => sum + row[3] * (row[4] || 0), 0);
  byId("decisions").textContent = digits(agent.rates.decisions_per_second);
  byId("feedback").textContent = digits(agent.rates.feedback_per_second);
  byId("mean").textContent = learnt ? digits(reward / learnt) : "–";
  byId("waiting").textContent = String(agent.counts.waiting);
  byId("model").textContent = agent.model === null ? "–" : String(agent.model);
  byId("age").textContent = agent.broken ? "broken" : agent.model === null ? "being recovered" : "version of the policy, " + digits(Math.round(agent.model_age_seconds)) + " s old";
  const unknown = Object.entries(agent.unknown_fields || {});
  byId("unknown").hidden = unknown.length === 0;
  byId("unknown").textContent = "Fields that the schema does not have, and their values since the start, none of which is looked at: " +
    unknown.map(([name, count]) => name + " " + count).join(", ");
  const whole = rows.filter((row) => row[0] + every <= now);
  chart(byId("rates"), [["one", whole.map((row) => [row[0], row[1] / every])], ["two", whole.map((row) => [row[0], row[2] / every])]], true);
  chart(byId("means"), [["one", whole.map((row) => [row[0], row[4]])]], false);
  showRecent(agent.recent);
}

// Broken agents are marked, here and under the title.
function showList(agents) {
  const select = byId("agent");
  const label = (agent) => agent.name + (agent.broken ? " (broken)" : "");
  const before = Array.from(select.options, (option) => option.textContent);
  if (before.join("\n") !== agents.map(label).join("\n")) {
    select.replaceChildren(...agents.map((agent) => { const option = make("option", "", label(agent)); option.value = agent.name; return option; }));
    if (agents.some((agent) => agent.name === shown)) select.value = shown;
  }
  shown = select.value;
  const broken = agents.filter((agent) => agent.broken);
  byId("broken").hidden = broken.length === 0;
  byId("broken").replaceChildren(...broken.map((agent) => make("li", "", agent.name + " is broken, and the others are served: " + agent.broken)));
}

function say(text, kind) {
  byId("state").textContent = text;
  byId("state").className = "state " + kind;
}

async function refresh() {
  try {
    const ready = await fetch("/readyz");
    const state = await ready.json();
    say(ready.ok ? "ready" : state.error.message, ready.ok ? "good" : "bad");
    const list = await (await get("/v1/agents")).json();
    const agents = list.agents.sort((one, other) => (one.name < other.name ? -1 : 1));
    byId("login").hidden = true;
    byId("live").hidden = agents.length === 0;
    showList(agents);
    if (shown) showAgent(await (await get("/v1/agents/" + encodeURIComponent(shown))).json());
  } catch (error) {
    if (error.message === "key") {
      byId("login").hidden = false;
      byId("live").hidden = true;
    } else {
      say("no connection to the service", "bad");
    }
  }
}

byId("agent").addEventListener("change", () => { shown = byId("agent").value; refresh(); });
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key = byId("key").value.trim();
  sessionStorage.setItem("superarm-key", key);
  refresh();
});
refresh();
setInterval(refresh, 2000);
