"""A shop's page: five places, two hundred products, rules, and clicks that come late.

Every visitor sees exactly five products, at most two of a category, none that is sold out, and in the first place one with a good
picture. People look at the first place more than at the last. Clicks come in later, some pages after the next. Before the first visitor
the agent learns from old logs, pages that somebody else chose.

    python3 shop.py [--quick]
"""

import sys
import time
from collections import deque

import numpy as np

import superarm

PRODUCTS, PLACES, CATEGORIES, TASTES = 200, 5, 20, 5
LOOKS = np.array([1.0, 0.8, 0.6, 0.5, 0.4])  # how many look at each place, as measured on the old page


class Shop:
    """The world: who comes, what is in stock, who clicks."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        world = np.random.default_rng(1)  # the same for all
        self.category = world.integers(CATEGORIES, size=PRODUCTS)
        self.picture = world.random(PRODUCTS) < 0.6
        self.products = np.hstack([np.eye(CATEGORIES)[self.category], world.normal(size=(PRODUCTS, 10))])
        self.liking = world.normal(size=(self.products.shape[1], TASTES))

    def visitor(self):
        """Tastes that the shop knows, and which products are sold out."""
        return np.append(1.0, self.rng.normal(size=TASTES - 1)), self.rng.random(PRODUCTS) < 0.1

    def appeal(self, tastes):
        """The chance of a click on each product, if it is looked at."""
        return 0.6 / (1 + np.exp(3 - 0.4 * (self.products @ self.liking) @ tastes))

    def clicks(self, tastes, arms):
        return (self.rng.random(len(arms)) < LOOKS[: len(arms)] * self.appeal(tastes)[arms]).astype(float)


def make_agent(rules, seed):
    """psi_k f(x) predicts the clicks of place k (feedback cascade, everything is seen); assignment keeps the rules."""
    return superarm.Agent("cn-ts", dim=30 * TASTES, slate=PLACES, confidence="sketch", feedback="cascade", random_state=seed,
                          oracle="assignment" if rules else "top-k")


def page_rules(shop):
    eligible = np.ones((PLACES, PRODUCTS), bool)
    eligible[0] = shop.picture
    return {"groups": shop.category, "capacities": np.full(CATEGORIES, 2), "eligible": eligible}


def warm_start(agent, shop, pages):
    """Old logs: pages that were put together at random."""
    for _ in range(pages):
        tastes, _ = shop.visitor()
        arms = shop.rng.choice(PRODUCTS, PLACES, replace=False)
        agent.learn(None, shop.clicks(tastes, arms), np.ones(PLACES, bool), arms=arms, items=shop.products, shared=tastes,
                    join="products", discounts=LOOKS)


def serve(agent, shop, rules, visitors):
    """Clicks, and how long each page took."""
    waiting, clicked, seconds = deque(), 0.0, []
    for _ in range(visitors):
        tastes, sold_out = shop.visitor()
        begin = time.perf_counter()
        decision = agent.select(None, slate=PLACES, items=shop.products, shared=tastes, join="products", exclude=sold_out, discounts=LOOKS,
                                **(rules or {}))
        seconds.append(time.perf_counter() - begin)
        if rules:
            keeps_rules(shop, decision.arms, sold_out)
        clicks = shop.clicks(tastes, decision.arms)
        clicked += clicks.sum()
        waiting.append((decision, clicks))
        while len(waiting) > shop.rng.integers(20):  # late, and some wait longer than others
            agent.update(*waiting.popleft(), observed=np.ones(PLACES, bool))
    return clicked, np.array(seconds)


def keeps_rules(shop, arms, sold_out):
    assert len(set(arms)) == PLACES and not sold_out[arms].any() and shop.picture[arms[0]]
    assert np.bincount(shop.category[arms]).max() <= 2


def main():
    visitors, old_pages = (60, 30) if "--quick" in sys.argv else (3000, 500)
    for name, with_rules in (("rules", True), ("no rules", False)):
        shop = Shop(seed=2)
        agent = make_agent(with_rules, seed=1)
        warm_start(agent, shop, old_pages)
        clicks, seconds = serve(agent, shop, page_rules(shop) if with_rules else None, visitors)
        print(f"{name:9} {clicks / visitors:.3f} clicks a page, select {1000 * np.median(seconds):.2f} ms (median)")


if __name__ == "__main__":
    main()
