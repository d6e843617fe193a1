#!/usr/bin/env python3
"""Retention and erasure where two servers share a database: what is older than retention_days goes as fast as new events come, and what one server has erased no table
has and no server shows. The witnesses are SQL and pg_dump."""
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, CONTEXTS, PROGRAM, Member, check, end, gapless, started
from postgres import Postgres
from service import main, until

SECONDS = 1 / 86400


def count(pg, database, table):
    return int(pg.ask(f"SELECT count(*) FROM {table}", database)[0][0])


def together(*visits):
    """Each in a thread of its own; what went wrong in any."""
    wrong = []

    def run(visit):
        try:
            visit()
        except Exception as error:
            wrong.append(repr(error))
    threads = [threading.Thread(target=run, args=(visit,)) for visit in visits]
    for thread in threads:
        thread.start()
    return threads, wrong


def rows_do_not_grow_at_a_steady_load():
    """Retention of 1.5 seconds, 8 seconds of load at both: there are no more rows than came in the last four, and at last next to none."""
    pg = Postgres()
    database = pg.database(PROGRAM)
    servers = [Member(pg, database, "--checkpoint-seconds", 0.3).start() for _ in range(2)]
    check(servers[0].call("PUT", "/v1/agents/home", {**AGENT, "retention_days": 1.5 * SECONDS, "options": {"algorithm": "random", "dim": 2}}), 201)
    until(lambda: servers[1].decide("first")[0] == 201)
    begin, made, known = time.monotonic(), [], []  # known: when clients had the answer of each decision

    def load(server, name):
        turn = 0
        while time.monotonic() < begin + 8:
            turn += 1
            check(server.decide(f"{name}-{turn}"), 201)
            known.append(time.monotonic() - begin)
            if turn % 3:
                check(server.feed(f"{name}-{turn}"), 204)
        made.append(turn)
    threads, wrong = together(*(lambda server=server, i=i: load(server, f"e{i}") for i, server in enumerate(servers * 2)))
    seen = []
    while any(thread.is_alive() for thread in threads):
        at = time.monotonic() - begin
        seen.append((at, count(pg, database, "decisions"), sum(when > at - 4 for when in list(known)) + 100))
        time.sleep(0.1)
    assert not wrong, wrong
    assert sum(made) > 300 and all(rows <= most for _, rows, most in seen), (sum(made), [each for each in seen if each[1] > each[2]][:3])
    until(lambda: count(pg, database, "decisions") <= 1, 30)  # the last row stays, for its number
    assert count(pg, database, "feedback") <= 1 and count(pg, database, "journal") < 100
    end(servers)
    pg.remove()


def written(pg, database, *needles):
    """Which of them any table has, as text or as bytes."""
    dump = "\n".join(pg.dump(database))
    return [needle for needle in needles if needle in dump or needle.encode().hex() in dump]


def what_is_erased_is_in_no_table():
    draw = random.Random(7)
    pg = Postgres()
    database = pg.database(PROGRAM)
    servers = [Member(pg, database, "--checkpoint-seconds", 0.5).start() for _ in range(2)]
    for name in ("home", "brief"):
        check(servers[0].call("PUT", "/v1/agents/" + name, AGENT), 201)
    for server in servers:
        until(lambda: all(server.decide("first-" + server.folder, name)[0] in (200, 201) for name in ("home", "brief")))
    live, erased = [], 0
    for turn in range(80):
        server, agent = draw.choice(servers), "brief" if draw.random() < 0.4 else "home"
        event, number = "%08x-event-%05d" % (draw.getrandbits(32), turn), "0.%09d" % (123000000 + turn * 7)
        check(server.call("POST", f"/v1/agents/{agent}/decide", '{"event": "%s", "contexts": [[%s, 1]%s]}' % (event, number, ", [0.5, 0.25]" * draw.choice([1, 5, 400]))), 201)
        if draw.random() < 0.7:
            check(draw.choice(servers).call("POST", f"/v1/agents/{agent}/feedback", {"event": event, "id": "key-" + event, "feedback": [1, 0]}), 204)
        live.append((agent, event, number))
        if draw.random() < 0.3:
            agent, event, number = live.pop(draw.randrange(len(live)))
            check(draw.choice(servers).call("DELETE", f"/v1/agents/{agent}/events/{event}"), 204)
            left = written(pg, database, event, number)
            assert not left, f"{left} of {agent} is still there"
            for each in servers:
                assert event.encode() not in check(each.call("GET", f"/v1/agents/{agent}/log"), 200), event
                assert each.feed(event, agent)[0] == 404
            erased += 1
    assert erased > 10
    agent, event, number = live[0]
    assert written(pg, database, event, number) == [event, number], "what is kept is found, so this test can fail"
    check(servers[1].call("DELETE", "/v1/agents/brief"), 204)
    gone = [word for agent, *words in live if agent == "brief" for word in words]
    assert gone
    until(lambda: not written(pg, database, *gone), 30)
    until(lambda: count(pg, database, "decisions") == len(servers) + sum(agent == "home" for agent, _, _ in live))
    gapless(pg, database)
    end(servers)
    pg.remove()


def erasures_do_not_stop_decisions():
    """Eight clients erase while four ask, at both servers: nobody is refused."""
    pg = Postgres()
    database = pg.database(PROGRAM)
    servers = [Member(pg, database).start() for _ in range(2)]
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: servers[1].decide("first")[0] == 201)

    def visit(number):
        for i in range(15):
            one, other = servers if (number + i) % 2 else servers[::-1]
            event = f"{number}-{i}"
            check(one.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS}), 201)
            if number < 8:
                check(other.call("DELETE", f"/v1/agents/home/events/{event}"), 204)
    threads, wrong = together(*(lambda number=number: visit(number) for number in range(12)))
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    assert count(pg, database, "decisions") == 4 * 15 + 1
    end(servers)
    pg.remove()


try:
    if __name__ == "__main__":
        main(rows_do_not_grow_at_a_steady_load, what_is_erased_is_in_no_table, erasures_do_not_stop_decisions)
finally:
    end(started)
