// client.js FOLDER URL: the Node client of FOLDER against the service at URL, and against servers that fail.
const assert = require("node:assert");
const http = require("node:http");
const { Client, ServiceError } = require(process.argv[2]);

const listen = (answer) =>
  new Promise((ready) => {
    const server = http.createServer(answer);
    server.listen(0, "127.0.0.1", () => ready({ server, url: `http://127.0.0.1:${server.address().port}` }));
  });
const body = async (request) => {
  let text = "";
  for await (const part of request) text += part;
  return JSON.parse(text);
};

async function anEventFromDecisionToLog(url) {
  const shop = new Client(url);
  assert(await shop.ready());
  const made = await shop.putAgent("home", { algorithm: "cn-ucb", dim: 2, hidden: 4 }, { slate: 2, default_feedback: 0, wait_seconds: 0 });
  assert.strictEqual(made.model, 1);
  const request = { event: "e/1 ü", contexts: [[0, 1], [1, 0], [0.5, 0.25]] };
  const decision = await shop.decide("home", request);
  assert.deepStrictEqual(await shop.decide("home", request), decision);
  await shop.feedback("home", decision.event, { [decision.slate[0]]: 1 });
  const other = await shop.decide("home", { contexts: request.contexts, slate: 1, exclude: [0], fallback: [1] });
  assert(other.fallback === undefined && other.slate[0] > 0);
  const ranked = await shop.decide("home", { event: "ranked", contexts: request.contexts, slate: 1, ranking: true, places: ["hero"] });
  assert(ranked.ranking.length === 3 && ranked.ranking[0].id === ranked.slate[0] && Math.abs(ranked.ranking.reduce((sum, one) => sum + one.probability, 0) - 1) < 1e-12);
  await shop.feedback("home", "ranked", { hero: 1 }, { by: "place" });
  await assert.rejects(shop.feedback("home", "ranked", { side: 1 }, { by: "place" }), /no place of event/);
  await shop.erase("home", "ranked");
  const lines = [];
  for await (const line of shop.log("home")) lines.push(line);
  assert.deepStrictEqual(lines.map((line) => line.event), ["e/1 ü", other.event]);
  assert.deepStrictEqual(lines[0].feedback, [1, 0]);
  await shop.erase("home", "e/1 ü");
  await assert.rejects(shop.feedback("home", "e/1 ü", [1, 0]), (error) => error instanceof ServiceError && error.status === 404 && error.code === "not_found");
  // what is wrong is told, fallback or not: it would be wrong each time
  await assert.rejects(shop.decide("home", { contexts: [[1, 2, 3]], fallback: [0] }), (error) => error.status === 400 && /dim is 2/.test(error.message));
  await shop.deleteAgent("home");
  assert.deepStrictEqual(await shop.agents(), []);
  assert.throws(() => new Client("ftp://127.0.0.1"), TypeError);
}

async function whatIsNotAnsweredIsAskedAgainForTheSameEvent() {
  const events = [];
  const { server, url } = await listen(async (request, answer) => {
    events.push((await body(request)).event);
    if (events.length === 1) return request.socket.destroy();
    answer.writeHead(events.length === 2 ? 503 : 201);
    answer.end(events.length === 2 ? '{"error": {"code": "unavailable", "message": "not now"}}' : '{"event": "x", "slate": [0]}');
  });
  assert.deepStrictEqual((await new Client(url).decide("home", { contexts: [[0, 1]] })).slate, [0]);
  assert(events.length === 3 && new Set(events).size === 1, events);
  server.close();
  server.closeAllConnections();
}

async function whatAProxySaysOfAServiceThatIsAway() {
  let asked = 0;
  const { server, url } = await listen(async (request, answer) => {
    await body(request);
    const status = [502, 504, 201, 502, 504, 500][asked++];
    answer.writeHead(status);
    answer.end(status === 201 ? '{"event": "x", "slate": [0]}' : "<html>Bad Gateway</html>");
  });
  const shop = new Client(url, { retries: 2 });
  assert.deepStrictEqual((await shop.decide("home", { contexts: [[0, 1]], fallback: [7] })).slate, [0]);
  const one = new Client(url, { retries: 0 });
  for (let i = 0; i < 2; i++) assert.deepStrictEqual((await one.decide("home", { contexts: [[0, 1]], fallback: [7] })).slate, [7]);
  await assert.rejects(one.decide("home", { contexts: [[0, 1]], fallback: [7] }), (error) => error.status === 500);
  server.close();
  server.closeAllConnections();
}

async function aShopNeverShowsAnEmptyPage() {
  const { server, url } = await listen(() => {}); // takes requests, and never answers
  const away = new Client(url, { timeout: 50, retries: 1 });
  const shown = await away.decide("home", { contexts: [[0, 1]], fallback: [2, 0] });
  assert(shown.fallback && shown.event === null);
  assert.deepStrictEqual(shown.slate, [2, 0]);
  await away.feedback("home", shown.event, [1, 0]); // nothing is sent
  await assert.rejects(away.decide("home", { contexts: [[0, 1]] }));
  assert(!(await away.ready()));
  server.close();
  server.closeAllConnections();
  assert.deepStrictEqual((await away.decide("home", { contexts: [[0, 1]], fallback: ["p1"] })).slate, ["p1"]); // nobody listens
}

async function itemsAreStored(url) {
  const shop = new Client(url);
  await shop.putAgent("stored", { hidden: 4 }, { schema: { item: { price: "log" } }, slate: 1, default_feedback: 0 });
  const items = Array.from({ length: 1003 }, (_, i) => ({ id: `p ${i}/%`, price: i, kind: i % 2 ? "odd" : "even" }));
  assert.strictEqual((await shop.putItems("stored", items)).added, 1003);
  assert.strictEqual((await shop.patchItems("stored", [{ id: "p 1/%", price: 7 }])).changed, 1);
  items[1].price = 7;
  const found = [];
  for await (const item of shop.items("stored")) found.push(item);
  assert.deepStrictEqual(found.map(({ id, price, kind }) => ({ id, price, kind })), items);
  assert(["p 2/%", "p 5/%"].includes((await shop.decide("stored", { items: ["p 5/%", "p 2/%"] })).slate[0]));
  assert.deepStrictEqual((await shop.decide("stored", { where: { kind: "odd", price: { max: 3 } } })).slate, ["p 3/%"]);
  assert.strictEqual((await shop.deleteItems("stored", "p 3/%")).items, 1002);
  await assert.rejects(shop.decide("stored", { where: { kind: "odd", price: { max: 3 } } }), /no stored item/);
  assert.strictEqual((await shop.deleteItems("stored")).items, 0);
}

async function sidesAndOthersSlates(url) {
  const shop = new Client(url);
  const contexts = [[0, 1], [1, 0], [0.5, 0.5]];
  await shop.putAgent("sides", { algorithm: "comblin-ucb", dim: 2 }, { slate: 2, default_feedback: 0, wait_seconds: 0, mode: "shadow", rewards: { click: 1, order: 9 } });
  const held = await shop.decide("sides", { contexts, user: "u1", baseline: [2, 0], activate: false });
  assert.deepStrictEqual([held.side, held.slate, held.agent_slate.length], ["shadow", [2, 0], 2]);
  await shop.feedback("sides", held.event, [{ click: 1, order: 1 }, null]);
  assert.strictEqual((await shop.agent("sides")).counts.held, 1);
  await shop.activate("sides", held.event);
  await shop.activate("sides", null);
  const shown = await shop.shown("sides", { event: "a/b", contexts, slate: [1], propensity: 0.5 });
  assert.deepStrictEqual([shown.side, shown.slate, shown.propensity], ["shown", [1], 0.5]);
  await shop.feedback("sides", "a/b", { 1: { click: 1 } });
  const [{ sums }] = await shop.history("sides");
  assert.deepStrictEqual([sums.sides.shadow.reward, sums.sides.shown.reward], [10, 1]);
  assert.strictEqual((await shop.history("sides", 0)).length, 1);
  await shop.deleteAgent("sides");
}

(async () => {
  await sidesAndOthersSlates(process.argv[3]);
  await anEventFromDecisionToLog(process.argv[3]);
  await itemsAreStored(process.argv[3]);
  await whatIsNotAnsweredIsAskedAgainForTheSameEvent();
  await whatAProxySaysOfAServiceThatIsAway();
  await aShopNeverShowsAnEmptyPage();
  console.log("ok");
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
