#!/usr/bin/env python3
"""Policies that nobody can read. Where the journal has all rows, the agent is learnt again and is what it was; where rows are gone it is broken, the others are served,
and a reset mends it. The witnesses are SQL and the bytes of the saved agent."""
import functools
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import cluster
from cluster import AGENT, PROGRAM, check, end, gapless, sound, started
from postgres import Postgres
from service import main, until

pg = Postgres("max_connections=60")
Member = functools.partial(cluster.Member, pg)
OF_HOME = "WHERE agent = (SELECT id FROM agents WHERE name = 'home')"
DAMAGES = {
    "bytes of each chunk": "UPDATE chunks SET data = overlay(data placing '\\xdeadbeefdeadbeef'::bytea from length(data) / 2) " + OF_HOME,
    "no chunk": "DELETE FROM chunks " + OF_HOME,
    "chunks that are no agent": "UPDATE chunks SET data = 'x', hash = sha256('x') " + OF_HOME + "; UPDATE policies SET chunks = sha256('x'), size = 1 " + OF_HOME,
    "settings": "UPDATE policies SET settings = 'x' " + OF_HOME,
}


def learn(server, first, last):
    for i in range(first, last + 1):
        check(server.decide(f"e{i}"), 201)
        check(server.feed(f"e{i}"), 204)


def policies(database):
    return [int(row[0]) for row in pg.sql("SELECT version FROM policies " + OF_HOME + " ORDER BY version", database)]


def learnt(events, **settings):
    """A database whose agent home has learnt so many events, and its bytes; no server runs."""
    database = pg.database(PROGRAM)
    server = Member(database).start()
    for name in ("home", "other"):
        check(server.call("PUT", "/v1/agents/" + name, {**AGENT, **settings}), 201)
        until(lambda: server.model(name) == 1)
    learn(server, 1, events)
    until(lambda: server.model() == events + 1 and policies(database)[-1] == events + 1)
    saved = check(server.call("GET", "/v1/agents/home/model"), 200)
    assert server.stop() == 0
    return database, saved


def damage(database, how):
    if how == "bytes of each chunk":
        assert pg.sql("SELECT count(*) > 0 FROM chunks " + OF_HOME, database) == [["t"]]
    if how == "chunks that are no agent":  # one is enough
        pg.sql("DELETE FROM chunks c " + OF_HOME + " AND ctid <> (SELECT min(ctid) FROM chunks " + OF_HOME + ")", database)
    pg.sql(DAMAGES[how], database)


def not_used(server):
    return server.said().count("is not used")


def with_all_rows_it_is_what_it_was():
    for how in DAMAGES:
        database, saved = learnt(5)
        damage(database, how)
        servers = [Member(database).start() for _ in range(2)]
        for server in servers:
            until(lambda: server.model() == 6)
            assert check(server.call("GET", "/v1/agents/home/model"), 200) == saved, how
            assert not server.ready().get("broken")
            check(server.decide("again" + server.folder), 201)
        said = [not_used(server) for server in servers]
        assert 0 < sum(said) <= 6, (how, said)
        learn(servers[1], 6, 9)
        for server in servers:
            until(lambda: server.model() == 10)
        end(servers)
        fresh = Member(database).start()
        until(lambda: fresh.model() == 10)
        assert gapless(pg, database) == 10
        fresh.kill()
        sound(pg, database)


def nothing_goes_before_it_is_replaced():
    """It is learnt again up to a row that cannot be learnt: what it has learnt is there for the others and the next learner, and so is what nobody could read."""
    database, saved = learnt(100)
    damage(database, "bytes of each chunk")
    before = policies(database)
    pg.sql("UPDATE journal SET kind = kind + 90 " + OF_HOME + " AND seq = 90", database)
    servers = [Member(database).start(ready=False) for _ in range(2)]
    for server in servers:
        until(lambda: server.ready().get("broken") == 1 and (server.model() or 0) > 1)  # what was learnt again is followed
    now = policies(database)
    assert set(before) < set(now) and min(now) < 90, (before, now)
    end(servers)
    pg.sql("UPDATE journal SET kind = kind - 90 " + OF_HOME + " AND seq = 90", database)
    servers = [Member(database).start() for _ in range(2)]
    for server in servers:
        until(lambda: server.model() == 101)
        assert check(server.call("GET", "/v1/agents/home/model"), 200) == saved
        assert "learns again" not in server.said(), server.said()
    learn(servers[0], 101, 101)
    until(lambda: policies(database)[-1] == 102)
    assert len(policies(database)) <= 3
    end(servers)


def from_the_last_row_that_sets_it_new():
    database, _ = learnt(2)
    server = Member(database).start()
    check(server.call("PUT", "/v1/agents/home", {**AGENT, "reset": True}), 200)
    learn(server, 3, 5)
    until(lambda: server.model() == 7 and policies(database)[-1] == 7)
    saved = check(server.call("GET", "/v1/agents/home/model"), 200)
    server.stop()
    damage(database, "no chunk")
    pg.sql("DELETE FROM journal " + OF_HOME + " AND seq < 4", database)
    server.start()
    until(lambda: server.model() == 7)
    assert check(server.call("GET", "/v1/agents/home/model"), 200) == saved
    end([server])


def with_rows_gone_it_is_broken_until_a_reset():
    for how in ("bytes of each chunk", "settings"):
        database, _ = learnt(5)
        damage(database, how)
        pg.sql("DELETE FROM journal " + OF_HOME + " AND seq < 4", database)
        before = policies(database)
        servers = [Member(database).start() for _ in range(2)]
        for server in servers:
            until(lambda: server.ready().get("broken_agents") == ["home"])
            assert server.decide("e9")[0] == 503
            check(server.decide("e9" + server.folder, "other"), 201)
            [home] = [agent for agent in check(server.call("GET", "/v1/agents"), 200)["agents"] if agent["name"] == "home"]
            assert "the journal begins with row 4" in home["broken"], home
        assert policies(database) == before, "what cannot be read stays"
        assert all(len(server.said().splitlines()) < 12 for server in servers), servers[0].said()
        check(servers[1].call("PUT", "/v1/agents/home", {**AGENT, "reset": True}), 200)
        for server in servers:
            until(lambda: server.model() == 7 and not server.ready().get("broken"))
        learn(servers[0], 10, 12)
        for server in servers:
            until(lambda: server.model() == 10)
        end(servers)


def retention_waits_for_a_policy():
    """All rows are older than retention_days, and the database takes no policy of the agent that is learnt again: none of its rows goes."""
    database, saved = learnt(5, retention_days=365)
    damage(database, "bytes of each chunk")
    pg.sql("UPDATE journal SET time = 0 " + OF_HOME + "; DELETE FROM policies " + OF_HOME + " AND version < 6", database)
    pg.sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not now''; END'; "
           "CREATE TRIGGER refused BEFORE INSERT OR UPDATE ON policies FOR EACH ROW EXECUTE FUNCTION refuse()", database)
    server = Member(database).start()
    until(lambda: server.model() == 6)
    time.sleep(5)  # retention has had many turns
    server.kill()
    assert gapless(pg, database) == 6
    pg.sql("DROP TRIGGER refused ON policies", database)
    server.start()
    until(lambda: server.model() == 6 and pg.sql("SELECT count(*) FROM journal " + OF_HOME, database) != [["6"]])  # now they go
    assert check(server.call("GET", "/v1/agents/home/model"), 200) == saved
    server.kill()


try:
    main(with_all_rows_it_is_what_it_was, nothing_goes_before_it_is_replaced, from_the_last_row_that_sets_it_new, with_rows_gone_it_is_broken_until_a_reset,
         retention_waits_for_a_policy)
finally:
    end(started)
    pg.remove()
