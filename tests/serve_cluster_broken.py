#!/usr/bin/env python3
"""An agent that its learner could not go on with: every server says so, and each takes it up again when another learner can."""
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import cluster
from cluster import AGENT, PROGRAM, check, end, started
from postgres import Postgres
from service import main, until

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


try:
    main(the_next_learner_mends_it_for_all, others_learn_of_it_when_the_database_takes_it)
finally:
    end(started)
    pg.remove()
