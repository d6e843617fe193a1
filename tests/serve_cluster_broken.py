#!/usr/bin/env python3
"""An agent that its learner could not go on with: every server says so, and each takes it up again when another learner can. Its events can be erased."""
import functools
import os
import shutil
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import cluster
from cluster import AGENT, CONTEXTS, PROGRAM, check, end, started
from postgres import Postgres
from service import Server, main, until

pg = Postgres("max_connections=60")
Member = functools.partial(cluster.Member, pg)


def broken(server):
    return server.call("GET", "/readyz")[1].get("broken", 0)


def the_next_learner_mends_it_for_all():
    database = pg.database(PROGRAM)
    servers = [Member(database).start() for _ in range(3)]
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.model() == 1)
    learner = next(server for server in servers if server.learns())
    left = [server for server in servers if server is not learner]
    pg.sql("UPDATE agents SET broken = 'memory could not be had'", database)  # as the learner writes it
    until(lambda: all(broken(server) == 1 for server in left))
    learner.kill()
    until(lambda: sum(server.learns() for server in left) == 1)
    until(lambda: not any(broken(server) for server in left))
    assert pg.sql("SELECT count(*) FROM agents WHERE broken IS NULL", database) == [["1"]]
    for i, server in enumerate(left):
        check(server.decide(f"e{i}"), 201)
        check(server.feed(f"e{i}"), 204)
    until(lambda: all(server.model() == 3 for server in left))
    end(left)


def others_learn_of_it_when_the_database_takes_it():
    """The row is locked for longer than the learner waits: it tells them later."""
    database = pg.database(PROGRAM)
    server = Member(database).start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: server.model() == 1)
    server.kill()
    pg.sql("UPDATE journal SET kind = 99; DELETE FROM policies; DELETE FROM chunks", database)  # nobody can learn it
    pg.ask("BEGIN; SELECT 1 FROM agents FOR NO KEY UPDATE", database)
    servers = [Member(database).start(ready=False) for _ in range(2)]
    until(lambda: any(broken(server) for server in servers))
    until(lambda: "canceling statement due to lock timeout" in open(pg.folder + "/log").read())
    assert sum(broken(server) for server in servers) == 1
    pg.ask("COMMIT", database)
    until(lambda: all(broken(server) for server in servers))
    end(servers)


def is_erased(servers, damage):
    """Rows 2 and 3 are of events; row 3 is damaged while no server runs."""
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for i in range(2):
        until(lambda: servers[0].model() == i + 1)
        for event in (f"e{i}", f"open{i}"):
            check(servers[0].call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS}), 201)
        check(servers[0].call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [1, 0]}), 204)
    until(lambda: servers[0].call("GET", "/v1/agents/home")[1]["seq"] == 3)
    servers[0].kill()
    damage()
    for server in servers:
        server.start(ready=False)
    for server in servers:
        until(lambda: broken(server) == 1)
    for i, event in enumerate(("e0", "e1", "open0", "open1")):
        server, begin = servers[i % len(servers)], time.monotonic()
        check(server.call("DELETE", f"/v1/agents/home/events/{event}"), 204)
        assert time.monotonic() - begin < 5, event
        check(server.call("DELETE", f"/v1/agents/home/events/{event}"), 404)
    assert all(broken(server) == 1 for server in servers)
    end(servers)


def its_events_can_be_erased():
    """With a database as with a folder: it writes no policy, and nobody waits for one."""
    database = pg.database(PROGRAM)
    is_erased([Member(database).start(), Member(database)], lambda: pg.sql("UPDATE journal SET kind = 99 WHERE seq = 3; DELETE FROM policies; DELETE FROM chunks", database))
    assert pg.sql("SELECT count(*) FROM decisions", database) == [["0"]]
    folder = tempfile.mkdtemp(prefix="superarm-broken-")

    def damage():
        with sqlite3.connect(folder + "/shop/journal.db") as journal:
            journal.execute("UPDATE rows SET kind = 2 WHERE seq = 3")
        journal.close()
    server = Server(PROGRAM, folder + "/shop").start()
    try:
        server.model = functools.partial(Member.func.model, server)
        is_erased([server], damage)
    finally:
        end([server])
        shutil.rmtree(folder)


try:
    main(the_next_learner_mends_it_for_all, others_learn_of_it_when_the_database_takes_it, its_events_can_be_erased)
finally:
    end(started)
    pg.remove()
