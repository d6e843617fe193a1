#!/usr/bin/env python3
"""Where servers that share a database get in each other's way: events that one holds and another activates, groups of different decisions, agents that wait for
their retention, locks that cannot be released, deadlocks. The witness is SQL."""
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, CONTEXTS, PROGRAM, Member, check, end, refused, started
from postgres import Postgres
from service import main, until

LIMIT_HELD = 100000
INSERT = "INSERT INTO decisions (agent, event, time, kept, due, state, side, model, seq, hash, arms, answer, body) SELECT id, "
pg = Postgres("max_connections=60")


def begin(count, *options, agents=("home",), **settings):
    """A database, and servers that answer for all its agents."""
    database = pg.database(PROGRAM)
    servers = [Member(pg, database, *options).start() for _ in range(count)]
    for name in agents:
        check(servers[0].call("PUT", "/v1/agents/" + name, {**AGENT, **settings}), 201)
    for i, server in enumerate(servers):
        until(lambda: all(server.decide(f"first-{i}", name)[0] in (200, 201) for name in agents))
    return database, servers


class Session:
    """A psql that stays, and is waited for by SQL alone."""

    def __init__(self, database):
        command = [f"{pg.bin}/psql", "-h", pg.folder, "-p", str(pg.port), "-U", "postgres", "-d", database, "-qAt"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, sql):
        """Where it begins a transaction, that has its lock then."""
        print(sql, file=self.process.stdin, flush=True)
        if "BEGIN" in sql:
            assert self.process.stdout.readline() == "1\n"


def waits(database, count):
    """So many sessions wait for a lock."""
    until(lambda: pg.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", database) == [[str(count)]], pause=0.005)


def queued(server, count):
    """So many requests wait for those that it writes."""
    until(lambda: f"superarm_queue {count}\n" in check(server.call("GET", "/metrics"), 200).decode(), pause=0.005)


def within(seconds):
    """The case is tried again, up to three times, where other work on the machine made it so slow that what it is about did not happen: it says so by Late."""
    def of(case):
        def run():
            for more in (True, True, False):
                try:
                    return case(seconds)
                except Late as late:
                    assert more, late
        run.__name__ = case.__name__
        return run
    return of


class Late(Exception):
    pass


def statement(name):
    """As the store has it."""
    header = open(os.path.join(os.path.dirname(__file__), "../serve/postgres_statements.h")).read().replace("\\\n", "")
    return "".join(re.findall('"(.*?)"', re.search(r"X\(%s,(.*?)\)\s*X\(" % name, header)[1]))


def held_events_are_counted_by_the_database():
    database, (one, other) = begin(2)

    def hold(server, event):
        check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS, "activate": False}), 201)

    def held(order="id"):
        return [row[0] for row in pg.ask(f"SELECT event FROM decisions WHERE state = 3 ORDER BY {order}", database)]
    for i in range(6):
        hold(one, f"h{i}")
    check(other.call("POST", "/v1/agents/home/activate/h5"), 204)
    check(other.call("DELETE", "/v1/agents/home/events/h4"), 204)
    for i in range(70):  # more than once the database is asked
        hold(other, f"x{i}")
    assert held() == ["h0", "h1", "h2", "h3"] + [f"x{i}" for i in range(70)]
    # more than the limit, and the oldest go: none of an hour ago for its age
    pg.ask(INSERT + f"'old' || i, 0, extract(epoch from now())::bigint * 1000 - 3600000 + i, 0, 3, 0, 1, 0, '', '', '', '' FROM agents, generate_series(1, {LIMIT_HELD}) i WHERE name = 'home'", database)
    for i in range(70, 134):
        hold(other, f"x{i}")
    kept = held("kept")
    assert LIMIT_HELD <= len(kept) <= LIMIT_HELD + 64 and kept[0] == "old129" and kept[-1] == "x133", (len(kept), kept[:3])
    end((one, other))


@within(2.5)  # for so long a server waits for a lock
def decisions_with_stored_items_and_without_come_together(seconds):
    """In one group, before one with stored items has come alone."""
    database, (server,) = begin(1)
    shop = {"options": {"algorithm": "comblin-ucb"}, "schema": {"item": {"price": "log"}}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
    check(server.call("PUT", "/v1/agents/shop", shop), 201)
    check(server.call("PUT", "/v1/agents/shop/items", "".join('{"id": "i%d", "price": %d}\n' % (i, i + 1) for i in range(5)), {"Content-Type": "application/x-ndjson"}), 200)
    got, threads = {}, []

    def ask(event, agent, body):
        got[event] = server.call("POST", f"/v1/agents/{agent}/decide", {"event": event, **body})[0]
    plain, stored = ("home", {"contexts": CONTEXTS}), ("shop", {"items": ["i1", "i2", "i3"]})
    other = Session(database)
    other.send("BEGIN; SELECT 1 FROM agents WHERE name = 'home' FOR UPDATE;")
    start = time.monotonic()
    for at, what in enumerate((plain, plain, stored, plain)):
        threads.append(threading.Thread(target=ask, args=(f"e{at}", *what)))
        threads[-1].start()
        if at == 0:
            waits(database, 1)  # for the lock, and the others for it
        else:
            queued(server, at)
    took = time.monotonic() - start
    other.send("COMMIT;")
    for thread in threads:
        thread.join()
    other.process.kill()
    end([server])
    if took > seconds:
        raise Late(f"{took:.1f} s")
    assert got == {f"e{at}": 201 for at in range(4)}, got


def agents_that_come_back_keep_one_policy():
    """Of those that it learns, each server removes what is not needed for the newest: else retention could not go on."""
    names = [f"g{i}" for i in range(12)]  # each server gets some, but for one start in 4096
    database, (one,) = begin(1, "--checkpoint-seconds", 0.3, agents=names, options={"algorithm": "random", "dim": 2})

    def policies():
        return [int(row[0]) for row in pg.ask("SELECT count(*) FROM policies GROUP BY agent", database)]

    def feed(turn):
        for name in names:
            check(one.decide(f"e{turn}", name), 201)
            check(one.feed(f"e{turn}", name), 204)
    feed(0)
    until(lambda: policies() == [1] * 12)
    other = Member(pg, database).start()
    until(lambda: other.learns() > 0 and one.learns() + other.learns() == 12)
    until(lambda: feed(time.monotonic()) or max(policies()) > 1 and sum(count > 1 for count in policies()) >= other.learns())
    other.kill()
    until(lambda: one.learns() == 12)
    until(lambda: policies() == [1] * 12, 30)
    end([one])


def long_waits_hide_no_events():
    """More of them than a batch, older than what has to go; and the database finds it by an index."""
    database, (server,) = begin(1, retention_days=60 / 86400)
    old = INSERT + "'%s' || i, 0, i, %s, 0, 0, 1, 0, '', '', '', '' FROM agents, generate_series(%d, %d) i WHERE name = 'home'"
    pg.ask(old % ("waits", "1::bigint << 50", 1, 70), database)
    pg.ask(old % ("open", "0", 71, 90), database)
    until(lambda: pg.ask("SELECT count(*) FROM decisions WHERE event LIKE 'open%'", database) == [["0"]], 30)
    assert pg.ask("SELECT count(*) FROM decisions WHERE event LIKE 'waits%'", database) == [["70"]]
    pg.ask(old % ("many", "0", 100, 20000) + "; ANALYZE decisions; SET plan_cache_mode = force_generic_plan", database)
    plan = pg.ask("PREPARE oldest AS " + statement("OLDEST_OPEN") + "; EXPLAIN EXECUTE oldest (1, 0, 10000, 0, 64)", database)
    assert any("Index Scan using decisions_open" in line[0] for line in plan) and not any("Sort" in line[0] for line in plan), plan
    end([server])


def retention_takes_turns():
    """One agent has more to remove than can be, all the time; another and a deleted one are done within seconds."""
    database, (server,) = begin(1, agents=("busy", "quiet", "gone"), retention_days=60 / 86400)
    old = INSERT + "'%s' || i, 0, i, 0, 2, 0, 1, 0, '', '', '', '' FROM agents, generate_series(1, %d) i WHERE name = '%s'"

    def left(name):
        return int(pg.ask(f"SELECT count(*) FROM decisions d JOIN agents a ON a.id = d.agent WHERE name = '{name}' AND event LIKE 'old%'", database)[0][0])
    pg.ask(old % ("old", 150000, "busy"), database)
    until(lambda: left("busy") < 150000)
    pg.ask(old % ("old", 100, "quiet"), database)
    check(server.call("DELETE", "/v1/agents/gone"), 204)
    until(lambda: left("quiet") == 0 and not pg.ask("SELECT 1 FROM agents WHERE name = 'gone'", database), 30)
    assert left("busy"), "its turn would have been over anyway"
    end([server])


def locks_that_cannot_be_released_go_with_their_session():
    """Their role may not call pg_advisory_unlock: yet each agent comes to the server that is to learn it."""
    database = pg.database(PROGRAM)
    pg.sql("CREATE ROLE clerk LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO clerk; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO clerk; "
           "REVOKE EXECUTE ON FUNCTION pg_advisory_unlock(int, int) FROM PUBLIC", database)
    one = Member(pg, database, url=pg.url(database, "clerk")).start()
    for i in range(12):
        check(one.call("PUT", f"/v1/agents/g{i}", {**AGENT, "options": {"algorithm": "random", "dim": 2}}), 201)
    until(lambda: one.learns() == 12)
    other = Member(pg, database, url=pg.url(database, "clerk")).start()
    until(lambda: one.learns() < 12)
    until(lambda: other.learns() > 0 and one.learns() + other.learns() == 12, 30)
    end((one, other))


@within(0.8)  # after a second the server looks whether it waits in a circle, once
def groups_that_a_deadlock_undoes_are_run_again(seconds):
    """Another session locks the same two events, in the other order."""
    database, (server,) = begin(1, wait_seconds=600)
    for i in range(3):
        check(server.decide(f"e{i}"), 201)
    lock, got = "SELECT 1 FROM decisions WHERE event = '%s' FOR UPDATE;", {}

    def feed(event):
        got[event] = server.feed(event)[0]
    threads = [threading.Thread(target=feed, args=(f"e{i}",)) for i in range(3)]
    first, second = Session(database), Session(database)
    first.send("BEGIN;" + lock % "e0")
    second.send("SET deadlock_timeout = '30s'; BEGIN;" + lock % "e2")  # the server finds it first, and is undone
    start = time.monotonic()
    threads[0].start()
    waits(database, 1)
    for i, thread in enumerate(threads[1:]):  # e1 and e2 are one group
        thread.start()
        queued(server, i + 1)
    took = [time.monotonic() - start]
    first.send("COMMIT;")
    start = time.monotonic()
    until(lambda: "e0" in got, pause=0.005)
    waits(database, 1)
    second.send(lock % "e1" + "COMMIT;")
    took.append(time.monotonic() - start)
    for thread in threads:
        thread.join()
    if took[0] > 2.5 or took[1] > seconds:
        end([server])
        raise Late(f"{took} s")
    assert "deadlock detected" in open(pg.folder + "/log").read()
    assert got == {"e0": 204, "e1": 204, "e2": 204}, got
    assert pg.ask("SELECT count(*) FROM feedback", database) == [["3"]]
    until(lambda: pg.ask("SELECT sum((data::json ->> 'feedback')::int) FROM hours", database) == [["3"]])  # sums have it once, too
    first.process.kill()
    second.process.kill()
    end([server])


def agents_that_move_are_counted_once():
    """Between servers that come and go under load. A group of the learner takes so long that the next one both adds to sums and lets agents go; at last some are undone."""
    names = [f"g{i}" for i in range(12)]  # each server gets some, but for one such test in 4096
    database, (one,) = begin(1, agents=names, options={"algorithm": "random", "dim": 2})
    slow = "CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); IF random() < %s THEN RAISE ''undone''; END IF; RETURN NEW; END';"
    pg.sql(slow % 0 + "CREATE TRIGGER slow BEFORE INSERT OR UPDATE ON hours FOR EACH ROW EXECUTE FUNCTION slow()", database)
    stop, wrong = threading.Event(), []

    def client(number):
        turn = 0
        while not stop.is_set():
            turn += 1
            for name in names:
                got = [one.decide(f"e{number}-{turn}", name)[0], one.feed(f"e{number}-{turn}", name)[0]]
                if got != [201, 204]:
                    wrong.append(got)
            time.sleep(0.02)
    clients = [threading.Thread(target=client, args=(i,), daemon=True) for i in range(2)]
    for thread in clients:
        thread.start()
    for leave, undone in (("stop", 0), ("kill", 0.03)):
        pg.sql(slow % undone, database)
        other = Member(pg, database).start()
        until(lambda: other.learns() > 0 and one.learns() + other.learns() == len(names))
        time.sleep(0.5)
        getattr(other, leave)()
        until(lambda: one.learns() == len(names))
    pg.sql(slow % 0, database)
    stop.set()
    for thread in clients:
        thread.join()
    assert not wrong, wrong[:3]
    until(lambda: pg.ask("SELECT (SELECT count(*) FROM decisions WHERE state = 0 AND due > 0) + (SELECT count(*) FROM hours_left)", database) == [["0"]])
    for counted, rows in (("data::json #>> '{sides,agent,decisions}'", "decisions"), ("data::json #>> '{sides,agent,learnt}'", "journal j JOIN decisions d ON j.decision = d.id"),
                          ("data::json ->> 'feedback'", "feedback f JOIN decisions d ON f.decision = d.id")):
        sums = pg.ask(f"SELECT agent, sum(({counted})::int) FROM hours GROUP BY agent ORDER BY agent", database)
        assert sums == pg.ask(f"SELECT {'d.' * (rows != 'decisions')}agent, count(*) FROM {rows} GROUP BY 1 ORDER BY 1", database), (counted, sums)
    end([one])


def grow_old(database, agent, event, ask):
    """An event becomes older than what is kept while a server, asked for it, waits for its row; what is answered, once retention has passed."""
    locked, begun, got = Session(database), time.monotonic(), []
    locked.send(f"UPDATE decisions SET kept = kept - 57000 WHERE event = '{event}'; BEGIN; SELECT 1 FROM decisions WHERE event = '{event}' FOR UPDATE;")
    thread = threading.Thread(target=lambda: got.append(ask()[0]), daemon=True)

    def waits(for_what=""):
        return int(pg.ask(f"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '{for_what}%'", database)[0][0])

    def retain():
        """A pass, which does not wait for the row; or it does."""
        pg.ask(INSERT + f"'old{time.monotonic()}', 0, 1, 0, 2, 0, 1, 0, '', '', '', '' FROM agents WHERE name = '{agent}'", database)
        until(lambda: waits("DELETE") or pg.ask("SELECT 1 FROM decisions WHERE event LIKE 'old%'", database) == [])
    while time.monotonic() < begun + 2:
        retain()  # passes come often while there is something to remove
    thread.start()
    until(lambda: waits() or got)
    while time.monotonic() < begun + 3.3:
        retain()
    locked.send("COMMIT;")
    thread.join(30)
    locked.process.kill()
    return got


def what_a_server_has_in_hand_is_not_removed():
    """Feedback for an event that was about to be removed for its age, and an activation: what was answered stays."""
    database, (server,) = begin(1, retention_days=60 / 86400)
    check(server.call("PUT", "/v1/agents/slow", {**AGENT, "retention_days": 60 / 86400, "wait_seconds": 600}), 201)

    def visit(agent, path, body, state, **more):
        for at in range(5):
            event = f"{agent}-{at}"
            until(lambda: server.call("POST", f"/v1/agents/{agent}/decide", {"event": event, "contexts": CONTEXTS, **more})[0] in (200, 201))
            got = grow_old(database, agent, event, lambda: server.call("POST", f"/v1/agents/{agent}/{path.replace('EVENT', event)}", body and {"event": event, **body}))
            if got != [503]:  # a server waits for a lock for three seconds
                break
        assert got == [204], got
        time.sleep(0.5)
        until(lambda: pg.ask(f"SELECT state FROM decisions WHERE event = '{event}'", database) == [[state]], 5)
    visit("home", "feedback", {"feedback": [1, 0]}, "1")
    visit("slow", "activate/EVENT", {}, "0", activate=False)
    end([server])


def who_needs_a_locked_row_is_refused_alone():
    """One event is locked by another session: those who come together with its feedback wait, and only it is refused."""
    database, (server,) = begin(1, wait_seconds=600)
    for i in range(6):
        check(server.decide(f"e{i}"), 201)
    got, gate, other = {}, Session(database), Session(database)

    def feed(event):
        got[event] = server.feed(event)[0]
    lock = "BEGIN; SELECT 1 FROM decisions WHERE event = '%s' FOR UPDATE;"
    gate.send(lock % "e0")
    other.send(lock % "e3")
    threads = [threading.Thread(target=feed, args=(f"e{i}",)) for i in range(6)]
    threads[0].start()
    waits(database, 1)
    for i, thread in enumerate(threads[1:]):  # they are one group
        thread.start()
        queued(server, i + 1)
    gate.send("COMMIT;")
    for thread in threads:
        thread.join()
    assert got == {f"e{i}": 204 if i != 3 else 503 for i in range(6)}, got
    assert server.is_ready(), server.call("GET", "/readyz")[1]  # nothing is wrong with the database
    other.send("COMMIT;")
    check(server.feed("e3"), 204)
    assert pg.ask("SELECT count(*) FROM feedback", database) == [["6"]]
    gate.process.kill()
    other.process.kill()
    end([server])


def lag(database):
    """From here on no server sees what others do, for up to three seconds, in which it waits for this lock, and then again. What is written needs no catalogue."""
    session = Session(database)
    session.send("BEGIN; LOCK TABLE catalogues; SELECT 1;")
    return session


def a_change_elsewhere_is_not_taken_for_this_one():
    """A PUT of what a server has in memory, while the database has another's: it is not answered as done."""
    database, (one, other) = begin(2)
    slate = lambda: json.loads(pg.ask("SELECT settings FROM agents", database)[0][0])["slate"]
    same = check(one.call("PUT", "/v1/agents/home", AGENT), 200)
    assert same["settings"]["slate"] == slate() == 2 and pg.ask("SELECT version FROM agents", database) == [["1"]]
    got, behind = [], lag(database)
    change = threading.Thread(target=lambda: got.append(other.call("PUT", "/v1/agents/home", {**AGENT, "slate": 1})[0]))
    change.start()
    until(lambda: slate() == 1)
    refused(one.call("PUT", "/v1/agents/home", AGENT), "agent home was changed or deleted at another server", "send it again")
    behind.send("COMMIT;")
    change.join()
    assert got == [200]
    assert until(lambda: (again := one.call("PUT", "/v1/agents/home", AGENT))[0] == 200 and again[1])["settings"]["slate"] == slate() == 2
    behind.process.kill()
    end([one, other])


def an_agent_made_elsewhere_is_not_unknown():
    """Before a server knows it: 503, which clients send again, and no 404. The database is asked twenty times a second at most, whatever is asked for."""
    database, (one, other) = begin(2)
    assert one.decide("e", "new")[0] == other.decide("e", "new")[0] == 404
    behind = lag(database)
    make = threading.Thread(target=other.call, args=("PUT", "/v1/agents/new", AGENT))
    make.start()
    until(lambda: pg.ask("SELECT count(*) FROM agents", database) == [["2"]])
    time.sleep(1)  # the next second
    for got in (one.decide("e", "new"), one.feed("e", "new"), one.call("GET", "/v1/agents/new/log"), one.call("POST", "/new/personalizer/v1.0/rank", {"actions": []})):
        refused(got, "agent new was made at another server", "send it again")
    assert "there is no agent never" in check(one.decide("e", "never"), 404)["error"]["message"]
    start = time.monotonic()
    got = [one.decide("e", "new")[0] for _ in range(100)]
    assert set(got) <= {404, 503} and got.count(503) <= 20 * (2 + time.monotonic() - start), (got, time.monotonic() - start)
    behind.send("COMMIT;")
    make.join()
    until(lambda: one.decide("e", "new")[0] == 201)
    behind.process.kill()
    end([one, other])


def a_log_leaves_out_what_goes_while_it_is_read():
    """Events with stored items are read, and then their items: between the two, retention takes events and items. Those that are left are told."""
    database, (server,) = begin(1)
    path, jsonl = "/v1/agents/shop", {"Content-Type": "application/x-ndjson"}
    shop = {"options": {"algorithm": "comblin-ucb"}, "schema": {"item": {"price": "log"}}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
    check(server.call("PUT", path, shop), 201)
    for price, names in ((1, "abcd"), (9, "e")):
        check(server.call("PUT", path + "/items", "".join('{"id": "i%d", "price": %d}\n' % (i, i + price) for i in range(5)), jsonl), 200)
        for name in names:
            first = check(until(lambda: (got := server.call("POST", path + "/decide", {"event": name}))[0] == 201 and got), 201)["slate"][0]
            if name != "d":  # which waits
                check(server.call("POST", path + "/feedback", {"event": name, "feedback": {first: 1}}), 204)
    until(lambda: server.model("shop") == 5)
    log = lambda: [json.loads(line)["event"] for line in check(server.call("GET", path + "/log"), 200).decode().splitlines()]
    assert log() == ["a", "b", "c", "e", "d"]
    other, got = Session(database), []
    other.send("BEGIN; LOCK TABLE items; SELECT 1;")
    reader = threading.Thread(target=lambda: got.append(server.call("GET", path + "/log")[:2]))
    reader.start()
    until(lambda: pg.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT number%'", database) == [["1"]], pause=0.01)
    other.send("DELETE FROM decisions WHERE event IN ('a', 'b', 'c', 'd'); UPDATE journal SET decision = NULL, data = NULL WHERE kind = 3 AND seq < 5; "
               "DELETE FROM items WHERE until IS NOT NULL; COMMIT;")
    reader.join()
    assert got[0][0] == 200 and [json.loads(line)["event"] for line in got[0][1].decode().splitlines()] == ["e"] == log(), got
    other.process.kill()
    end([server])


@within(1.8)
def a_server_follows_while_it_waits_to_write(seconds):
    """Its rows wait for a lock, for three seconds. Meanwhile it hears of an agent that another server has made."""
    names = list("abcdefgh")
    database, (one, other) = begin(2, agents=names, options={"algorithm": "random", "dim": 2})
    until(lambda: one.learns() > 0 and other.learns() > 0 and one.learns() + other.learns() == len(names))
    mine = pg.ask(f"SELECT a.id, a.name FROM pg_locks l JOIN agents a ON a.id = l.objid::bigint JOIN servers s ON s.backend = l.pid WHERE l.locktype = 'advisory' AND objsubid = 2 "
                  f"AND objid > 0 AND s.name LIKE '%/{one.process.pid}' LIMIT 1", database)[0]
    check(other.decide("x", mine[1]), 201)
    check(other.feed("x", mine[1]), 204)
    until(lambda: pg.ask(f"SELECT count(*) FROM journal WHERE agent = {mine[0]} AND kind = 3", database) == [["1"]])
    lock = Session(database)
    lock.send(f"BEGIN; SELECT 1 FROM hours WHERE agent = {mine[0]} FOR UPDATE;")
    check(other.decide("y", mine[1]), 201)
    check(other.feed("y", mine[1]), 204)
    waits(database, 1)
    time.sleep(0.5)  # so that it was asked which agents it has
    make = threading.Thread(target=other.call, args=("PUT", "/v1/agents/new", AGENT))
    make.start()
    until(lambda: pg.ask("SELECT count(*) FROM agents WHERE name = 'new'", database) == [["1"]], pause=0.01)
    begun = time.monotonic()
    until(lambda: one.call("GET", "/v1/agents/new")[0] == 200, pause=0.01)
    took = time.monotonic() - begun
    lock.send("COMMIT;")
    make.join()
    lock.process.kill()
    end([one, other])
    print(f"   it is known after {took:.2f} s")
    if took > seconds:
        raise Late(f"{took:.2f} s")


def what_is_done_in_the_inbox_is_found_without_what_waits():
    """By one index, also by a plan that was made while the table was empty."""
    database = pg.database(PROGRAM)
    pg.ask("SET plan_cache_mode = force_generic_plan; PREPARE before (bigint) AS " + statement("INBOX_TIDY"), database)
    pg.ask("EXECUTE before (1); INSERT INTO inbox (agent, kind, decision, seq, time) SELECT 1, 5, i, CASE WHEN i % 1000 = 0 THEN i ELSE 0 END, now() - interval '1 hour' FROM generate_series(1, 50000) i", database)
    pg.ask("PREPARE after (bigint) AS " + statement("INBOX_TIDY"), database)
    for name in ("before", "after"):
        plan = "\n".join(row[0] for row in pg.ask(f"EXPLAIN EXECUTE {name} (1)", database))
        assert "inbox_done" in plan and "Seq Scan" not in plan, plan
        pg.ask("ANALYZE inbox", database)
    pg.ask("EXECUTE after (1)", database)
    assert pg.ask("SELECT count(*), max(seq) FROM inbox", database) == [["49950", "0"]]


def who_has_what_the_database_does_not_take_is_refused_alone():
    """Data exceptions, here of a trigger: those who come in one group are kept, and the database does not count as gone."""
    database, (server,) = begin(1)
    bad = {"e2", "e3", "e5", "e6"}
    pg.ask("CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF new.event = ANY (ARRAY[%s]) THEN RAISE EXCEPTION USING ERRCODE = ''22P05'', "
           "MESSAGE = ''no such character''; END IF; RETURN new; END'" % ", ".join(f"''{event}''" for event in sorted(bad)), database)
    pg.ask("CREATE TRIGGER look BEFORE INSERT ON decisions FOR EACH ROW EXECUTE FUNCTION look()", database)
    got, gate = {}, Session(database)

    def ask(event):
        got[event] = server.decide(event)[:2]
    gate.send("BEGIN; SELECT 1 FROM agents FOR UPDATE;")
    threads = [threading.Thread(target=ask, args=(f"e{i}",)) for i in range(8)]
    threads[0].start()
    waits(database, 1)
    for i, thread in enumerate(threads[1:]):
        thread.start()
        queued(server, i + 1)
    gate.send("COMMIT;")
    for thread in threads:
        thread.join()
    gate.process.kill()
    assert {event: status for event, (status, _) in got.items()} == {f"e{i}": 400 if f"e{i}" in bad else 201 for i in range(8)}, got
    assert "does not take" in got["e2"][1]["error"]["message"], got["e2"]
    assert server.decide("e2")[0] == 400 and server.is_ready(), server.call("GET", "/readyz")[1]  # alone, too
    check(server.decide("e8"), 201)
    end([server])


CASES = [a_change_elsewhere_is_not_taken_for_this_one, an_agent_made_elsewhere_is_not_unknown, a_log_leaves_out_what_goes_while_it_is_read, a_server_follows_while_it_waits_to_write,
         what_is_done_in_the_inbox_is_found_without_what_waits, held_events_are_counted_by_the_database, decisions_with_stored_items_and_without_come_together, agents_that_come_back_keep_one_policy, long_waits_hide_no_events,
         retention_takes_turns, locks_that_cannot_be_released_go_with_their_session, groups_that_a_deadlock_undoes_are_run_again, agents_that_move_are_counted_once,
         what_a_server_has_in_hand_is_not_removed, who_needs_a_locked_row_is_refused_alone, who_has_what_the_database_does_not_take_is_refused_alone]
try:
    if __name__ == "__main__":
        main(*[case for case in CASES if not sys.argv[2:] or case.__name__ in sys.argv[2:]])
finally:
    end(started)
    pg.remove()
