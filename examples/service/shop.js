// A shop's home page in Node 18 or newer: superarm serve --dir shop, then node examples/service/shop.js [http://127.0.0.1:8080]
const shop = (process.argv[2] || "http://127.0.0.1:8080") + "/v1/agents/node";
const send = async (method, path, body) => {
  const answer = await fetch(shop + path, { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text ? JSON.parse(text) : null;
};
(async () => {
  await send("PUT", "", { options: { algorithm: "cn-ucb", dim: 2 }, slate: 2, default_feedback: 0, wait_seconds: 0 });
  const { event, slate } = await send("POST", "/decide", { contexts: [[0, 1], [1, 0], [0.5, 0.5]] });
  await send("POST", "/feedback", { event, feedback: { [slate[0]]: 1 } }); // the first of the two was clicked
  console.log("chosen:", slate, "learnt:", (await send("GET", "")).counts.learnt);
})();
