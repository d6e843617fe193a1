#!/usr/bin/env python3
"""When a server is ready: once it can answer for each agent that was there at its start. An agent that is made later, and that nobody has learnt, takes no server out."""
import functools
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import cluster
from cluster import AGENT, PROGRAM, check, end, started
from postgres import Postgres
from service import main, until

pg = Postgres("max_connections=60")
Member = functools.partial(cluster.Member, pg)
SLOW = ("CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NEW; END'; "
        "CREATE TRIGGER slow BEFORE INSERT ON policies FOR EACH ROW EXECUTE FUNCTION nap()")


def a_new_agent_takes_no_server_out():
    """Its first policy is written for two seconds."""
    database = pg.database(PROGRAM)
    servers = [Member(database).start() for _ in range(3)]
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.model() == 1)
    stop, refused, without, looks = [], [], set(), []

    def look(server):
        while not stop:
            status, body, _ = server.call("GET", "/readyz")
            looks.append(status)
            without.add(body.get("without", 0))
            if status != 200:
                refused.append(body)
            time.sleep(0.01)
    pg.sql(SLOW, database)
    threads = [threading.Thread(target=look, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    for i, server in enumerate(servers):
        check(server.call("PUT", f"/v1/agents/new{i}", AGENT), 201)
    stop.append(True)
    for thread in threads:
        thread.join()
    assert not refused and len(looks) > 100, (len(refused), refused[:1], len(looks))
    assert max(without), "they were new at some of these looks, so this test can fail"
    for server in servers:
        until(lambda: "without" not in server.ready())
    end(servers)


def a_server_that_starts_waits_for_what_was_there():
    """Nobody learns: a server that starts has no policy of the agent that was learnt, and one that has been there goes on."""
    database = pg.database(PROGRAM)
    learner, server = Member(database).start(), Member(database, "--learn", "no").start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: server.model() == 1)
    learner.kill()
    pg.sql("DELETE FROM policies; DELETE FROM chunks", database)
    fresh = Member(database, "--learn", "no").start(ready=False)
    until(lambda: "no policy" in str(fresh.call("GET", "/readyz")[1]))
    pg.sql("INSERT INTO agents (name, settings, created) SELECT 'later', settings, created FROM agents", database)
    until(lambda: server.ready().get("without") == 1)
    check(server.decide("e0"), 201)
    for _ in range(20):
        assert server.is_ready(recovered=False) and not fresh.is_ready(recovered=False)
        time.sleep(0.02)
    learner.start()
    until(fresh.is_ready)
    check(fresh.decide("e1"), 201)
    end([learner, server, fresh])


try:
    main(a_new_agent_takes_no_server_out, a_server_that_starts_waits_for_what_was_there)
finally:
    end(started)
    pg.remove()
