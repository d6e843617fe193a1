#!/usr/bin/env python3
"""serve_mistakes.py PROGRAM: mistakes that would be silent get a sentence."""
import itertools
import sys

from service import home, main

PROGRAM = sys.argv[1]
OPTIONS = {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}
AGENT = {"options": OPTIONS, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ROWS = [[0, 1], [1, 0], [0.5, 0.5], [0.2, 0.9], [0.7, 0.1]]
COSTS = [2, 3, 4, 1, 5]
SCHEMA = {"context": {"device": "category [phone, desktop]"}, "item": {"price": "log", "colour": "hashed 4"}}


def check(got, status):
    assert got[0] == status, got
    return got[1]


def sentence(got, status):
    return check(got, status)["error"]["message"]


def rules_that_the_oracle_does_not_read_are_refused():
    with home(PROGRAM) as server:
        for oracle in ("top-k", "knapsack"):
            check(server.call("PUT", "/v1/agents/" + oracle, {**AGENT, "options": {**OPTIONS, "oracle": oracle}}), 201)
        ask = lambda name, rules: server.call("POST", f"/v1/agents/{name}/decide", {"contexts": ROWS, "problem": rules})
        for rules, reader in (({"costs": COSTS, "capacity": 5}, "knapsack"), ({"groups": [0, 0, 1, 1, 1], "capacities": [1, 1]}, "matroid"),
                              ({"exclusions": [[0, 1]]}, "assignment"), ({"revenues": COSTS}, "assortment"), ({"topics": [[1, 0]] * 5}, "submodular"),
                              ({"matrix": [COSTS], "bounds": [5]}, "ilp"), ({"discounts": [1, 0.5]}, "assignment or cascade")):
            said = sentence(ask("top-k", rules), 400)
            assert reader in said and "auto" in said and next(iter(rules)) in said, (rules, said)
        check(ask("knapsack", {"costs": COSTS, "capacity": 5}), 201)
        assert "groups" in sentence(ask("knapsack", {"costs": COSTS, "capacity": 5, "groups": [0] * 5, "capacities": [1]}), 400)
        check(ask("top-k", {"exactly": True}), 201)
        check(ask("top-k", {}), 201)


def auto_takes_what_the_rules_need():
    """Each rule holds in the slate, checked by hand; without rules the slate is the best two."""
    groups, edges = [0, 0, 1, 1, 1], [[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]]
    paths = [{0, 1, 3}, {0, 4}, {2, 3}]  # from node 0 to node 3
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        assert server.call("GET", "/v1/agents/home")[1]["settings"]["options"]["oracle"] == "auto"
        counter = itertools.count()

        def slate(**rules):
            event = f"e{next(counter)}"
            got = check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": ROWS, "problem": rules}), 201)["slate"]
            if got:
                check(server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": [1] * len(got)}), 204)
            return got
        for _ in range(4):
            assert sum(COSTS[arm] for arm in slate(costs=COSTS, capacity=3)) <= 3
            assert sorted(groups[arm] for arm in slate(groups=groups, capacities=[1, 1])) == [0, 1], "one of each, and two as without rules"
            assert set(slate(exclusions=[[0, 1], [2, 3]])) not in ({0, 1}, {2, 3})
            assert slate(eligible=[[0, 0, 0, 0, 1], [1, 1, 1, 1, 1]])[0] == 4
            assert set(slate(edges=edges, source=0, target=3)) in paths
            chosen = slate(matrix=[COSTS], bounds=[6])
            assert sum(COSTS[arm] for arm in chosen) <= 6
            assert 0 < len(slate(topics=[[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])) <= 2
            assert 0 < len(slate(revenues=COSTS)) <= 2
            assert len(slate(discounts=[1, 0.5])) == len(slate()) == 2
        ask = lambda rules: server.call("POST", "/v1/agents/home/decide", {"contexts": ROWS, "problem": rules})
        assert "matroid" in sentence(ask({"edges": edges}), 400) and "matching" in sentence(ask({"edges": edges}), 400)
        assert "costs" in sentence(ask({"costs": COSTS, "capacity": 5, "topics": [[1]] * 5}), 400)
        assert "capacity" in sentence(ask({"capacity": 5}), 400)
        counts = server.call("GET", "/v1/agents/home")[1]["counts"]
        assert counts["skipped"] == 0, counts
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "options": {**OPTIONS, "oracle": "top-k"}}), 200)
        check(ask({"costs": COSTS, "capacity": 3}), 400)
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "options": {**OPTIONS, "oracle": "auto"}}), 200)
        check(ask({"costs": COSTS, "capacity": 3}), 201)
        server.kill()
        server.start()
        assert server.call("GET", "/v1/agents/home")[1]["counts"]["skipped"] == 0, "and they are learnt again"
        check(server.call("PUT", "/v1/agents/page", {**AGENT, "options": {**OPTIONS, "feedback": "position"}}), 201)
        page = lambda rules: server.call("POST", "/v1/agents/page/decide", {"contexts": ROWS, "problem": rules})
        got = check(page({"groups": groups, "capacities": [1, 1]}), 201)["slate"]
        assert sorted(groups[arm] for arm in got) == [0, 1], got
        assert "position" in sentence(page({"costs": COSTS, "capacity": 3}), 400)
        assert "discounts" in sentence(page({"discounts": [1, 0.5]}), 400)


def a_floor_and_rules_that_it_cannot_go_with():
    with home(PROGRAM) as server:
        for oracle in ("knapsack", "matching", "shortest-path", "ilp", "submodular", "assortment"):
            said = sentence(server.call("PUT", "/v1/agents/home", {**AGENT, "options": {**OPTIONS, "floor": 0.1, "oracle": oracle}}), 400)
            assert "floor" in said and oracle in said, said
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "options": {**OPTIONS, "floor": 0.1}}), 201)
        ask = lambda rules: server.call("POST", "/v1/agents/home/decide", {"contexts": ROWS, "problem": rules})
        got = check(ask({"groups": [0, 0, 1, 1, 1], "capacities": [1, 1]}), 201)
        assert 0 < got["propensity"] < 1, got
        assert "floor" in sentence(ask({"costs": COSTS, "capacity": 5}), 400)
        pinned = [[0, 1, 0, 0, 0], [1] * 5]
        got = check(ask({"eligible": pinned, "groups": [0, 0, 1, 1, 1], "capacities": [1, 1]}), 201)
        assert got["slate"][0] == 1 and got["slate"][1] > 1 and got["prefix_propensities"][0] == 1, got
        assert got["position_propensities"] is None, got
        assert "exclude each other" in sentence(ask({"exclusions": [[0, 1], [1, 2]]}), 400)
        for options, words in (({"floor-by": "page"}, "--floor is not given"), ({"floor": 0.1, "floor-by": "pages"}, "place, page")):
            assert words in sentence(server.call("PUT", "/v1/agents/other", {**AGENT, "options": {**OPTIONS, **options}}), 400)


def silence_must_be_given_a_meaning():
    with home(PROGRAM) as server:
        bare = {name: value for name, value in AGENT.items() if name != "default_feedback"}
        said = sentence(server.call("PUT", "/v1/agents/home", bare), 400)
        assert "default_feedback" in said and "0" in said and "null" in said, said
        assert server.call("GET", "/v1/agents/home")[0] == 404
        for value in (0, None, -1.5):
            name = f"agent{value}"
            check(server.call("PUT", "/v1/agents/" + name, {**bare, "default_feedback": value}), 201)
            kept = check(server.call("PUT", "/v1/agents/" + name, {**bare, "wait_seconds": 5}), 200)
            assert kept["settings"]["default_feedback"] == value, "an update keeps what there was"
            assert check(server.call("PUT", "/v1/agents/" + name, {**bare, "reset": True}), 200)["settings"]["default_feedback"] == value


def unknown_fields_are_counted_and_named():
    with home(PROGRAM) as server:
        about = {"options": {"algorithm": "cn-ucb", "hidden": 4}, "schema": SCHEMA, "slate": 1, "default_feedback": 0, "wait_seconds": 0}
        check(server.call("PUT", "/v1/agents/shop", about), 201)
        good = {"context": {"device": "phone"}, "items": [{"id": "a", "price": 3, "colour": "red"}, {"id": "b", "price": 4}]}
        bad = {"context": {"device": "phone", "devcie": 1}, "items": [{"id": "a", "price": 3, "color": "red"}, {"id": "b", "price": 4, "color": "blue", "zz\"\n": 1}]}
        decide = lambda body: check(server.call("POST", "/v1/agents/shop/decide", body), 201)
        assert "warnings" not in decide(good) and "unknown_fields" not in server.call("GET", "/v1/agents/shop")[1]
        first = decide({**bad, "event": "e1"})
        said = "\n".join(first["warnings"])
        assert len(first["warnings"]) == 3 and "items.color " in said and "did you mean colour?" in said and "context.devcie" in said and "mean device?" in said, said
        again = check(server.call("POST", "/v1/agents/shop/decide", {**bad, "event": "e1"}), 200)
        assert again == first, "a retry has the same answer, and is not counted"
        for i in range(9):
            assert "warnings" in decide(bad), i
        assert "warnings" not in decide(bad), "the first ten have them"
        counted = server.call("GET", "/v1/agents/shop")[1]["unknown_fields"]
        assert counted == {"context.devcie": 11, "items.color": 22, "items.zz\"\n": 11}, counted
        metrics = server.call("GET", "/metrics")[1].decode()
        assert 'superarm_unknown_fields_total{agent="shop",field="items.color"} 22\n' in metrics, metrics[-900:]
        assert 'field="items.zz\\"\\n"} 11\n' in metrics
        line = server.call("GET", "/v1/agents/shop/log")[1].decode().splitlines()[1]
        assert "warnings" not in line
        for i in range(60):  # names are bounded
            decide({"items": [{f"x{i}-" + "y" * 200: 1}, {"price": 1}]})
        counted = server.call("GET", "/v1/agents/shop")[1]["unknown_fields"]
        assert len(counted) == 32 and counted["others"] == 60 - 28 and all(len(name) < 80 for name in counted), counted


if __name__ == "__main__":
    main(rules_that_the_oracle_does_not_read_are_refused, auto_takes_what_the_rules_need, a_floor_and_rules_that_it_cannot_go_with,
         silence_must_be_given_a_meaning, unknown_fields_are_counted_and_named)
