"use strict";
// Which page is shown (#/ or #/agents/NAME), asking the service, and what a person does.
let key = sessionStorage.getItem("superarm-key") || "";
let shown = null; // name of the agent whose page it is; null: the list
let past = [], insights = null, evaluations = [], slow = 0, latest = null;

async function ask(path, body, method) {
  const headers = key ? { Authorization: "Bearer " + key } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { headers, method: method || (body === undefined ? "GET" : "POST"), body });
  if (answer.status === 401 || answer.status === 403) throw new Error("key");
  return answer;
}

const pathOf = (name) => "/v1/agents/" + encodeURIComponent(name);
const rangeNow = () => RANGES[document.querySelector("input[name=range]:checked").value];

function show(...ids) {
  for (const id of ["login", "list", "missing", "agent", "first"]) byId(id).hidden = !ids.includes(id);
}

function say(text, kind) {
  if (byId("state").textContent !== text) byId("state").textContent = text;
  byId("state").className = "state " + kind;
}

function nameInAddress() {
  const found = /^#\/agents\/([^/?]+)/.exec(location.hash);
  try { return found ? decodeURIComponent(found[1]) : null; } catch (error) { return null; }
}

function stateOf(agent) {
  if (agent.broken) return "broken";
  if (agent.model === null) return "being recovered";
  const mode = agent.settings.mode || "online";
  return mode === "online" ? "online" : mode + ": the baseline is shown";
}

// ---- the list ----

function showList(agents) {
  const broken = agents.filter((agent) => agent.broken);
  byId("broken").hidden = broken.length === 0;
  byId("broken").replaceChildren(...broken.map((agent) => make("li", "", agent.name + " is broken, and the others are served: " + agent.broken)));
  const focused = document.activeElement && byId("agents").contains(document.activeElement) ? document.activeElement.textContent : null;
  byId("agents").replaceChildren(...agents.map((agent) => {
    const row = make("tr"), link = make("a", "", agent.name), difference = agent.sides && agent.sides.difference;
    const against = difference && isNumber(difference.low) && isNumber(difference.high) ? signed(difference.value) + " [" + signed(difference.low) + ", " + signed(difference.high) + "]" : "–";
    link.href = "#/agents/" + encodeURIComponent(agent.name);
    row.append(cell(link, true), cell(stateOf(agent)), cell(agent.counts.decisions), cell(agent.rates.decisions_per_second), cell(agent.counts.waiting), cell(against));
    return row;
  }));
  if (focused) for (const link of byId("agents").querySelectorAll("a")) if (link.textContent === focused) link.focus();
}

// ---- an agent ----

async function tryJson(path, otherwise) {
  const answer = await ask(path);
  return answer.ok ? answer.json() : otherwise;
}

// What takes a while is asked for every 20 seconds, or when it is wanted.
async function refreshSlow(name) {
  past = (await tryJson(pathOf(name) + "/history?from=" + beginOf(rangeNow()), { history: [] })).history;
  insights = await tryJson(pathOf(name) + "/insights", null);
  slow = Date.now();
}

function showAgent(agent) {
  latest = agent;
  byId("agent-broken").hidden = !agent.broken;
  byId("agent-live").hidden = Boolean(agent.broken);
  byId("agent-state").textContent = "State: " + stateOf(agent) + (agent.settings.control ? "; control share " + percent(agent.settings.control, 1) : "");
  if (agent.broken) {
    byId("agent-broken").textContent = "It is broken, and not served: " + agent.broken + ". PUT with \"reset\": true makes it again, DELETE removes it; its rows and files stay until then.";
    return;
  }
  const range = rangeNow(), all = showHistory(past, range), [kind, verdict] = verdictOf(agent);
  byId("verdict").className = "verdict " + kind;
  byId("verdict").textContent = verdict;
  byId("rate").textContent = digits(agent.rates.decisions_per_second);
  const places = all.places.some((place) => place.shown) ? all.places : ((insights && insights.places) || []).map((place) => ({ shown: place.shown, sum: place.shown * place.mean }));
  const says = all.places.length ? range.says : "in the last events";
  showChance(all, insights, range.says);
  showSides(agent);
  showPlaces(places, says);
  showItems(all, insights, range.says);
  showFeatures(insights);
  showQuality(agent, all, insights);
  showLearner(agent);
  showEvaluations(evaluations, cancel);
  showRecent(agent.recent);
}

async function refreshAgent() {
  const name = shown, answer = await ask(pathOf(name));
  if (answer.status === 404) {
    show("missing");
    byId("missing-text").textContent = "There is no agent " + name + ".";
    return;
  }
  const agent = await answer.json();
  if (!agent.broken && Date.now() - slow > 20000) await refreshSlow(name);
  if (!agent.broken) evaluations = (await tryJson(pathOf(name) + "/evaluations", { evaluations: [] })).evaluations;
  if (name !== shown) return; // somebody went elsewhere meanwhile
  if (byId("agent-name").textContent !== name) {
    byId("agent-name").textContent = name;
    byId("try-body").value = agent.settings.schema || Number(agent.settings.options.dim) <= 12 ? exampleRequest(agent.settings) : "";
    byId("try-answer").replaceChildren();
    byId("evaluation-answer").textContent = "";
  }
  show("agent"); // charts are as wide as they are shown
  showAgent(agent);
}

async function refresh() {
  try {
    const ready = await fetch("/readyz");
    const state = await ready.json();
    say(ready.ok ? "ready" : state.error.message, ready.ok ? "good" : "bad");
    if (shown !== null) {
      await refreshAgent();
      return;
    }
    const list = await (await ask("/v1/agents")).json();
    if (shown !== null) return;
    const agents = list.agents.sort((one, other) => (one.name < other.name ? -1 : 1));
    showList(agents);
    show(agents.length ? "list" : "first");
  } catch (error) {
    if (error.message === "key") show("login");
    else say("no connection to the service", "bad");
  }
}

// ---- what a person does ----

function travel() {
  const before = shown;
  shown = nameInAddress();
  document.title = shown === null ? "superarm serve" : shown + " – superarm serve";
  if (shown !== before) { past = []; insights = null; evaluations = []; slow = 0; byId("agent-name").textContent = ""; }
  refresh().then(() => { if (shown !== before) byId("main").focus(); });
}

async function cancel(id) {
  await ask(pathOf(shown) + "/evaluations/" + id, undefined, "DELETE");
  refresh();
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key = byId("key").value.trim();
  sessionStorage.setItem("superarm-key", key);
  refresh();
});

for (const input of document.querySelectorAll("input[name=range]")) input.addEventListener("change", () => { slow = 0; refresh(); });

byId("try-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const body = { ...JSON.parse(byId("try-body").value), explain: true };
    const answer = await ask(pathOf(shown) + "/decide?dry=1", JSON.stringify(body)), json = await answer.json();
    if (answer.ok) showTried(json); else byId("try-answer").replaceChildren(make("p", "alert", json.error.message));
  } catch (error) {
    byId("try-answer").replaceChildren(make("p", "alert", error instanceof SyntaxError ? "This is not JSON: " + error.message : "no connection to the service"));
  }
});

byId("evaluation-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = byId("evaluation-options").value.trim(), body = {};
  try {
    if (text) body.options = JSON.parse(text);
    if (byId("evaluation-from").value) body.from = byId("evaluation-from").value;
    if (byId("evaluation-to").value) body.to = byId("evaluation-to").value;
    const answer = await ask(pathOf(shown) + "/evaluations", JSON.stringify(body)), json = await answer.json();
    byId("evaluation-answer").textContent = answer.ok ? "Evaluation " + json.id + " has begun." : json.error.message;
    byId("evaluation-answer").className = answer.ok ? "note" : "alert";
    refresh();
  } catch (error) {
    byId("evaluation-answer").className = "alert";
    byId("evaluation-answer").textContent = error instanceof SyntaxError ? "This is not JSON: " + error.message : "no connection to the service";
  }
});

document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
window.addEventListener("hashchange", travel);
window.addEventListener("resize", () => { if (shown !== null && latest && latest.name === shown && !latest.broken) showHistory(past, rangeNow()); });
travel();
setInterval(refresh, 2000);
