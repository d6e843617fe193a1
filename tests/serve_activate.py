#!/usr/bin/env python3
"""serve_activate.py PROGRAM: a decision that may not be shown is learnt only once it is activated, also over a kill."""
import sys
import time

from service import home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ROWS = [[0, 1], [1, 0], [0.5, 0.5]]


def check(got, status):
    assert got[0] == status, got
    return got[1]


def decide(server, event, status=201, **more):
    return check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": ROWS, **more}), status)


def feedback(server, event, values, status=204):
    return check(server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": values}), status)


def activate(server, event, status=204):
    return check(server.call("POST", "/v1/agents/home/activate/" + event), status)


def counts(server):
    return server.counts()


def log(server):
    import json
    return [json.loads(line) for line in check(server.call("GET", "/v1/agents/home/log?limit=1000"), 200).splitlines()]


def held_events_are_learnt_after_their_activation():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        decide(server, "shown")
        feedback(server, "shown", [1, 0])
        first = decide(server, "held", activate=False)
        assert decide(server, "held", 200, activate=False) == first
        decide(server, "held", 409)  # a decision that is shown at once is another request
        assert (counts(server)["held"], counts(server)["waiting"]) == (1, 0), counts(server)
        feedback(server, "held", [0, 1])  # kept, and not late
        time.sleep(0.3)
        got = counts(server)
        assert (got["learnt"], got["late"], got["held"], got["feedback"]) == (1, 0, 1, 2), got
        assert [line["event"] for line in log(server)] == ["shown"]
        activate(server, "held")
        until(lambda: counts(server)["learnt"] == 2)
        activate(server, "held")  # again: the same
        activate(server, "shown")  # one that was never held
        activate(server, "nobody", 404)
        got = counts(server)
        assert (got["learnt"], got["held"], got["waiting"]) == (2, 0, 0), got
        assert {line["event"]: line["feedback"] for line in log(server)} == {"shown": [1, 0], "held": [0, 1]}
        # without feedback it waits for it
        decide(server, "later", activate=False)
        activate(server, "later")
        assert counts(server)["waiting"] == 1
        feedback(server, "later", [1, 1])
        until(lambda: counts(server)["learnt"] == 3)


def the_wait_begins_with_the_activation():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "wait_seconds": 1}), 201)
        decide(server, "held", activate=False)
        decide(server, "shown")
        until(lambda: counts(server)["learnt"] == 1)  # the other one
        feedback(server, "held", [1, 0])
        activate(server, "held")
        begin = time.monotonic()
        feedback(server, "held", [1, 1])
        assert counts(server)["learnt"] == 1
        until(lambda: counts(server)["learnt"] == 2)
        assert time.monotonic() - begin > 0.8, "it did not wait"
        assert {line["event"]: line["feedback"] for line in log(server)}["held"] == [1, 1]


def kills_keep_what_is_held_and_what_was_activated():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        for i in range(6):
            decide(server, f"e{i}", activate=False)
        for i in range(4):
            feedback(server, f"e{i}", [1, i % 2])
        for i in (0, 1, 5):
            activate(server, f"e{i}")
        server.kill()
        server.start()
        until(lambda: counts(server)["learnt"] == 2)
        got = counts(server)
        assert (got["held"], got["waiting"]) == (3, 1), got  # e2, e3 with feedback and e4 without; e5 activated
        activate(server, "e2")
        until(lambda: counts(server)["learnt"] == 3)
        assert {line["event"] for line in log(server) if line["final"]} == {"e0", "e1", "e2"}
        # a reset drops what is held
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "reset": True}), 200)
        assert counts(server)["held"] == 0
        activate(server, "e3")
        time.sleep(0.2)
        assert counts(server)["waiting"] == 0
        check(server.call("DELETE", "/v1/agents/home/events/e4"), 204)
        assert server.stop() == 0
        server.check()
        server.start()


def bad_input():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        assert "activate" in decide(server, "e", 400, activate="no")["error"]["message"]
        assert decide(server, "e", 400, activate=0)["error"]["message"]
        assert counts(server)["decisions"] == 0
        assert server.call("GET", "/v1/agents/home/activate/e")[0] == 405
        assert server.call("POST", "/v1/agents/other/activate/e")[0] == 404


def held_events_go_with_retention():
    """Retention goes by the journal's clock, whose least period here is a few seconds."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "retention_days": 2 / 86400}), 201)
        for i in range(5):
            decide(server, f"e{i}", activate=False)
        assert counts(server)["held"] == 5
        until(lambda: counts(server)["held"] == 0, 30)
        activate(server, "e0", 404)


main(held_events_are_learnt_after_their_activation, the_wait_begins_with_the_activation, kills_keep_what_is_held_and_what_was_activated, bad_input,
     held_events_go_with_retention)
