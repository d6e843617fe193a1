#!/usr/bin/env python3
"""serve_dry.py PROGRAM: a decide that is only tried gives what would be chosen, and leaves nothing behind."""
import sys

from service import ask, databases, home, main

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5], [1, 1]], "explain": True}
DRY = "/v1/agents/home/decide?dry=1"


def rows(server):
    return [ask(server.folder, f"SELECT count(*) FROM {table}") for table in ("decisions", "journal" if databases else "rows", "feedback")]


def nothing_is_kept():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        before, counts = rows(server), server.call("GET", "/v1/agents/home")[1]["counts"]
        for event in ({}, {"event": "e1"}, {"event": "e1"}):
            status, answer, _ = server.call("POST", DRY, {**ASK, **event})
            assert status == 200 and answer["event"] is None and answer["dry"] is True and len(answer["slate"]) == 2 and len(answer["estimates"]) == 2, answer
        after = server.call("GET", "/v1/agents/home")[1]
        assert rows(server) == before and after["counts"] == counts and after["recent"] == [], after
        # the same event, decided: it is a first one, and what was tried is what is chosen
        status, decided, _ = server.call("POST", "/v1/agents/home/decide", {**ASK, "event": "e1"})
        assert status == 201 and decided["slate"] == answer["slate"] and decided["propensity"] == answer["propensity"], (decided, answer)
        assert server.call("POST", "/v1/agents/home/feedback", {"event": "null", "feedback": [1, 0]})[0] == 404
        assert server.call("POST", DRY, {"contexts": [[1]]})[0] == 400 and server.call("POST", "/v1/agents/nobody/decide?dry=1", ASK)[0] == 404
        for query in ("dry=2", "dyr=1", "dry", "dry=1&dry=1"):  # who mistypes it must not decide
            assert server.call("POST", "/v1/agents/home/decide?" + query, ASK)[0] == 400, query
        assert rows(server)[0] == before[0] + 1


if __name__ == "__main__":
    main(nothing_is_kept)
