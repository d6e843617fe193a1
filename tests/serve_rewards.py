#!/usr/bin/env python3
"""serve_rewards.py PROGRAM: feedback of several kinds, one number a page, and slates that were shown without asking. What is learnt is added up here again."""
import json
import sys

from service import home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
KINDS = {"click": 1, "cart": 3, "order": 20}
ROWS = [[0, 1], [1, 0], [0.5, 0.5]]
SCHEMA = {"item": {"price": "number"}}
ITEMS = [{"id": f"p{i}", "price": i} for i in range(4)]


def check(got, status):
    assert got[0] == status, got
    return got[1]


def sentence(got, status=400):
    return check(got, status)["error"]["message"]


def put(server, status=201, **more):
    return check(server.call("PUT", "/v1/agents/home", {**AGENT, **more}), status)


def decide(server, event, status=201, **more):
    return check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": ROWS, **more}), status)


def feedback(server, event, values, status=204, **more):
    return check(server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": values, **more}), status)


def once(pairs):
    assert len(dict(pairs)) == len(pairs), [name for name, _ in pairs]
    return dict(pairs)


def lines(server):
    return [json.loads(line, object_pairs_hook=once) for line in check(server.call("GET", "/v1/agents/home/log?limit=1000"), 200).splitlines()]


def learnt(server):
    return {line["event"]: line.get("feedback", line.get("total")) for line in lines(server) if line["final"]}


def wait_for(server, count):
    until(lambda: check(server.call("GET", "/v1/agents/home"), 200)["counts"]["learnt"] == count)


def kinds_have_weights():
    with home(PROGRAM) as server:
        put(server, options={"algorithm": "comblin-ucb"}, schema=SCHEMA, rewards=KINDS, wait_seconds=1, aggregate="sum")
        visit = lambda event: check(server.call("POST", "/v1/agents/home/decide", {"event": event, "items": ITEMS}), 201)["slate"]
        one, two = visit("a")
        feedback(server, "a", {one: {"click": 1}}, id="1")
        feedback(server, "a", {one: {"click": 1, "order": 2}, two: {"cart": 1}}, id="2")  # the purchase is the same event
        visit("b")
        feedback(server, "b", [None, {"click": 0}])
        visit("c")
        wait_for(server, 3)
        assert learnt(server) == {"a": [2 * 1 + 2 * 20, 3], "b": [0, 0], "c": [0, 0]}, learnt(server)
        put(server, 200, options={"algorithm": "comblin-ucb"}, schema=SCHEMA, rewards=KINDS, wait_seconds=1, aggregate="last")
        visit("d")
        feedback(server, "d", [{"click": 1, "cart": 2}, None], id="1")
        feedback(server, "d", [{"cart": 1}, None], id="2")  # the last cart, and the click as it was
        wait_for(server, 4)
        assert learnt(server)["d"] == [1 + 3, 0]
        history = check(server.call("GET", "/v1/agents/home/history"), 200)["history"]
        assert sum(row["sums"]["sides"]["agent"]["reward"] for row in history) == 42 + 3 + 4


def new_weights_are_for_what_waits():
    """Nothing that was learnt changes; what waits gets the weights of the moment at which it is learnt; kinds that are gone are worth nothing."""
    with home(PROGRAM) as server:
        put(server, rewards=KINDS, wait_seconds=2)
        decide(server, "old")
        feedback(server, "old", [{"click": 1, "order": 1}, None])
        wait_for(server, 1)
        decide(server, "waits")
        feedback(server, "waits", [{"click": 1, "order": 1}, {"cart": 1}])
        put(server, 200, rewards={"click": 2, "order": 5}, wait_seconds=2)
        wait_for(server, 2)
        assert learnt(server) == {"old": [21, 0], "waits": [7, 0]}, learnt(server)
        server.kill()
        server.start()
        assert learnt(server) == {"old": [21, 0], "waits": [7, 0]}
        assert "cart" in sentence(server.call("POST", "/v1/agents/home/feedback", {"event": "old", "feedback": [{"cart": 1}, None]}))


def a_page_has_one_number():
    """Estimates are those of a regression on the sums of the slates, computed here again."""
    options = {"preset": "paper", "algorithm": "comblin-ucb", "dim": 2, "feedback": "total", "lambda": 1}
    with home(PROGRAM) as server:
        put(server, options=options)
        for i in range(20):
            decide(server, f"e{i}")
            feedback(server, f"e{i}", i % 3 - 0.5)
        wait_for(server, 20)
        assert learnt(server) == {f"e{i}": i % 3 - 0.5 for i in range(20)}
        assert all("feedback" not in line for line in lines(server))
        for wrong in ([1, 0], {"0": 1}, "1", None, True):
            assert "page" in sentence(server.call("POST", "/v1/agents/home/feedback", {"event": "e1", "id": "x", "feedback": wrong})), wrong
        decide(server, "none")
        until(lambda: check(server.call("GET", "/v1/agents/home"), 200)["model"] == check(server.call("GET", "/v1/agents/home"), 200)["seq"])
        before = decide(server, "probe", explain=True)
        server.kill()
        server.start()
        after = decide(server, "probe2", explain=True)
        assert [before[name] for name in ("slate", "estimates", "widths")] == [after[name] for name in ("slate", "estimates", "widths")]
        # an own regression on the sums of two contexts: A = I + sum of G G', theta = A^-1 b
        A, b = [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]
        for line in lines(server):
            if not line["final"]:
                continue
            G = [sum(ROWS[arm][i] for arm in line["slate"]) for i in range(2)]
            A = [[A[i][j] + G[i] * G[j] for j in range(2)] for i in range(2)]
            b = [b[i] + G[i] * line["total"] for i in range(2)]
        det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
        theta = [(A[1][1] * b[0] - A[0][1] * b[1]) / det, (A[0][0] * b[1] - A[1][0] * b[0]) / det]
        own = [sum(theta[i] * ROWS[arm][i] for i in range(2)) for arm in after["slate"]]
        assert all(abs(x - y) < 1e-6 for x, y in zip(own, after["estimates"])), (own, after)
        put(server, 200, options=options, rewards=KINDS, reset=True)
        decide(server, "kinds")
        feedback(server, "kinds", {"click": 2, "order": 1})
        until(lambda: learnt(server).get("kinds") == 22)


def slates_that_were_shown_teach():
    """Twins: one is told what was shown, the other decides in shadow mode; both have learnt the same."""
    with home(PROGRAM) as server:
        for name, mode in (("home", "online"), ("twin", "shadow")):
            check(server.call("PUT", "/v1/agents/" + name, {**AGENT, "mode": mode}), 201)
        for i in range(25):
            slate, values = [i % 3, (i + 1) % 3], [i % 2, 1]
            told = check(server.call("POST", "/v1/agents/home/shown", {"event": f"e{i}", "contexts": ROWS, "slate": slate, "propensity": 0.25}), 201)
            assert told["side"] == "shown" and told["slate"] == slate and told["propensity"] == 0.25, told
            check(server.call("POST", "/v1/agents/twin/decide", {"event": f"e{i}", "contexts": ROWS, "baseline": slate}), 201)
            for name in ("home", "twin"):
                check(server.call("POST", f"/v1/agents/{name}/feedback", {"event": f"e{i}", "feedback": values}), 204)
        again = {"event": "e1", "contexts": ROWS, "slate": [1, 2], "propensity": 0.25}
        assert check(server.call("POST", "/v1/agents/home/shown", again), 200)["slate"] == [1, 2]
        check(server.call("POST", "/v1/agents/home/shown", {**again, "slate": [2, 1]}), 409)
        for _ in range(2):
            for name in ("home", "twin"):
                until(lambda: server.counts(name)["learnt"] == 25 and (lambda got: got["model"] == got["seq"])(check(server.call("GET", "/v1/agents/" + name), 200)))
            seen = [check(server.call("POST", f"/v1/agents/{name}/decide?dry=1", {"event": "probe", "contexts": ROWS, "explain": True, "baseline": [0, 1]}), 200)
                    for name in ("home", "twin")]
            assert seen[0]["slate"] == seen[1]["agent_slate"] and seen[0]["estimates"] == seen[1]["estimates"] and seen[0]["widths"] == seen[1]["widths"], seen
            server.kill()
            server.start()
        line = [line for line in lines(server) if line["event"] == "e3"][0]
        assert line["side"] == "shown" and line["propensity"] == 0.25 and line["slate"] == [0, 1] and line["feedback"] == [1, 1], line
        # of another length than the agent's own, and without an event
        check(server.call("POST", "/v1/agents/home/shown", {"contexts": ROWS, "slate": [2]}), 201)
        before = check(server.call("GET", "/v1/agents/home"), 200)["counts"]["decisions"]
        for wrong, word in (({"slate": []}, "slate"), ({"slate": 2}, "slate"), ({"slate": [0, 3]}, "baseline[1]"), ({"slate": [1, 1]}, "twice"), ({}, "slate"),
                            ({"slate": [0], "propensity": 0}, "propensity"), ({"slate": [0], "propensity": 1.5}, "propensity"),
                            ({"slate": [0], "activate": False}, "activate"), ({"slate": [0], "exclude": [0]}, "exclude"), ({"slate": ["p1"]}, "baseline[0]")):
            said = sentence(server.call("POST", "/v1/agents/home/shown", {"contexts": ROWS, **wrong}))
            assert word in said, (wrong, said)
        assert check(server.call("GET", "/v1/agents/home"), 200)["counts"]["decisions"] == before


def bad_input():
    with home(PROGRAM) as server:
        for wrong in ({}, [], "click", {"click": "much"}, {"click": None}, {"": 1}, {"x" * 65: 1}, {f"k{i}": 1 for i in range(17)}):
            assert "rewards" in sentence(server.call("PUT", "/v1/agents/home", {**AGENT, "rewards": wrong})), wrong
        for more in ({"rewards": {"click": 1, "order": 2e9}}, {"rewards": {"click": 1, "order": -2e9}}, {"rewards": KINDS, "reward_range": [0, 19]}):
            said = sentence(server.call("PUT", "/v1/agents/home", {**AGENT, **more}))
            assert "order" in said and "outside the agent's reward_range" in said, said
        assert put(server, rewards=KINDS, reward_range=[0, 30])["settings"]["rewards"] == KINDS
        decide(server, "e")
        for wrong, word in (([1, 0], "kinds"), ([{"buy": 1}, None], "buy"), ([{"click": "1"}, None], "click"), ([{"order": 2}, None], "reward_range"),
                            ({"0": 3}, "kinds"), (5, "list"), ([{"click": 1}], "values"), ([{"click": [1]}, None], "click")):
            said = sentence(server.call("POST", "/v1/agents/home/feedback", {"event": "e", "feedback": wrong}))
            assert word in said, (wrong, said)
        put(server, 200)
        assert sentence(server.call("POST", "/v1/agents/home/feedback", {"event": "e", "feedback": [{"click": 1}, None]}))
        assert check(server.call("GET", "/v1/agents/home"), 200)["counts"]["feedback"] == 0


main(kinds_have_weights, new_weights_are_for_what_waits, a_page_has_one_number, slates_that_were_shown_teach, bad_input)
