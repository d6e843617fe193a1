#!/usr/bin/env python3
"""What happens to an agent at the same moment at two servers: no row is left of an agent that is gone. The witness is SQL."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from postgres import Postgres
from service import Server, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
CONTEXTS = [[0, 1], [1, 0], [0.5, 0.5]]
TABLES = ("decisions", "journal", "inbox", "policies", "chunks", "items", "hours", "hours_left", "evaluations")
pg = Postgres("max_connections=60")
started = []


class Member(Server):
    """A server among others."""

    def __init__(self, database):
        super().__init__(PROGRAM, f"{pg.folder}/server-{len(started)}")
        self.url = pg.url(database)
        started.append(self)

    def place(self):
        return ["--store", self.url]


def orphans(database):
    """How many rows of no agent each table has, and feedback of no decision."""
    counts = [f"SELECT '{table}', count(*) FROM {table} WHERE agent NOT IN (SELECT id FROM agents)" for table in TABLES]
    counts.append("SELECT 'feedback', count(*) FROM feedback WHERE decision NOT IN (SELECT id FROM decisions)")
    return {name: count for name, count in pg.sql(" UNION ALL ".join(counts), database) if count != "0"}


def gone(database):
    """no agent is left"""
    return pg.sql("SELECT count(*) FROM agents", database) == [["0"]]


def a_decision_that_is_being_written():
    """Its transaction has seen the agent, and ends after another server has deleted it and looked for what is left."""
    database = pg.database(PROGRAM)
    one, two = [Member(database).start() for _ in range(2)]
    assert one.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    until(lambda: two.call("POST", "/v1/agents/home/decide", {"contexts": CONTEXTS})[0] == 201)
    pg.sql("CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'; "
           "CREATE TRIGGER slow AFTER INSERT ON decisions FOR EACH ROW EXECUTE FUNCTION wait()", database)
    pg.ask("SELECT pg_advisory_lock(1)", database)
    got = []
    asks = threading.Thread(target=lambda: got.append(two.call("POST", "/v1/agents/home/decide", {"event": "late", "contexts": CONTEXTS})[0]))
    asks.start()
    until(lambda: pg.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted", database) == [["1"]])
    assert one.call("DELETE", "/v1/agents/home")[0] == 204
    assert asks.is_alive() and not gone(database)
    pg.ask("SELECT pg_advisory_unlock(1)", database)
    asks.join()
    assert got == [201], got
    until(lambda: gone(database))
    assert not orphans(database), orphans(database)
    assert one.call("POST", "/v1/agents/home/decide", {"contexts": CONTEXTS})[0] == 404
    one.kill()
    two.kill()


def a_removal_that_fails():
    """The first time; then the agent is removed, and nobody holds it."""
    database = pg.database(PROGRAM)
    server = Member(database).start()
    assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    held = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid > 0 AND database = (SELECT oid FROM pg_database WHERE datname = '{database}')"
    until(lambda: pg.sql(held, database) == [["1"]])
    pg.sql("CREATE SEQUENCE tries; CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''tries''); RAISE ''not now''; END'; "
           "CREATE TRIGGER fails BEFORE DELETE ON agents FOR EACH ROW EXECUTE FUNCTION fail()", database)
    assert server.call("DELETE", "/v1/agents/home")[0] == 204
    until(lambda: int(pg.sql("SELECT last_value FROM tries", database)[0][0]) >= 2, seconds=30)
    pg.sql("DROP TRIGGER fails ON agents", database)
    until(lambda: gone(database), seconds=30)
    until(lambda: pg.sql(held, database) == [["0"]])
    server.kill()


def under_load():
    """Agents come and go while two servers are asked to decide, learn and evaluate."""
    database = pg.database(PROGRAM)
    servers = [Member(database).start() for _ in range(2)]
    stop, seen = threading.Event(), set()

    def client(number):
        server, count = servers[number % 2], 0
        while not stop.is_set():
            count += 1
            event = f"c{number}-{count}"
            seen.add(("decide", server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS})[0]))
            seen.add(("feedback", server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": [1, 0]})[0]))
            if count % 7 == 0:
                seen.add(("evaluate", server.call("POST", "/v1/agents/home/evaluations", {})[0]))
    threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    for i in range(12):
        assert until(lambda: servers[i % 2].call("PUT", "/v1/agents/home", AGENT)[0]) in (200, 201)
        time.sleep(0.3)
        assert servers[1 - i % 2].call("DELETE", "/v1/agents/home")[0] in (204, 404)
    stop.set()
    [thread.join() for thread in threads]
    assert {("decide", 201), ("decide", 404), ("feedback", 204)} <= seen, seen
    assert not [pair for pair in seen if pair[1] not in (200, 201, 202, 204, 404, 409, 429, 503)], seen
    for server in servers:
        server.call("DELETE", "/v1/agents/home")
    until(lambda: gone(database), seconds=60)
    assert not orphans(database), orphans(database)
    for server in servers:
        server.kill()


try:
    if __name__ == "__main__":
        main(a_decision_that_is_being_written, a_removal_that_fails, under_load)
finally:
    for each in started:
        if each.process.poll() is None:
            each.kill()
