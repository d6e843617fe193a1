// clients.js MODULES ENDPOINT ADMIN|- CLIENT: Azure Personalizer's two clients as npm has them, against a service: every call that its routes cover.
"use strict";
const assert = require("assert");
const [modules, endpoint, admin, key] = process.argv.slice(2);
const { PersonalizerClient } = require(`${modules}/@azure/cognitiveservices-personalizer`);
const { ApiKeyCredentials } = require(`${modules}/@azure/ms-rest-js`);
const { default: createPersonalizerClient, isUnexpected } = require(`${modules}/@azure-rest/ai-personalizer`);

const contextFeatures = [{ timeOfDay: "morning" }, { user: { age: 30, member: true, likes: ["tea"] } }];
const actions = [
  { id: "pasta", features: [{ taste: "salty", spice: 1 }, { nutrition: { calories: 300 } }] },
  { id: "ice cream/ü", features: [{ taste: "sweet" }] },
  { id: "soup", features: [{ taste: "hot" }] },
];

const bare = !new URL(endpoint).pathname.slice(1);
const isExpected = (answer) => !bare || !isUnexpected(answer); // which knows no path in front

function sums(ranking) {
  assert(Math.abs(ranking.reduce((sum, one) => sum + one.probability, 0) - 1) < 1e-12, JSON.stringify(ranking));
}

async function v10() {
  const client = new PersonalizerClient(new ApiKeyCredentials({ inHeader: { "Ocp-Apim-Subscription-Key": key } }), endpoint);
  const event = "first/1 ü";
  const answer = await client.rank({ eventId: event, contextFeatures, actions, excludedActions: ["soup"], deferActivation: true });
  assert.strictEqual(answer._response.status, 201);
  assert.strictEqual(answer.eventId, event);
  assert.strictEqual(answer.ranking[2].id, "soup");
  assert.strictEqual(answer.ranking[2].probability, 0);
  assert.strictEqual(answer.ranking[0].id, answer.rewardActionId);
  sums(answer.ranking);
  const again = await client.rank({ eventId: event, contextFeatures, actions, excludedActions: ["soup"], deferActivation: true });
  assert.deepStrictEqual(again.ranking, answer.ranking);
  assert.strictEqual((await client.events.activate(event))._response.status, 204);
  assert.strictEqual((await client.events.reward(event, { value: 0.5 }))._response.status, 204);
  const plain = await client.rank({ actions });
  assert(plain.eventId && plain.ranking.length === 3);
  await client.events.reward(plain.eventId, { value: -1 });
  for (const [call, status, code] of [
    [() => client.events.reward(plain.eventId, { value: 3 }), 400, "InvalidRewardRequest"],
    [() => client.events.reward("nobody", { value: 1 }), 404, "ResourceNotFound"],
    [() => client.events.activate("nobody"), 404, "ResourceNotFound"],
    [() => client.rank({ actions: [] }), 400, "InvalidRankRequest"],
    [() => new PersonalizerClient(new ApiKeyCredentials({ inHeader: { "Ocp-Apim-Subscription-Key": "no" } }), endpoint).rank({ actions }), 401, "401"],
  ])
    await assert.rejects(call, (error) => error.statusCode === status && error.body.error.code === code && error.body.error.message.length > 10);
  return event;
}

async function v11() {
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const boss = createPersonalizerClient(endpoint, { key: admin }, options), client = createPersonalizerClient(endpoint, { key }, options);
  const configuration = { rewardWaitTime: "PT2S", defaultReward: -0.5, rewardAggregation: "sum", explorationPercentage: 0.3, modelExportFrequency: "PT5M", logRetentionDays: 30, learningMode: "Online" };
  const put = await boss.path("/configurations/service").put({ body: configuration });
  assert.strictEqual(put.status, "200", JSON.stringify(put.body));
  assert(isExpected(put));
  const get = await boss.path("/configurations/service").get();
  assert.strictEqual(get.status, "200");
  for (const name of ["rewardWaitTime", "defaultReward", "rewardAggregation", "explorationPercentage", "logRetentionDays", "learningMode"])
    for (const answer of [put, get]) assert.deepStrictEqual(answer.body[name], configuration[name], name);
  assert.strictEqual((await client.path("/configurations/service").get()).status, "403");

  const rank = await client.path("/rank").post({ body: { eventId: "v11", contextFeatures, actions, deferActivation: false } });
  assert.strictEqual(rank.status, "201");
  assert(isExpected(rank) && rank.body.ranking.length === 3);
  sums(rank.body.ranking);
  assert(Math.abs(Math.max(...rank.body.ranking.map((one) => one.probability)) - 0.8) < 1e-12); // 0.7 + 0.3 / 3
  assert.strictEqual((await client.path("/events/{eventId}/reward", "v11").post({ body: { value: 1 } })).status, "204");
  assert.strictEqual((await client.path("/events/{eventId}/activate", "v11").post()).status, "204");

  const slots = [
    { id: "main", features: [{ size: "large", position: "top" }], excludedActions: ["soup"], baselineAction: "pasta" },
    { id: "side bar", features: [{ size: "small" }], baselineAction: "ice cream/ü" },
  ];
  const multi = await client.path("/multislot/rank").post({ body: { eventId: "slots/1", contextFeatures, actions, slots, deferActivation: true } });
  assert.strictEqual(multi.status, "201", JSON.stringify(multi.body));
  assert(isExpected(multi));
  assert.deepStrictEqual(multi.body.slots.map((slot) => slot.id), ["main", "side bar"]);
  assert.strictEqual(new Set(multi.body.slots.map((slot) => slot.rewardActionId)).size, 2);
  assert(multi.body.slots[0].rewardActionId !== "soup" && multi.body.eventId === "slots/1");
  assert.strictEqual((await client.path("/multislot/events/{eventId}/activate", "slots/1").post()).status, "204");
  assert.strictEqual((await client.path("/multislot/events/{eventId}/reward", "slots/1").post({ body: { reward: [{ slotId: "side bar", value: 0.25 }] } })).status, "204");
  const wrong = await client.path("/multislot/events/{eventId}/reward", "slots/1").post({ body: { reward: [{ slotId: "nowhere", value: 0.25 }] } });
  assert(wrong.status === "400" && wrong.body.error.code === "InvalidRewardRequest" && wrong.headers["x-ms-error-code"] === "InvalidRewardRequest");

  const properties = await boss.path("/model/properties").get();
  assert.strictEqual(properties.status, "200");
  assert(Math.abs(Date.now() - new Date(properties.body.lastModifiedTime)) < 600e3 && new Date(properties.body.creationTime) <= new Date(properties.body.lastModifiedTime));
  const model = await boss.path("/model").get().asNodeStream();
  assert.strictEqual(model.status, "200");
  const parts = [];
  for await (const part of model.body) parts.push(part);
  const bytes = Buffer.concat(parts);
  assert(bytes.subarray(0, 2).toString() === "PK", bytes.subarray(0, 20)); // an npz
  const imported = await boss.path("/model").put({ body: new Uint8Array(bytes), contentType: "application/octet-stream" });
  assert.strictEqual(imported.status, "204", JSON.stringify(imported.body));
  const reset = await boss.path("/model").delete();
  assert.strictEqual(reset.status, "204", JSON.stringify(reset.body));
}

(async () => {
  if (bare) await v10(); // this client takes no endpoint with a path
  if (admin !== "-") await v11();
  console.log("ok");
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
