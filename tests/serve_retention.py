#!/usr/bin/env python3
"""serve_retention.py PROGRAM: what is older than retention_days goes as fast as new events come, and its space is used again or given back. The
witnesses are the sizes of the files and the database, read by another program."""
import json
import os
import sqlite3
import sys
import threading
import time

from service import home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "random", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
SECONDS = 1 / 86400


def check(answer, status):
    assert answer[0] == status, answer
    return answer[1]


def size(folder):
    """Of all its files; one may go while we look."""
    total = 0
    for name in os.listdir(folder):
        try:
            total += os.path.getsize(os.path.join(folder, name))
        except OSError:
            pass
    return total


def ask(server, question):
    base = sqlite3.connect(f"file:{server.folder}/journal.db?mode=ro", uri=True, timeout=10)
    try:
        return base.execute(question).fetchone()[0]
    finally:
        base.close()


def count(server, table):
    return ask(server, f"SELECT count(*) FROM {table}")


def load(server, agent, seconds, arms, feedback=True, clients=3):
    """Clients that ask and answer as fast as they can; how many events."""
    import http.client
    body = [[round(i / arms, 4), 0.12345678] for i in range(arms)]
    end, made, lock = time.monotonic() + seconds, [0], threading.Lock()

    def visit(number):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        turn = 0
        while time.monotonic() < end:
            turn += 1
            event = f"{agent}-{number}-{turn}-{seconds}"
            for path, sent, wanted in (("decide", {"event": event, "contexts": body}, 201), ("feedback", {"event": event, "feedback": [1, 0]}, 204)):
                if path == "feedback" and (not feedback or turn % 3 == 0):
                    continue
                connection.request("POST", f"/v1/agents/{agent}/{path}", json.dumps(sent), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                assert answer.status == wanted, (answer.status, text)
        with lock:
            made[0] += turn
    threads = [threading.Thread(target=visit, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    sizes = []
    while any(thread.is_alive() for thread in threads):
        # of the database, its log folded in: when that happens depends on the machine
        sizes.append((time.monotonic() - (end - seconds), 4096 * ask(server, "PRAGMA page_count"), size(server.folder)))
        time.sleep(0.1)
    for thread in threads:
        thread.join()
    return made[0], sizes


def the_folder_is_flat_at_a_steady_load():
    """Retention of 1.5 seconds, 10 seconds of load: the folder holds a part of the events, and not more the longer it runs. How fast they come changes with what else the
    machine does, so sizes are compared with what as many events take that stay."""
    with home(PROGRAM, "--checkpoint-seconds", 0.3) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        empty = 4096 * ask(server, "PRAGMA page_count")
        made, _ = load(server, "home", 1.5, 300)
        each = (4096 * ask(server, "PRAGMA page_count") - empty) / made
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "retention_days": 1.5 * SECONDS}), 200)
        made, sizes = load(server, "home", 10, 300)
        late = max(bytes for at, bytes, _ in sizes if at > 5)
        assert max(whole for _, _, whole in sizes) < late + 64e6, "the log is bounded"
        kept = count(server, "decisions")
        assert made > 300, made
        assert kept < made / 2, (kept, made)
        assert late < 0.5 * made * each + 3e6, (late, made, each)
        until(lambda: count(server, "decisions") <= 1, 30)  # the last row stays, for its number; but also those that never got feedback, while nobody asks
        assert count(server, "feedback") <= 1 and count(server, "rows") < 100


def what_is_deleted_is_given_back():
    with home(PROGRAM) as server:
        for name in ("kept", "gone"):
            check(server.call("PUT", "/v1/agents/" + name, AGENT), 201)
        load(server, "kept", 1, 10)
        for turn in range(40):
            if os.path.getsize(server.folder + "/journal.db") > 25e6:
                break
            load(server, "gone", 1 + turn / 100, 2000)
        server.stop()
        full = os.path.getsize(server.folder + "/journal.db")
        server.start()
        check(server.call("DELETE", "/v1/agents/gone"), 204)
        until(lambda: count(server, "agents") == 1, 60)
        turns = iter(range(1000))  # a little load, so that the log is folded
        until(lambda: load(server, "kept", 0.2 + next(turns) / 1000, 10) and os.path.getsize(server.folder + "/journal.db") < full / 2, 60)
        kept = count(server, "decisions")
        assert kept > 10, kept
        assert server.stop() == 0
        assert os.path.getsize(server.folder + "/journal.db") < full / 2


def an_agent_remembers_its_sample_and_nothing_else():
    """What GET model gives does not grow with events that were answered long ago."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", {**AGENT, "options": {"algorithm": "comblin-ucb", "dim": 2, "keep-rows": 1000}}), 201)

        total = [0]

        def learn(events, name):
            total[0] += events
            for i in range(events):
                check(server.call("POST", "/v1/agents/home/decide", {"event": f"{name}{i}", "contexts": [[i % 7, 1], [1, i % 5], [i % 3, 2]]}), 201)
                check(server.call("POST", "/v1/agents/home/feedback", {"event": f"{name}{i}", "feedback": [1, 0]}), 204)
            until(lambda: check(server.call("GET", "/v1/agents/home"), 200)["counts"]["learnt"] == total[0], 30)
            return len(check(server.call("GET", "/v1/agents/home/model"), 200))
        early, late = learn(1100, "early"), learn(1100, "late")
        assert late < 1.1 * early, (early, late)


if __name__ == "__main__":
    main(an_agent_remembers_its_sample_and_nothing_else, the_folder_is_flat_at_a_steady_load, what_is_deleted_is_given_back)
