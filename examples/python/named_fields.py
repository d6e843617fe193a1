"""A shop's home page: products and visitors with named fields, as they come from a database.

Each visitor is shown four of thirty products. What they are, texts, numbers, lists, some of them missing, is encoded by a schema of ten
lines; nothing else is written by hand. Decisions name products by id, and so does the feedback. What happened is kept in a decision log,
from which another agent learns at the end, without having chosen anything.

    python3 named_fields.py [--quick]
"""

import json
import os
import sys
import tempfile

import numpy as np

import superarm

SCHEMA = """
context: {country: hashed 8, device: category [phone, desktop], hour: cyclic 24, member: flag}
item:
  category: category [shoes, hats, coats]
  brand: hashed 16
  price: log
  age: number
  tags: tags 16
cross: [[device, category], [member, price]]
"""

rng = np.random.default_rng(5)
CATEGORIES, TAGS = ["shoes", "hats", "coats"], ["sale", "new", "eco", "wool", "kids"]


def catalogue(size):
    products = [{"id": f"p{number}", "category": str(rng.choice(CATEGORIES)), "brand": f"brand {rng.integers(8)}",
                 "price": round(float(rng.lognormal(3, 1)), 2), "age": int(rng.integers(400)),
                 "tags": [str(tag) for tag in rng.choice(TAGS, size=rng.integers(3), replace=False)]} for number in range(size)]
    products[3]["price"] = None  # nobody knows
    return products


def visitor():
    return {"country": str(rng.choice(["de", "fr", "jp"])), "device": str(rng.choice(["phone", "desktop"])), "hour": int(rng.integers(24)),
            "member": bool(rng.integers(2))}


def click_probability(context, product):
    likes = 0.1 + 0.4 * (product["category"] == ("shoes" if context["device"] == "phone" else "coats")) + 0.2 * ("sale" in product["tags"])
    return likes * (0.6 if context["member"] and (product["price"] or 20) > 40 else 1)


def day(agent, products, visitors, log):
    """Returns the clicks a page, and those that a page chosen by chance would get."""
    got, chance = 0, 0.0
    for number in range(visitors):
        context = visitor()
        decision = agent.select(items=products, context=context, slate=4)
        probability = {product["id"]: click_probability(context, product) for product in products}
        clicks = {name: int(rng.uniform() < probability[name]) for name in decision.ids}
        agent.update(decision, clicks)
        log.write(json.dumps({"event": f"v{number}", "context": context, "items": products, "slate": decision.ids, "propensity": None,
                              "feedback": [clicks[name] for name in decision.ids]}) + "\n")
        got += sum(clicks.values())
        chance += 4 * float(np.mean(list(probability.values())))
    return got / visitors, chance / visitors


def main(visitors):
    products = catalogue(30)
    agent = superarm.Agent("cn-ucb", schema=superarm.Schema(SCHEMA), random_state=1, hidden=20)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.jsonl")
        with open(path, "w", encoding="utf-8") as log:
            clicks, chance = day(agent, products, visitors, log)
        print(f"{clicks:.2f} clicks a page, {chance:.2f} by chance; {agent.schema.dim} features from 9 fields")
        other = superarm.Agent("cn-ucb", schema=agent.schema, random_state=1, hidden=20)
        print(f"another agent learnt from {other.learn_log(path)['decisions']} decisions of the log")
        context = visitor()
        same = agent.select(items=products, context=context, slate=4).ids == other.select(items=products, context=context, slate=4).ids
        print("and chooses", "the same page" if same else "another page")
    return clicks / chance if same else 0


if __name__ == "__main__":
    if main(visitors=150 if "--quick" in sys.argv else 600) < 1:
        sys.exit("no better than chance")
