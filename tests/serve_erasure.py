#!/usr/bin/env python3
"""serve_erasure.py PROGRAM: the journal's log is folded in while feedback comes, and what DELETE has erased is in no file of the
folder when it answers 204. The witness is the folder itself: every byte of every file is looked at, while the service runs."""
import os
import random
import sys
import threading

from service import home, main

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}


def check(answer, status):
    assert answer[0] == status, answer
    return answer[1]


def files_with(folder, *needles):
    """Names of the files that have one of them."""
    found = []
    for name in os.listdir(folder):
        try:
            data = open(os.path.join(folder, name), "rb").read()
        except FileNotFoundError:  # a checkpoint under way, which has its own name by now: the listing has that, or the next one will
            continue
        found += [name for needle in needles if needle in data]
    return found


def the_log_is_folded_while_feedback_comes():
    """Of the 90 MB of pages that are written, the log keeps what the docs promise."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        most = 0
        arms = [[round(i / 1000, 6), 0.123456789012] for i in range(800)]
        for i in range(800):
            check(server.call("POST", "/v1/agents/home/decide", {"event": f"e{i}", "contexts": arms}), 201)
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [1, 0]}), 204)
            most = max(most, os.path.getsize(server.folder + "/journal.db-wal"))
        assert os.path.getsize(server.folder + "/journal.db") > 10e6, f"it was not folded: the log has {most} bytes"
        assert most < 64e6, most


def what_is_erased_is_in_no_file():
    """Among events that come, are learnt, age and go: their places in the database are moved about."""
    draw = random.Random(7)
    with home(PROGRAM, "--checkpoint-seconds", 0.5) as server:
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "wait_seconds": 0}), 201)
        check(server.call("PUT", "/v1/agents/brief", AGENT), 201)
        live, count = [], 0
        for turn in range(60):
            for _ in range(12):
                count += 1
                event = "%08x-event-%05d" % (draw.getrandbits(32), count)
                number = "0.%09d" % (123000000 + count * 7)
                agent = "brief" if draw.random() < 0.4 else "home"
                arms = "[%s, 1]" % number + ", [0.5, 0.25]" * draw.choice([1, 5, 60, 400, 900])
                check(server.call("POST", f"/v1/agents/{agent}/decide", '{"event": "%s", "contexts": [%s]}' % (event, arms)), 201)
                if draw.random() < 0.7:
                    check(server.call("POST", f"/v1/agents/{agent}/feedback", {"event": event, "id": "key-" + event, "feedback": [1, 0]}), 204)
                live.append((agent, event, number))
            for _ in range(3):
                agent, event, number = live.pop(draw.randrange(len(live)))
                check(server.call("DELETE", f"/v1/agents/{agent}/events/{event}"), 204)
                left = files_with(server.folder, event.encode(), number.encode())
                assert not left, f"{event} of {agent} is still in {left}"
            if turn % 20 == 19:  # all of an agent's rows go, in between the others'
                check(server.call("DELETE", "/v1/agents/brief"), 204)
                check(server.call("PUT", "/v1/agents/brief", AGENT), 201)
                live = [each for each in live if each[0] == "home"]
        agent, event, number = live[0]
        assert files_with(server.folder, event.encode()), "what is kept is found, so this test can fail"


def erasures_do_not_stop_decisions():
    """Eight clients erase while four ask: nobody is refused."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        wrong = []

        def visit(number, erases):
            for i in range(15):
                event = f"{number}-{i}"
                got = [server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": [[0, 1], [1, 0]]})[0]]
                if erases:
                    got.append(server.call("DELETE", f"/v1/agents/home/events/{event}")[0])
                if got != [201, 204][:len(got)]:
                    wrong.append((event, got))
        threads = [threading.Thread(target=visit, args=(i, i < 8)) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong


if __name__ == "__main__":
    main(the_log_is_folded_while_feedback_comes, what_is_erased_is_in_no_file, erasures_do_not_stop_decisions)
