"use strict";
// One agent's page: each function fills one section from what the service said.

const HOUR = 3600, DAY = 24 * HOUR;
// Hours, days and weeks of UTC; a week begins on a Monday, as 1970-01-05 was. label: a part of "2026-11-18T09:00".
const RANGES = {
  day: { count: 24, bucket: HOUR, first: 0, says: "in the last 24 hours", label: [11, 16] },
  week: { count: 7, bucket: DAY, first: 0, says: "in the last 7 days", label: [5, 10] },
  month: { count: 30, bucket: DAY, first: 0, says: "in the last 30 days", label: [5, 10] },
  year: { count: 52, bucket: 7 * DAY, first: 4 * DAY, says: "in the last 52 weeks", label: [2, 10] },
};
const SIDES = [["agent", "one", "the agent"], ["control", "two", "the control"], ["shadow", "four", "shown, the agent beside it"], ["shown", "three", "shown without asking"]];

// ---- history: sums by the hour, and after two weeks by the day; what is not there is a gap ----

function emptySums() {
  return { sides: {}, decisions: 0, learnt: 0, reward: 0, feedback: 0, late: 0, revised: 0, explored: 0, places: [], items: new Map() };
}

function addSums(into, sums) {
  for (const [side, part] of Object.entries(sums.sides || {})) {
    const own = into.sides[side] || (into.sides[side] = { decisions: 0, learnt: 0, reward: 0 });
    for (const name of ["decisions", "learnt", "reward"]) {
      own[name] += part[name] || 0;
      into[name] += part[name] || 0;
    }
  }
  for (const name of ["feedback", "late", "revised", "explored"]) into[name] += sums[name] || 0;
  (sums.places || []).forEach(([seen, reward], place) => {
    const own = into.places[place] || (into.places[place] = { shown: 0, sum: 0 });
    own.shown += seen;
    own.sum += reward;
  });
  for (const [id, count] of sums.items || []) into.items.set(id, (into.items.get(id) || 0) + count);
}

// The second at which the first bucket of the range begins; the last is the one of now.
function beginOf(range) {
  return (Math.floor((Date.now() / 1000 - range.first) / range.bucket) + 1 - range.count) * range.bucket + range.first;
}

// Buckets up to now, null where nothing happened, with the times at which they begin; and all of it in one.
function bucketsOf(rows, range) {
  const begin = beginOf(range), buckets = new Array(range.count).fill(null), all = emptySums();
  for (const row of rows) {
    const index = Math.floor((row.time - begin) / range.bucket);
    if (index < 0 || index >= range.count) continue;
    if (!buckets[index]) buckets[index] = emptySums();
    addSums(buckets[index], row.sums);
    addSums(all, row.sums);
  }
  const times = buckets.map((_, index) => new Date((begin + index * range.bucket) * 1000).toISOString().slice(0, 16).replace("T", " "));
  return { buckets, times, all };
}

// A row each, newest first; gaps are told in one.
function historyRows(buckets, times, sides, hours) {
  const rows = [], name = (index) => (hours ? times[index] : times[index].slice(0, 10));
  for (let index = buckets.length - 1, last; index >= 0; index--) {
    const bucket = buckets[index];
    if (bucket) {
      rows.push([name(index), bucket.decisions, bucket.learnt, ...sides.map(([side]) => digits(meanOf(bucket.sides[side]))), bucket.feedback, bucket.late]);
      continue;
    }
    for (last = index; index > 0 && !buckets[index - 1];) index--;
    rows.push([index === last ? name(index) : name(index) + " to " + name(last), "no events"]);
  }
  return rows;
}

function meanOf(part) {
  return part && part.learnt ? part.reward / part.learnt : null;
}

function showHistory(rows, range) {
  const { buckets, times, all } = bucketsOf(rows, range), labels = times.map((time) => time.slice(...range.label));
  const sides = SIDES.filter(([side]) => buckets.some((bucket) => bucket && bucket.sides[side]));
  const any = buckets.some((bucket) => bucket);
  byId("no-history").hidden = any;
  byId("charts").hidden = byId("history-details").hidden = !any;
  byId("sides-legend").replaceChildren(...sides.map(([, name, title]) => make("i", name, title)));
  lineChart(byId("rewards"), labels, sides.map(([side, name, title]) => [name, title, buckets.map((bucket) => meanOf(bucket && bucket.sides[side]))]));
  barChart(byId("volumes"), labels, buckets.map((bucket) => bucket && bucket.decisions));
  const heads = [["time (UTC)"], ["decisions", true], ["learnt", true], ...sides.map(([side]) => ["reward, " + side, true]), ["feedback", true], ["late", true]];
  fillTable(byId("history-table"), heads, historyRows(buckets, times, sides, range.bucket === HOUR));
  byId("decisions").textContent = digits(all.decisions);
  byId("decisions-of").textContent = "decisions " + range.says;
  byId("mean").textContent = digits(meanOf(all.sides.agent) ?? meanOf(all));
  byId("mean-of").textContent = "reward a decision" + (all.sides.agent ? " of the agent, " : ", ") + range.says;
  return all;
}

// ---- is it better? ----

function verdictOf(agent) {
  const sides = agent.sides, difference = sides && sides.difference, mode = agent.settings.mode || "online";
  if (mode !== "online") {
    const own = sides && sides.apprentice;
    return ["", own ? "It shows the baseline and learns (" + mode + "). Its own slate is the baseline's in " + percent(own.agrees, 1) + " of " + digits(own.events) + " events; its own slates would be worth an estimated " +
      digits(own.estimate) + " a decision." : "It shows the baseline, and learns from it (" + mode + ")."];
  }
  if (!sides || !sides.control || !sides.control.events) {
    return ["", agent.settings.control ? "No event of the control side has been learnt since the control, the mode or the rewards were set." : "Is it better than what was there before? Nobody can say without a control: set \"control\", a share of the events, with PUT."];
  }
  if (!isNumber(difference.low) || !isNumber(difference.high)) return ["", "There are too few events to compare the agent with the control."];
  const range = "between " + signed(difference.low) + " and " + signed(difference.high) + " a decision";
  if (difference.low > 0) return ["good", "Better than the control: " + range + "."];
  if (difference.high < 0) return ["bad", "Worse than the control: " + range + "."];
  return ["", "No difference to the control is shown yet: it is " + range + "."];
}

function showSides(agent) {
  const sides = agent.sides || {}, difference = sides.difference || {};
  const rows = SIDES.filter(([side]) => sides[side] && sides[side].events).map(([side, , title]) => [title, sides[side].events, digits(sides[side].reward), ""]);
  const compared = sides.control && sides.control.events && isNumber(difference.value);
  const bounds = isNumber(difference.low) && isNumber(difference.high) ? "[" + signed(difference.low) + ", " + signed(difference.high) + "]" : "too few events";
  if (compared) rows.push(["agent minus control", "", signed(difference.value) + " " + bounds, interval(difference.low, difference.value, difference.high)]);
  fillTable(byId("sides-table"), [["side"], ["events", true], ["reward a decision", true], ["95% interval, around 0"]], rows);
  byId("sides-table").hidden = !rows.length;
  byId("sides-note").textContent = (rows.length ? "" : "No event has been learnt. ") + (compared ? "The interval may be looked at every day: with probability 95% it never leaves the difference out, however often it is looked at. " : "") +
    (isNumber(sides.since) ? "Since " + new Date(sides.since * 1000).toLocaleString() + ", when the control, the mode or the rewards were set." : "");
}

// ---- what is shown, and what for ----

function showPlaces(places, says) {
  const most = Math.max(0, ...places.map((place) => place.shown ? Math.abs(place.sum / place.shown) : 0));
  fillTable(byId("places-table"), [["place"], ["seen", true], ["feedback each", true], [""]],
    places.map((place, index) => [String(index + 1), place.shown, place.shown ? place.sum / place.shown : null, bar(Math.abs(place.sum / place.shown), most)].map((value) => (value === null ? "–" : value))));
  byId("places-table").hidden = !places.length;
  byId("places-note").textContent = places.length ? "Mean feedback of what stood there, " + says + "; arms without any count with the default." : "No feedback " + says + ".";
}

function showItems(all, insights, says) {
  const named = Array.from(all.items, ([id, shown]) => ({ id, shown })).sort((one, other) => other.shown - one.shown);
  const items = named.length ? named.slice(0, 12) : ((insights && insights.items.most_shown) || []).slice(0, 12);
  const means = new Map(((insights && insights.items.most_shown) || []).map((item) => [item.id, item.mean]));
  const most = Math.max(1, ...items.map((item) => item.shown));
  fillTable(byId("items-table"), [["item"], ["shown", true], ["feedback each", true], [""]], items.map((item) => [item.id, item.shown, digits(means.get(item.id)), bar(item.shown, most)]));
  byId("items-table").hidden = !items.length;
  byId("items-note").textContent = !items.length ? "Items have no ids, or none was shown." :
    (named.length ? "How often " + says + (named.length >= 100 ? " (of many items: at most that often)" : "") : "In the last events") + "; feedback in the last " + digits(insights ? insights.events : 0) + " events.";
}

function showFeatures(insights) {
  const features = insights && insights.features;
  const fields = features ? features.fields.filter((field) => isNumber(field.increase)).sort((one, other) => other.increase - one.increase) : [];
  const most = Math.max(0, ...fields.map((field) => field.increase));
  fillTable(byId("features-table"), [["field"], ["loss without it", true], [""]], fields.slice(0, 20).map((field) => [field.name, digits(Math.max(0, field.increase) / features.variance * 100) + "%", bar(field.increase, most)]));
  byId("features-table").hidden = !fields.length;
  byId("features-note").textContent = !features ? "Too few events with feedback, 50 items, to say." : !fields.length ? "This agent's model has no estimate that could be tried." :
    "By how much the model's squared error grows, in percent of the feedback's variance, when the field's values change places among " + digits(features.arms) + " items that were shown. It is what the model uses, not what causes clicks." +
    (features.all ? "" : " The first 64 are tried.");
}

function showQuality(agent, all, insights) {
  const lines = [];
  const unknown = Object.entries(agent.unknown_fields || {});
  if (unknown.length) lines.push("Fields that the schema does not have, with values since the start, none of which is looked at: " + unknown.map(([name, count]) => name + " " + digits(count)).join(", "));
  const missing = insights && insights.features ? insights.features.fields.filter((field) => field.missing > 0) : [];
  if (missing.length) lines.push("Missing in items that were shown: " + missing.map((field) => field.name + " " + percent(field.missing, 1)).join(", "));
  if (all.late) lines.push("Late feedback, after its wait had ended: " + digits(all.late) + " of " + digits(all.feedback) + " (" + percent(all.late, all.feedback) + ")" + (all.revised ? "; " + digits(all.revised) + " events were revised by it" : ""));
  if (all.learnt && !all.feedback) lines.push("Events were learnt and no feedback has come: is it sent?");
  if (agent.counts.skipped) lines.push("Events that the agent could not learn from: " + digits(agent.counts.skipped));
  if (insights && insights.unread) lines.push("Of the last events, made for other settings: " + digits(insights.unread));
  if (!lines.length) lines.push("Nothing to complain about: no unknown fields, no missing values, no late feedback.");
  byId("quality").replaceChildren(...lines.map((line) => make("li", "", line)));
}

function showLearner(agent) {
  const facts = [["algorithm", agent.settings.options.algorithm || "cn-ucb"], ["features", digits(Number(agent.settings.options.dim))],
    ["policy", agent.model === null ? "being recovered" : "of row " + digits(agent.model) + " of " + digits(agent.seq) + ", " + digits(Math.round(agent.model_age_seconds)) + " s old"],
    ["observations", digits(agent.counts.observations)], ["trainings", digits(agent.counts.trainings) + (agent.counts.diverged_trainings ? ", " + digits(agent.counts.diverged_trainings) + " of them diverged" : "")],
    ["events that wait", digits(agent.counts.waiting) + (agent.counts.held ? ", and " + digits(agent.counts.held) + " for their activation" : "")], ["memory", digits(agent.counts.bytes / 1048576) + " MB"]];
  byId("learner").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
}

function showChance(all, insights, says) {
  const chance = insights && insights.chance;
  byId("explored").textContent = all.decisions && all.explored ? percent(all.explored, all.decisions) : chance && chance.places ? percent(chance.unlikely, chance.places) : "–";
  byId("explored").nextElementSibling.textContent = all.decisions && all.explored ? "of decisions had a place by chance, " + says : "of places had less than an even chance, in the last events";
}

// ---- evaluations ----

function estimateText(found) {
  return found ? digits(found.value) + " ± " + digits(1.96 * found.standard_error) : "–";
}

// The estimator to look at first: docs/EVALUATION.md.
function preferred(estimators) {
  return ["cascade-dr", "rips", "snrips", "snips", "ips"].find((name) => estimators[name]) || Object.keys(estimators)[0];
}

function evaluationRow(one, cancel) {
  const policies = one.evaluation && (one.evaluation.policies || { present: one.evaluation }), button = make("button", "small", one.state === "waiting" || one.state === "running" ? "Cancel" : "Remove");
  const name = policies && preferred(policies.present.estimators), difference = policies && policies.candidate && policies.candidate.difference[name], control = one.evaluation && one.evaluation.control;
  button.type = "button";
  button.setAttribute("aria-label", button.textContent + " evaluation " + one.id);
  button.addEventListener("click", () => cancel(one.id));
  const options = Object.entries(one.request.options || {}).filter(([key]) => key !== "oracle" && key !== "dim").map(([key, value]) => key + " " + value).join(", ");
  const what = one.error || (difference ? "candidate minus present " + signed(difference.value) + " [" + signed(difference.ci95[0]) + ", " + signed(difference.ci95[1]) + "] by " + name : one.state === "done" ? "by " + name : "");
  const warnings = one.evaluation ? one.evaluation.warnings.length : 0, cellOf = make("span", "", what);
  if (warnings) {
    const details = make("details");
    details.append(make("summary", "", warnings + (warnings === 1 ? " warning" : " warnings")), ...one.evaluation.warnings.map((text) => make("p", "note", text)));
    cellOf.append(details);
  }
  return [String(one.id) + ": " + (options || "present options"), one.state, one.logged ? estimateText(one.logged) : "–", estimateText(policies && policies.present.estimators[name]),
    estimateText(policies && policies.candidate && policies.candidate.estimators[name]), control ? estimateText(control) : "–", cellOf, button];
}

function showEvaluations(list, cancel) {
  const table = byId("evaluations-table"), open = new Set(Array.from(table.querySelectorAll("tr"), (row, index) => (row.querySelector("details[open]") ? index : -1)));
  const focused = document.activeElement && table.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  fillTable(table, [["evaluation"], ["state"], ["measured", true], ["present", true], ["candidate", true], ["control", true], ["result"], [""]], list.map((one) => evaluationRow(one, cancel)));
  table.hidden = !list.length;
  table.querySelectorAll("tr").forEach((row, index) => { if (open.has(index) && row.querySelector("details")) row.querySelector("details").open = true; });
  if (focused) for (const button of table.querySelectorAll("button")) if (button.getAttribute("aria-label") === focused) button.focus();
}

// ---- a request to try ----

const EXAMPLES = { number: 1, log: 10, cyclic: 12, flag: true, hashed: "a", tags: ["a"], any: "a" };

function exampleOf(kind) {
  const word = String(kind).split(" ")[0], listed = /\[\s*([^,\]]*)/.exec(String(kind));
  return word === "category" && listed ? listed[1].trim() : word in EXAMPLES ? EXAMPLES[word] : 1;
}

// By the agent's own schema, so that it can be sent as it stands.
function exampleRequest(settings) {
  const slate = settings.slate, count = Math.max(3, slate + 1), arms = [];
  const body = {};
  if (settings.schema) {
    const fields = (part) => Object.fromEntries(Object.entries(settings.schema[part] || {}).map(([name, kind]) => [name, exampleOf(kind)]));
    for (let i = 0; i < count; i++) arms.push({ id: "item-" + (i + 1), ...fields("item") });
    if (settings.schema.context) body.context = fields("context");
    body.items = arms;
  } else {
    const dim = Number(settings.options.dim);
    for (let i = 0; i < count; i++) arms.push(Array.from({ length: dim }, (_, j) => (i === j % count ? 1 : 0)));
    body.contexts = arms;
  }
  if ((settings.mode || "online") !== "online") body.baseline = arms.slice(0, slate).map((arm, index) => (settings.schema ? arm.id : index));
  const lines = JSON.stringify(body, null, 0);
  return lines.replace(/"(items|contexts)":\[/, '"$1":[\n  ').replace(/([}\]]),(?=[{[])/g, "$1,\n  ");
}

function showTried(answer) {
  const own = answer.agent_slate || answer.slate, estimates = answer.estimates || [], widths = answer.widths || [];
  const arms = own.map((id, index) => ({ id, estimate: estimates[index], width: widths[index] }));
  const says = answer.side === "control" ? "This event would be on the control side. " : answer.agent_slate ? "The baseline would be shown; the agent's own slate is: " : "";
  const chance = answer.agent_slate ? answer.agent_propensity : answer.propensity;
  byId("try-answer").replaceChildren(make("p", "", says + "Slate, with estimate ± width" + (isNumber(chance) ? "; its probability is " + digits(chance) : "") + ":"), ...armRows([arms])[0],
    ...(answer.warnings || []).map((text) => make("p", "alert", text)));
}

function showRecent(recent) {
  byId("recent-note").textContent = recent.length ? "The bar is the estimate plus and minus the width: how sure the agent is. A wide bar was tried to learn about it." : "None since the service started.";
  byId("recent").parentElement.hidden = !recent.length;
  const rows = armRows(recent.map((one) => one.slate));
  byId("recent").replaceChildren(...recent.map((one, index) => {
    const row = make("tr"), slate = make("td");
    slate.append(...rows[index]);
    const event = make("td", "event", one.event);
    event.title = one.event;
    row.append(make("td", "", new Date(one.time).toLocaleTimeString()), event, make("td", "", String(one.model)), slate);
    return row;
  }));
}
