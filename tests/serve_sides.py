#!/usr/bin/env python3
"""serve_sides.py PROGRAM: a share of events gets what would be shown without the agent. Who is on which side, which slates are feasible and how likely
a uniform one is are computed here again."""
import hashlib
import itertools
import json
import sys

from service import home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ROWS = [[0, 1], [1, 0], [0.5, 0.5], [0.2, 0.8]]
SCHEMA = {"item": {"price": "number"}}
ITEMS = [{"id": f"p{i}", "price": i} for i in range(5)]


def check(got, status):
    assert got[0] == status, got
    return got[1]


def put(server, status=201, **more):
    return check(server.call("PUT", "/v1/agents/home", {**AGENT, **more}), status)


def decide(server, status=201, **more):
    return check(server.call("POST", "/v1/agents/home/decide", {"contexts": ROWS, **more}), status)


def is_control(share, event=None, user=None):
    purpose, name = ("side of user", user) if user else ("side of event", event)
    digest = hashlib.sha256(purpose.encode() + b"\0home\0" + name.encode()).digest()
    return int.from_bytes(digest[:6], "big") < share * 2 ** 48


def log(server):
    return [json.loads(line) for line in check(server.call("GET", "/v1/agents/home/log?limit=1000"), 200).splitlines()]


def a_share_of_events_gets_the_baseline():
    with home(PROGRAM) as server:
        put(server, control=0.3)
        sides = {}
        for i in range(200):
            answer = decide(server, event=f"e{i}", baseline=[3, 0])
            sides[f"e{i}"] = answer["side"]
            assert answer["side"] == ("control" if is_control(0.3, f"e{i}") else "agent"), answer
            if answer["side"] == "control":
                assert answer["slate"] == [3, 0] and answer["propensity"] is None, answer
            else:
                assert answer["propensity"] == 1, answer
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [1, 0]}), 204)
        assert 35 < sum(side == "control" for side in sides.values()) < 85
        lines = log(server)
        assert {line["event"]: line["side"] for line in lines} == sides
        assert all(line["baseline"] == [3, 0] for line in lines)
        # visitors stay on their side, also when the share grows
        for share in (0.3, 0.5):
            put(server, 200, control=share)
            for i in range(40):
                for visit in range(3):
                    answer = decide(server, event=f"{share}-{i}-{visit}", user=f"u{i}")
                    assert answer["side"] == ("control" if is_control(share, user=f"u{i}") else "agent"), answer
        put(server, 200, control=0)
        assert all(decide(server, event=f"z{i}", baseline=[0, 1])["side"] == "agent" for i in range(20))


def without_a_baseline_it_is_a_uniform_slate():
    """All 12 ordered slates, each in 1/12 of the events: chi-square with 11 degrees, below 31.3 in all but one of 1000 such tests; the events' names, and so
    their draws, are always the same."""
    with home(PROGRAM) as server:
        put(server, control=0.999)
        seen = dict.fromkeys(itertools.permutations(range(4), 2), 0)
        for i in range(1200):
            answer = decide(server, event=f"e{i}")
            if answer["side"] == "control":
                seen[tuple(answer["slate"])] += 1
                assert abs(answer["propensity"] - 1 / 12) < 1e-12 and answer["position_propensities"] == [0.25, 0.25], answer
                assert abs(answer["prefix_propensities"][0] - 1 / 4) < 1e-12
        total = sum(seen.values())
        assert total > 1180
        assert sum((count - total / 12) ** 2 / (total / 12) for count in seen.values()) < 31.3, seen
        # excluded arms are in none
        assert all(2 not in decide(server, event=f"x{i}", exclude=[2])["slate"] for i in range(60))


def uniform_slates_keep_the_rules():
    groups = [0, 0, 1, 1]
    with home(PROGRAM) as server:
        put(server, control=0.999)
        feasible = [slate for slate in itertools.permutations(range(4), 2) if groups[slate[0]] != groups[slate[1]]]
        seen = dict.fromkeys(feasible, 0)
        for i in range(400):
            answer = decide(server, event=f"e{i}", problem={"groups": groups, "capacities": [1, 1]})
            if answer["side"] == "control":
                seen[tuple(answer["slate"])] += 1
                assert abs(answer["propensity"] - 1 / len(feasible)) < 1e-12, answer
        assert all(seen.values()), seen
        # arms that a place does not take: place by place
        eligible = [[1, 1, 0, 0], [1, 1, 1, 1]]
        for i in range(60):
            answer = decide(server, event=f"p{i}", problem={"eligible": eligible})
            assert answer["slate"][0] in (0, 1)
            if answer["side"] == "control":
                assert abs(answer["propensity"] - 1 / 6) < 1e-12, answer  # 1/2, then 1/3
        # slates that cannot be counted: a sentence, and a baseline helps
        costs = {"costs": [1, 2, 3, 4], "capacity": 3}
        said = decide(server, 400, event="k1", problem=costs)["error"]["message"]
        assert "baseline" in said and "control" in said, said
        assert decide(server, event="k1", problem=costs, baseline=[0, 1])["slate"] == [0, 1]


def a_baseline_that_breaks_rules_is_refused_on_either_side():
    with home(PROGRAM) as server:
        for share in (0, 0.999):
            put(server, 200 if share else 201, control=share)
            before = server.call("GET", "/v1/agents/home")[1]["counts"]["decisions"]
            for baseline, rules, word in (([0, 4], {}, "baseline[1]"), ([0, 0], {}, "twice"), ([0], {}, "exactly 2"), ([0, 1, 2], {}, "exactly 2"),
                                          (["p1", 0], {}, "baseline[0]"), ("0", {}, "baseline"), ([0, 2.5], {}, "baseline[1]"), ([], {}, "exactly 2"),
                                          ([0, 1], {"exclude": [1]}, "exclude"), ([0, 1], {"problem": {"groups": [0, 0, 1, 1], "capacities": [1, 1]}}, "group"),
                                          ([2, 3], {"problem": {"costs": [1, 2, 3, 4], "capacity": 3}}, "cost"),
                                          ([2, 0], {"problem": {"eligible": [[1, 1, 0, 0], [1, 1, 1, 1]]}}, "position"),
                                          ([2, 0], {"problem": {"exclusions": [[0, 2]]}}, "exclude")):
                said = decide(server, 400, event=f"bad-{share}", baseline=baseline, **rules)["error"]["message"]
                assert word in said, (baseline, rules, said)
            assert server.call("GET", "/v1/agents/home")[1]["counts"]["decisions"] == before
        check(server.call("PUT", "/v1/agents/shop", {**AGENT, "options": {"algorithm": "comblin-ucb"}, "schema": SCHEMA, "control": 0.999}), 201)
        ask = lambda baseline: server.call("POST", "/v1/agents/shop/decide", {"items": ITEMS, "baseline": baseline})
        assert check(ask(["p3", "p1"]), 201)["slate"] == ["p3", "p1"]
        assert "p9" in check(ask(["p3", "p9"]), 400)["error"]["message"]


def shadows_show_the_baseline():
    with home(PROGRAM) as server:
        put(server, mode="shadow", options={"algorithm": "comblin-ucb", "dim": 2, "floor": 0.2})
        check(server.call("PUT", "/v1/agents/twin", {**AGENT, "options": {"algorithm": "comblin-ucb", "dim": 2}}), 201)
        for i in range(30):
            answer = decide(server, event=f"e{i}", baseline=[i % 3, 3])
            assert answer["slate"] == [i % 3, 3] and answer["side"] == "shadow" and answer["propensity"] is None, answer
            assert len(answer["agent_slate"]) == 2 and 0 < answer["agent_propensity"] <= 1, answer
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [1, 0]}), 204)
        until(lambda: server.call("GET", "/v1/agents/home")[1]["counts"]["learnt"] == 30)
        line = log(server)[-1]
        assert line["slate"] == [29 % 3, 3] and line["side"] == "shadow" and line["agent_slate"] == answer["agent_slate"], line
        assert line["agent_propensity"] == answer["agent_propensity"] and line["feedback"] == [1, 0]
        # it has learnt from what was shown: arm 3 never paid
        put(server, 200, mode="online", options={"algorithm": "comblin-ucb", "dim": 2, "floor": 0})
        assert decide(server, event="own", explain=True)["side"] == "agent"
        put(server, 200, mode="shadow", options={"algorithm": "comblin-ucb", "dim": 2, "floor": 0})
        said = decide(server, 400, event="none")["error"]["message"]
        assert "baseline" in said and "shadow" in said, said


def bad_settings():
    with home(PROGRAM) as server:
        for wrong, word in (({"control": 1.2}, "control is 1.2"), ({"control": 1}, "control"), ({"control": -0.1}, "control"), ({"control": "half"}, "control"),
                            ({"control": None}, "control"), ({"mode": "ghost"}, "mode"), ({"mode": 1}, "mode")):
            said = put(server, 400, **wrong)["error"]["message"]
            assert word in said, (wrong, said)
        assert server.call("GET", "/v1/agents/home")[0] == 404
        got = put(server)["settings"]
        assert (got["control"], got["mode"]) == (0, "online")
        put(server, 400, control=1.2)
        assert put(server, 200, control=0.25)["settings"]["control"] == 0.25
        for user in ("", 3, "x" * 257, None):
            assert "user" in decide(server, 400, user=user)["error"]["message"]


main(a_share_of_events_gets_the_baseline, without_a_baseline_it_is_a_uniform_slate, uniform_slates_keep_the_rules,
     a_baseline_that_breaks_rules_is_refused_on_either_side, shadows_show_the_baseline, bad_settings)
