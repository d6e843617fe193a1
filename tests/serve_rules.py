#!/usr/bin/env python3
"""serve_rules.py PROGRAM: rules in words (pin, at_most, at_least, exactly, exclude) against all slates, one by one."""
import itertools
import math
import random
import sys

from service import home, main, until

PROGRAM = sys.argv[1]
SCHEMA = {"context": {"device": "category [phone, desktop]"}, "item": {"price": "number", "category": "category [shoes, hats, bags]"}}
AGENT = {"options": {"algorithm": "greedy", "hidden": 8, "normalize": "none"}, "schema": SCHEMA, "slate": 3, "default_feedback": 0, "wait_seconds": 0}
DRAW = random.Random(26)
ITEMS = [{"id": f"p{i}", "price": round(DRAW.uniform(-1, 1), 3), "category": ["shoes", "shoes", "hats", "bags"][i % 4], "brand": i % 3, "new": i % 2 == 0}
         for i in range(9)]
del ITEMS[8]["category"]  # of none
BY_ID = {item["id"]: item for item in ITEMS}


def check(got, status):
    assert got[0] == status, got
    return got[1]


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


class Shop:
    """An agent that has learnt a little, and asks."""

    def __init__(self, server, name, **options):
        self.server, self.path = server, f"/v1/agents/{name}"
        check(server.call("PUT", self.path, {**AGENT, "options": {**AGENT["options"], **options}}), 201)
        for i in range(30):
            answer = self.decide(slate=4)
            values = {item: math.sin(3 * BY_ID[item]["price"]) + (BY_ID[item].get("category") == "shoes") for item in answer["slate"]}
            check(server.call("POST", self.path + "/feedback", {"event": answer["event"], "feedback": values}), 204)
        until(lambda: server.call("GET", self.path)[1]["model"] == 31)

    def ask(self, **body):
        return self.server.call("POST", self.path + "/decide", {"context": {"device": "phone"}, "items": ITEMS, **body})

    def decide(self, **body):
        return check(self.ask(**body), 201)

    def sentence(self, **body):
        return check(self.ask(**body), 400)["error"]["message"]

    def scores(self):
        answer = self.decide(slate=len(ITEMS), explain=True)
        return dict(zip(answer["slate"], answer["estimates"]))


# ---- the witness ----

def limits(rule, pool):
    """(field, value, number) of each limit."""
    for field, said in rule.items():
        values = {text(item[field]) for item in pool if field in item}
        for value, number in (said.items() if isinstance(said, dict) else ((value, said) for value in values)):
            yield field, value, number


def keeps(slate, rules):
    pool = [item for item in ITEMS if item["id"] not in rules.get("exclude", ())]
    has = lambda field, value: sum(field in BY_ID[i] and text(BY_ID[i][field]) == value for i in slate)
    return (not set(slate) & set(rules.get("exclude", ()))
            and all(int(place) < len(slate) and slate[int(place)] == item for place, item in rules.get("pin", {}).items())
            and all(has(field, value) <= number for field, value, number in limits(rules.get("at_most", {}), ITEMS))
            and all(has(field, value) >= number for field, value, number in limits(rules.get("at_least", {}), pool)))


def best(scores, size, rules, prefix=()):
    """The slate with the largest sum, in decreasing score where places are free; of the size that the rules leave."""
    found = None
    for slate in itertools.permutations(scores, size):
        if slate[:len(prefix)] == tuple(prefix) and keeps(slate, rules):
            rank = (sum(scores[i] for i in slate), [scores[i] for i in slate])
            # equal sums differ by rounding in another order: then the order decides
            if found is None or rank[0] > found[0][0] + 1e-12 or (abs(rank[0] - found[0][0]) <= 1e-12 and rank[1] > found[0][1]):
                found = (rank, slate)
    return None if found is None else list(found[1])


CASES = [
    {"pin": {"0": "p3"}}, {"pin": {"2": "p3"}}, {"pin": {"0": "p8", "2": "p0"}}, {"pin": {"0": "p2", "1": "p5", "2": "p4"}},
    {"at_most": {"category": 1}}, {"at_most": {"category": {"shoes": 1}}}, {"at_most": {"category": {"shoes": 0, "hats": 1}}},
    {"at_most": {"brand": 1}}, {"at_most": {"new": {"true": 1}}}, {"at_most": {"brand": {"0": 0}}},
    {"at_least": {"category": {"bags": 1}}}, {"at_least": {"category": {"bags": 2}}}, {"at_least": {"category": 1}},
    {"at_least": {"new": {"false": 2}}}, {"at_least": {"category": {"hats": 1}}, "at_most": {"category": {"shoes": 1}}},
    {"at_most": {"category": 1}, "pin": {"1": "p8"}}, {"at_least": {"category": {"bags": 1}}, "pin": {"0": "p3"}},
    {"at_most": {"category": 2}, "exclude": ["p1", "p2", "p8"]}, {"at_least": {"category": 1}, "exclude": ["p2", "p6"]},
    {"at_most": {"category": 1, "brand": 1}}, {"at_most": {"category": 1}, "at_least": {"brand": {"2": 2}}},
    {"at_most": {"brand": 1}, "at_least": {"new": {"true": 2}}, "pin": {"2": "p7"}}, {"exclude": ["p0", "p1", "p4"]}, {"exactly": True},
]


def every_rule_gives_the_best_of_all_slates_that_keep_it():
    with home(PROGRAM) as server:
        shop = Shop(server, "shop")
        scores = shop.scores()
        assert len({round(score, 9) for score in scores.values()}) == len(ITEMS), "no ties, so the best is one"
        for rules in CASES:
            answer = shop.decide(**rules)
            assert answer["slate"] == best(scores, 3, rules), (rules, answer["slate"], best(scores, 3, rules))
            assert answer["propensity"] == 1, answer


def random_rules_agree_too():
    draw = random.Random(4)
    with home(PROGRAM) as server:
        shop = Shop(server, "shop")
        scores = shop.scores()
        met = unmet = 0
        for _ in range(120):
            rules, size = {}, draw.randint(1, 4)
            field = draw.choice(["category", "brand", "new"])
            values = sorted({text(item[field]) for item in ITEMS if field in item})
            if draw.random() < 0.6:
                rules["at_most"] = {field: draw.randint(0, 2) if draw.random() < 0.5 else {draw.choice(values): draw.randint(0, 2)}}
            if draw.random() < 0.5:
                rules["at_least"] = {field: {draw.choice(values): draw.randint(0, 2)}}
            if draw.random() < 0.5:
                rules["pin"] = {str(place): item for place, item in zip(draw.sample(range(size), draw.randint(1, size)), draw.sample(list(scores), size))}
            if draw.random() < 0.5:
                rules["exclude"] = draw.sample(list(scores), draw.randint(1, 4))
            wanted = best(scores, size, rules)
            status, answer, _ = shop.ask(slate=size, exactly=True, **rules)
            assert (status == 201) == (wanted is not None), (rules, size, status, answer, wanted)
            met, unmet = met + (wanted is not None), unmet + (wanted is None)
            if wanted:
                assert answer["slate"] == wanted, (rules, answer["slate"], wanted)
            else:
                assert status == 400 and any(word in answer["error"]["message"] for word in ("pin", "at_", "rules")), answer
        assert met > 40 and unmet > 10, (met, unmet)


def a_page_is_shorter_where_rules_leave_less_room():
    with home(PROGRAM) as server:
        shop = Shop(server, "shop")
        scores = shop.scores()
        rules = {"at_most": {"new": 1}}  # true or false: two at most
        assert shop.decide(**rules)["slate"] == best(scores, 2, rules)
        assert "room for 2" in shop.sentence(**rules, exactly=True)
        assert "place 2" in shop.sentence(**rules, pin={"2": "p0"})
        assert "2 places" in shop.sentence(slate=2, pin={"2": "p0"})


def the_floor_keeps_the_rules():
    """Probabilities of a whole page, place by place: 1 - E for the best that goes on so, E spread over the arms that keep the page feasible."""
    share = 0.4
    with home(PROGRAM) as server:
        shop = Shop(server, "shop", floor=share)
        scores = {}
        while len(scores) < len(ITEMS):  # the floor's slates hide the scores: take them from pages of all
            answer = shop.decide(slate=len(ITEMS), explain=True)
            scores.update(zip(answer["slate"], answer["estimates"]))
        for rules in ({"pin": {"1": "p3"}}, {"at_most": {"category": 1}}, {"at_least": {"category": {"bags": 1}}, "pin": {"0": "p1"}},
                      {"at_most": {"category": {"shoes": 1}}, "exclude": ["p2"]}):
            pages = [slate for slate in itertools.permutations(scores, 3) if keeps(slate, rules)]
            seen = set()
            for i in range(25):
                answer = shop.decide(**rules)
                page, chance = answer["slate"], 1.0
                assert tuple(page) in pages, (rules, page)
                for k in range(3):
                    open_now = {slate[k] for slate in pages if list(slate[:k]) == page[:k]}
                    chance *= share / len(open_now) + (1 - share) * (best(scores, 3, rules, page[:k])[k] == page[k])
                    assert abs(answer["prefix_propensities"][k] - chance) < 1e-9, (rules, page, k, answer, chance)
                seen.add(tuple(page))
            assert len(seen) > 3, "it explores"


def what_kept_an_arm_out_is_said():
    with home(PROGRAM) as server:
        shop = Shop(server, "shop")
        scores = shop.scores()
        order = sorted(scores, key=scores.get, reverse=True)
        for rules, rule in (({"exclude": order[:2]}, "exclude"), ({"at_most": {"category": 1}}, "at_most"), ({"pin": {"0": order[-1]}, "slate": 1}, "pin"),
                            ({"at_least": {"category": {"bags": 2}}, "slate": 2}, "at_least")):
            answer = shop.decide(explain=True, **rules)
            worst = min(scores[item] for item in answer["slate"])
            better = [item for item in order if scores[item] > worst and item not in answer["slate"]]
            # of these, an arm that could be swapped in for a worse one without breaking a rule was kept out by none
            out = {entry["id"]: entry for entry in answer["kept_out"]}
            assert list(out) == better[:10], (rules, answer, better)
            for item in better:
                swaps = [[item if at == k else old for at, old in enumerate(answer["slate"])] for k in range(len(answer["slate"]))
                         if scores[answer["slate"][k]] < scores[item]]
                assert not any(keeps(slate, rules) for slate in swaps), "the witness agrees that rules did"
                assert out[item]["rule"] == rule and abs(out[item]["score"] - scores[item]) < 1e-9, (rules, out[item])
            if rule == "at_most":
                assert all(out[i]["field"] == "category" and out[i]["value"] == BY_ID[i]["category"] and out[i]["limit"] == 1 for i in better), out
            if rule == "at_least":
                assert all((out[i]["field"], out[i]["value"], out[i]["limit"]) == ("category", "bags", 2) for i in better), out
        assert shop.decide(explain=True)["kept_out"] == []


def agents_without_a_schema_and_with_places():
    rows = [[math.cos(i), math.sin(i)] for i in range(6)]
    with home(PROGRAM) as server:
        for name, more in (("plain", {}), ("places", {"feedback": "position"})):
            check(server.call("PUT", f"/v1/agents/{name}", {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8, **more}, "slate": 3, "default_feedback": 0}), 201)
            got = check(server.call("POST", f"/v1/agents/{name}/decide", {"contexts": rows, "pin": {"1": 4}, "exclude": [0]}), 201)
            assert got["slate"][1] == 4 and 0 not in got["slate"] and len(set(got["slate"])) == 3, got
            said = check(server.call("POST", f"/v1/agents/{name}/decide", {"contexts": rows, "at_most": {"category": 1}}), 400)
            assert "no schema" in said["error"]["message"]
            assert "6 candidates" in check(server.call("POST", f"/v1/agents/{name}/decide", {"contexts": rows, "pin": {"0": 6}}), 400)["error"]["message"]


def what_is_wrong_gets_a_sentence():
    with home(PROGRAM) as server:
        shop = Shop(server, "shop")
        before = server.call("GET", shop.path)[1]["counts"]["decisions"]
        for rules, words in (
                ({"pin": {"0": "p99"}}, "no item has this id"), ({"pin": {"3": "p1"}}, "3 places"), ({"pin": {"x": "p1"}}, "place"),
                ({"pin": {"01": "p1"}}, "place"), ({"pin": {"-1": "p1"}}, "place"), ({"pin": ["p1"]}, "no object"), ({"pin": {"0": 3}}, "id"),
                ({"pin": {"0": "p1", "1": "p1"}}, "same arm"), ({"pin": {"0": "p1"}, "exclude": ["p1"]}, "excluded"),
                ({"pin": {str(k): f"p{k}" for k in range(4)}}, "4 arms"), ({"at_most": {"colour": 1}}, "colour"), ({"at_least": {"colour": 1}}, "colour"),
                ({"at_most": 2}, "no object"), ({"at_most": {"category": -1}}, "between"), ({"at_most": {"category": "2"}}, "number"),
                ({"at_most": {"category": 1.5}}, "whole"), ({"at_most": {"category": {"shoes": None}}}, "number"), ({"at_least": {"category": {"boots": 1}}}, "boots"),
                ({"at_least": {"category": {"bags": 3}}}, "2 can be chosen"), ({"at_least": {"category": {"bags": 2}}, "at_most": {"category": 1}}, "allows 1"),
                ({"at_least": {"category": {"bags": 2, "hats": 2}}}, "4 arms"), ({"at_least": {"category": {"bags": 2}}, "pin": {"0": "p0", "1": "p1"}}, "beside"),
                ({"pin": {"0": "p0", "1": "p1"}, "at_most": {"category": 1}}, "pin has 2"), ({"exactly": "yes"}, "exactly"), ({"exactly": True, "slate": 10}, "room for 9"),
                ({"at_most": {"brand": 1}, "problem": {"groups": [0] * 9, "capacities": [2]}}, "one way"),
                ({"pin": {"0": "p1"}, "problem": {"eligible": [[1] * 9] * 3}}, "one way"), ({"pin": {"0": "p1"}, "problem": {"costs": [1] * 9, "capacity": 3}}, "together"),
                ({"at_most": {"category": 1, "brand": 1, "new": 1}, "exactly": True}, "room for 2"), ({"at_most": {"category": 0}, "slate": 9, "exactly": True}, "room")):
            assert words in shop.sentence(**rules), (rules, shop.sentence(**rules))
        tagged = [{**item, "tags": ["a"]} for item in ITEMS]
        assert "one value" in check(shop.ask(items=tagged, at_most={"tags": 1}), 400)["error"]["message"]
        assert server.call("GET", shop.path)[1]["counts"]["decisions"] == before, "nothing was decided"
        # an oracle of the agent's own reads no rules of others
        check(server.call("PUT", "/v1/agents/own", {**AGENT, "options": {**AGENT["options"], "oracle": "top-k"}}), 201)
        said = check(server.call("POST", "/v1/agents/own/decide", {"items": ITEMS, "pin": {"0": "p1"}}), 400)["error"]["message"]
        assert "auto" in said, said


main(every_rule_gives_the_best_of_all_slates_that_keep_it, random_rules_agree_too, a_page_is_shorter_where_rules_leave_less_room, the_floor_keeps_the_rules,
     what_kept_an_arm_out_is_said, agents_without_a_schema_and_with_places, what_is_wrong_gets_a_sentence)
