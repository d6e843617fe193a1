#!/usr/bin/env python3
"""serve_revise.py PROGRAM: feedback that comes after its event was learnt revises it. The agent is then the one that had the last values at first, computed
here again by a ridge regression; and the same after a kill."""
import json
import sys

from service import check as check_journal, home, main, until

PROGRAM = sys.argv[1]
OPTIONS = {"preset": "paper", "algorithm": "comblin-ucb", "dim": 2, "lambda": 1}
AGENT = {"options": OPTIONS, "slate": 2, "default_feedback": 0, "wait_seconds": 0, "revise_days": 7, "aggregate": "sum"}
ROWS = [[0, 1], [1, 0], [0.5, 0.5], [0.3, 0.8]]


def check(got, status):
    assert got[0] == status, got
    return got[1]


def put(server, status=201, **more):
    return check(server.call("PUT", "/v1/agents/home", {**AGENT, **more}), status)


def decide(server, event, **more):
    return check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": ROWS, **more}), 201)["slate"]


def feedback(server, event, values, id):
    check(server.call("POST", "/v1/agents/home/feedback", {"event": event, "id": id, "feedback": values}), 204)


def settle(server):
    def done():
        got = check(server.call("GET", "/v1/agents/home"), 200)
        return got["model"] == got["seq"] and got
    return until(done)


def probe(server):
    return check(server.call("POST", "/v1/agents/home/decide?dry=1", {"event": "p", "contexts": ROWS, "explain": True, "slate": 4}), 200)


def lines(server):
    return [json.loads(line) for line in check(server.call("GET", "/v1/agents/home/log?limit=1000"), 200).splitlines()]


def regression(ledger):
    """theta of A = I + sum x x', b = sum r x."""
    A, b = [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]
    for slate, values in ledger.values():
        for arm, value in zip(slate, values):
            if value is None:
                continue
            x = ROWS[arm]
            A = [[A[i][j] + x[i] * x[j] for j in range(2)] for i in range(2)]
            b = [b[i] + x[i] * value for i in range(2)]
    det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
    return [(A[1][1] * b[0] - A[0][1] * b[1]) / det, (A[0][0] * b[1] - A[1][0] * b[0]) / det]


def agrees(server, ledger):
    theta, got = regression(ledger), probe(server)
    own = [sum(t * x for t, x in zip(theta, ROWS[arm])) for arm in got["slate"]]
    assert all(abs(x - y) < 1e-5 for x, y in zip(own, got["estimates"])), (own, got["estimates"])


def late_feedback_revises():
    with home(PROGRAM) as server:
        put(server, control=0.4)
        ledger = {}
        for i in range(40):
            slate = decide(server, f"e{i}")
            ledger[f"e{i}"] = (slate, [i % 2, 0])
            feedback(server, f"e{i}", [i % 2, 0], "click")
        for i in range(0, 40, 3):  # the order comes hours after the click, and is the same event
            feedback(server, f"e{i}", [None, 5], "order")
            feedback(server, f"e{i}", [None, 5], "order")  # a retry
            ledger[f"e{i}"] = (ledger[f"e{i}"][0], [i % 2, 5])
        feedback(server, "e0", [2, None], "again")
        ledger["e0"] = (ledger["e0"][0], [2, 5])
        feedback(server, "e1", [0, 0], "nothing")  # changes nothing: no row
        got = settle(server)
        assert got["seq"] == 1 + 40 + 14 + 1, got["seq"]
        assert got["counts"]["late"] == 16 and got["counts"]["learnt"] == 40 and got["counts"]["skipped"] == 0, got["counts"]
        agrees(server, ledger)
        assert {line["event"]: (line["slate"], line["feedback"]) for line in lines(server)} == ledger
        before = probe(server)
        for restart in range(2):
            history = check(server.call("GET", "/v1/agents/home/history"), 200)["history"]
            sides = {}
            for row in history:
                for side, sums in row["sums"]["sides"].items():
                    sides[side] = sides.get(side, 0) + sums["reward"]
            assert sum(sides.values()) == sum(sum(values) for _, values in ledger.values()) and sum(row["sums"]["revised"] for row in history) == 15
            places = [sum(row["sums"]["places"][k][1] for row in history) for k in (0, 1)]
            assert places == [sum(values[k] for _, values in ledger.values()) for k in (0, 1)]
            means = check(server.call("GET", "/v1/agents/home"), 200)["sides"]
            for side in ("agent", "control"):
                mine = [sum(ledger[line["event"]][1]) for line in lines(server) if line["side"] == side]
                assert abs(means[side]["reward"] - sum(mine) / len(mine)) < 1e-9
            server.kill()
            server.start()
            settle(server)
            assert probe(server) == before
        # what was learnt is in the checkpoint by now, and can be revised all the same
        assert server.stop() == 0
        server.start()
        feedback(server, "e5", [None, 9], "late")
        ledger["e5"] = (ledger["e5"][0], [1, 9])
        settle(server)
        agrees(server, ledger)
        check(server.call("DELETE", "/v1/agents/home/events/e5"), 204)
        check(server.call("DELETE", "/v1/agents/home/events/e6"), 204)
        before = probe(server)
        server.kill()
        server.start()
        settle(server)
        assert probe(server) == before
        assert server.stop() == 0
        found = check_journal(PROGRAM, server.folder)
        assert found.returncode == 0, found
        server.start()


def what_was_not_seen_may_come_late():
    with home(PROGRAM) as server:
        put(server, default_feedback=None)
        ledger = {}
        for i in range(10):
            slate = decide(server, f"e{i}")
            feedback(server, f"e{i}", [1, None], "first")
            ledger[f"e{i}"] = (slate, [1, None])
        feedback(server, "e3", [None, 4], "late")
        ledger["e3"] = (ledger["e3"][0], [1, 4])
        assert settle(server)["counts"]["skipped"] == 0
        agrees(server, ledger)


def without_it_late_feedback_is_only_kept():
    with home(PROGRAM) as server:
        put(server, revise_days=0)
        decide(server, "e")
        feedback(server, "e", [1, 0], "1")
        feedback(server, "e", [1, 0], "2")
        got = settle(server)
        assert (got["seq"], got["counts"]["late"]) == (2, 1), got
        assert lines(server)[0]["feedback"] == [1, 0]
        put(server, 200)  # from now on
        feedback(server, "e", [0, 3], "3")  # which the agent cannot find again
        assert settle(server)["counts"]["skipped"] == 1
        ledger = {"e": (lines(server)[0]["slate"], [1, 0]), "f": (decide(server, "f"), [1, 6])}
        feedback(server, "f", [1, 0], "1")
        feedback(server, "f", [0, 6], "2")
        assert settle(server)["counts"]["skipped"] == 1
        agrees(server, ledger)


def another_agent_has_nothing_to_revise():
    """After a reset, or with a model from elsewhere, late feedback is kept and teaches nothing: the agent has not learnt the event."""
    with home(PROGRAM) as server:
        put(server)
        decide(server, "before")
        feedback(server, "before", [1, 0], "click")
        settle(server)
        model = check(server.call("GET", "/v1/agents/home/model"), 200)
        check(server.call("PUT", "/v1/agents/home/model", model, {"Content-Type": "application/octet-stream"}), 200)
        seq = settle(server)["seq"]
        feedback(server, "before", [5, 5], "late")
        assert settle(server)["seq"] == seq
        put(server, 200, options={**OPTIONS, "feedback": "total"}, reset=True)
        seq = settle(server)["seq"]
        check(server.call("POST", "/v1/agents/home/feedback", {"event": "before", "id": "later", "feedback": 7}), 204)
        assert settle(server)["seq"] == seq
        decide(server, "after")  # it is not broken
        assert check(server.call("GET", "/v1/agents/home"), 200)["counts"]["late"] == 2


def a_new_control_begins_again():
    """What is learnt after a change of the control is compared, and what revises an event of before changes nothing of it."""
    with home(PROGRAM) as server:
        put(server, control=0.5)

        def visit(events, values, id):
            for event in events:
                if id == "click":
                    decide(server, event)
                feedback(server, event, values, id)
            settle(server)
        old, new = [f"e{i}" for i in range(8)], [f"n{i}" for i in range(8)]
        sides = lambda: (lambda all: {side: (all[side]["events"], all[side]["reward"]) for side in ("agent", "control")})(check(server.call("GET", "/v1/agents/home"), 200)["sides"])
        for change, so_far in (({"control": 0.4}, {}), ({"control": 0.4, "options": {**OPTIONS, "lambda": 2}, "reset": True}, {"reset": True})):
            visit([event + str(so_far) for event in old], [1, 0], "click")
            put(server, 200, **change)
            assert sides() == {"agent": (0, None), "control": (0, None)}, sides()
            visit([event + str(so_far) for event in new], [1, 0], "click")
            before = sides()
            assert sum(events for events, _ in before.values()) == 8 and all(reward in (1, None) for _, reward in before.values()), before
            visit([event + str(so_far) for event in old], [5, 0], "order")
            assert sides() == before, (before, sides())
            server.kill()
            server.start()
            settle(server)
            assert sides() == before, (before, sides())
            visit([event + str(so_far) for event in new], [2, 0], "order")
            assert all(after == (events, reward and 3) for (events, reward), after in zip(before.values(), sides().values())), (before, sides())


def bad_input():
    with home(PROGRAM) as server:
        for wrong in (-1, 366, "week", None):
            assert "revise_days" in check(server.call("PUT", "/v1/agents/home", {**AGENT, "revise_days": wrong}), 400)["error"]["message"], wrong
        said = check(server.call("PUT", "/v1/agents/home", {**AGENT, "options": {"algorithm": "cc-mab", "dim": 2}}), 400)["error"]["message"]
        assert "cc-mab" in said and "revise" in said, said


main(late_feedback_revises, what_was_not_seen_may_come_late, without_it_late_feedback_is_only_kept, another_agent_has_nothing_to_revise, a_new_control_begins_again,
     bad_input)
