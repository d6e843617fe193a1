#!/usr/bin/env python3
"""Stored catalogues and revisions where servers share a database: any server changes them, all choose from them. The witness is a ledger of items by version that
clients keep, a ridge regression of their feedback, and SQL."""
import functools
import io
import json
import os
import random
import sys
import threading
import time
import zipfile

sys.path.insert(0, os.path.dirname(__file__))
import cluster
from cluster import PROGRAM, check, end, run
from postgres import Postgres
from service import main, until

pg = Postgres("max_connections=60")
Member, sound = functools.partial(cluster.Member, pg), functools.partial(cluster.sound, pg)
LINES = {"Content-Type": "application/x-ndjson"}
SCHEMA = {"item": {"price": "log", "stock": "flag", "kind": "category [hat, shoe]"}}
AGENT = {"options": {"algorithm": "comblin-ucb", "floor": 0.2}, "schema": SCHEMA, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
PATH = "/v1/agents/shop"


def pair(*options, **settings):
    database = pg.database(PROGRAM)
    servers = [Member(database, *options).start() for _ in range(2)]
    check(servers[0].call("PUT", PATH, {**AGENT, **settings}), 201)
    for server in servers:
        until(lambda: server.call("GET", PATH)[1].get("model") == 1)
    return database, *servers


def lines(items):
    return "".join(json.dumps(item) + "\n" for item in items)


def stored(server):
    return {item["id"]: item for item in map(json.loads, check(server.call("GET", PATH + "/items?limit=10000"), 200).decode().splitlines())}


def change(server, method, items=None, path=""):
    """Until it is taken: others change the catalogue, too. Its answer."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        got = server.call(method, PATH + "/items" + path, None if items is None else lines(items), LINES if items is not None else None)
        if got[0] != 503:
            return check(got, 200)
        assert "try again" in got[1]["error"]["message"], got
        time.sleep(0.01)
    raise AssertionError("it was never taken")


def version(server):
    return check(server.call("GET", PATH), 200)["catalogue"]["version"]


def model(server):
    """The agent's arrays, byte by byte."""
    archive = zipfile.ZipFile(io.BytesIO(check(server.call("GET", PATH + "/model"), 200)))
    return {name: archive.read(name) for name in archive.namelist()}


def settle(server, database):
    """All that was sent has been learnt; the model then."""
    rows = until(lambda: pg.sql("SELECT (SELECT count(*) FROM decisions WHERE state = 0 AND due > 0) + (SELECT count(*) FROM inbox WHERE seq = 0)", database) == [["0"]] and
                 int(pg.sql("SELECT max(seq) FROM journal", database)[0][0]))
    until(lambda: server.call("GET", PATH)[1].get("model") == rows)
    return rows


def replayed(servers, database, before):
    """Another server, from the first row on, comes to the same agent."""
    end(servers)
    pg.sql("DELETE FROM policies; DELETE FROM chunks", database)
    fresh = Member(database).start()
    settle(fresh, database)
    assert model(fresh) == before, "the journal alone makes the same agent"
    fresh.kill()
    sound(database)


waiting = {}  # what the last test looks at: items of the past go after half a minute


def items_of_the_past_begin():
    """Two agents whose items change once; a decision of the first names what was there before."""
    database = pg.database(PROGRAM)
    one, two = servers = [Member(database).start() for _ in range(2)]
    for name in ("named", "free"):
        path = f"/v1/agents/{name}"
        check(one.call("PUT", path, {**AGENT, "retention_days": 0.01}), 201)
        check(one.call("PUT", path + "/items", lines([{"id": f"p{i}", "price": i + 1} for i in range(4)]), LINES), 200)
        until(lambda: two.call("GET", path + "/items/p3")[0] == 200)
        if name == "named":
            until(lambda: two.call("GET", path)[1]["model"] == 1)
            waiting["answer"] = check(two.call("POST", path + "/decide", {"event": "e", "slate": 4}), 201)
        check(one.call("PUT", path + "/items", lines([{"id": f"p{i}", "price": i + 100} for i in range(2)]), LINES), 200)
    waiting.update(database=database, servers=servers)


def items_of_the_past_go_when_no_decision_names_them():
    database, (one, two) = waiting["database"], waiting["servers"]
    past = lambda server, name: check(server.call("GET", f"/v1/agents/{name}"), 200)["catalogue"]["past"]
    until(lambda: past(one, "free") == past(two, "free") == 0, seconds=90)
    assert pg.sql("SELECT count(*) FROM items WHERE agent = 2", database) == [["2"]]
    assert past(one, "named") == past(two, "named") == 4
    assert check(one.call("POST", "/v1/agents/named/decide", {"event": "e", "slate": 4}), 200) == waiting["answer"]
    check(one.call("POST", "/v1/agents/named/feedback", {"event": "e", "feedback": {waiting["answer"]["slate"][0]: 1}}), 204)
    until(lambda: two.call("GET", "/v1/agents/named")[1]["model"] == 2)
    line = json.loads(check(two.call("GET", "/v1/agents/named/log"), 200))
    assert line["items"] == [{"id": f"p{i}", "price": i + 1} for i in range(4)], line
    check(two.call("DELETE", "/v1/agents/named/events/e"), 204)
    until(lambda: past(one, "named") == past(two, "named") == 0, seconds=30)
    end(waiting["servers"])
    sound(database)


def a_change_is_seen_by_all():
    database, one, two = pair()
    items = {f"p{i}": {"id": f"p{i}", "price": i + 1.5, "stock": i % 2 == 0, "note": 'a "tab\t" and a \\ back', "kind": "hat"} for i in range(50)}
    lags = []

    def seen(server, by):
        begin = time.monotonic()
        assert stored(by) == items, "who answers a change has it"
        until(lambda: stored(server) == items, pause=0.002)
        lags.append(time.monotonic() - begin)
        assert version(server) == version(by)
    first = change(one, "PUT", items.values())
    seen(two, one)
    for i in range(12):
        at, other = (one, two) if i % 2 else (two, one)
        items["p3"] = {**items["p3"], "price": i + 0.25}
        items[f"n{i}"] = {"id": f"n{i}", "price": 2}
        change(at, "PATCH", [{"id": "p3", "price": i + 0.25}, {"id": f"n{i}", "price": 2}])
        slate = check(other.call("POST", PATH + "/decide", {"items": [f"n{i}", "p3"], "event": f"named-{i}"}), 201)["slate"]  # at once: it asks the database
        assert sorted(slate) == [f"n{i}", "p3"]
        assert check(at.call("POST", PATH + "/decide", {"items": [f"n{i}", "p3"], "event": f"named-{i}"}), 200)["slate"] == slate
        del items[f"p{i + 10}"]
        change(other, "DELETE", path=f"/p{i + 10}")
        seen(at, other)
    assert sorted(lags)[len(lags) // 2] < 2, lags
    print(f"   others have a change after {1000 * sorted(lags)[len(lags) // 2]:.0f} ms, {1000 * max(lags):.0f} ms at most")
    again = change(two, "PUT", items.values())
    assert (again["added"], again["changed"], again["removed"]) == (0, 0, 0) and again["version"] == version(one) > first["version"]
    for bad, status in (("{", 400), ('{"id": "x", "price": "dear"}', 400)):
        assert two.call("PATCH", PATH + "/items", bad, LINES)[0] == status
    assert two.call("DELETE", PATH + "/items/gone")[0] == 404 and version(one) == version(two) == again["version"] and stored(one) == items
    third = Member(database).start()  # which comes later, and reads it whole
    assert stored(third) == items
    change(third, "DELETE")
    until(lambda: not stored(one) and not stored(two))
    assert check(third.call("DELETE", PATH), 204) == b""
    until(lambda: pg.sql("SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM catalogues)", database) == [["0"]])
    end([one, two, third])


def decisions_keep_the_items_that_they_used():
    """While one server changes prices, decides at both and feedback at the other one; the learner dies in between. The log has the items of the version that each
    decision keeps, by the ledger of who changed them, and a replay makes the same agent."""
    database, one, two = pair()
    items = {f"p{i}": {"id": f"p{i}", "price": 10.0 + i, "stock": True, "kind": "shoe" if i % 3 else "hat"} for i in range(20)}
    ledger = {change(one, "PUT", items.values())["version"]: dict(items)}
    stop, draw, slates, given = threading.Event(), random.Random(4), {}, {}

    def reprice():
        k = 0
        while not stop.is_set():
            some = {f"p{(k + j) % 20}": 5.0 + (k * 7 + j) % 50 for j in range(3)}
            for name, price in some.items():
                items[name] = {**items[name], "price": price}
            answer = change(one if k % 2 else two, "PATCH", [{"id": name, "price": price} for name, price in some.items()])
            ledger[answer["version"]] = dict(items)
            k += 1

    def play(servers, count, name):
        for i in range(count):
            where = draw.choice([{}, {"where": {"kind": "hat"}}, {"items": ["p1", "p2", "p3", "p4"]}])
            event = f"{name}{i}"
            at, other = (servers[i % len(servers)], servers[(i + 1) % len(servers)])
            answer = check(at.call("POST", PATH + "/decide", {"event": event, **where}), 201)
            slates[event] = answer["slate"]
            assert check(other.call("POST", PATH + "/decide", {"event": event, **where}), 200) == answer, "the same elsewhere, with the items of then"
            given[event] = [draw.randrange(2), draw.randrange(2)]
            check(other.call("POST", PATH + "/feedback", {"event": event, "feedback": dict(zip(answer["slate"], given[event]))}), 204)
    changes = threading.Thread(target=reprice)
    changes.start()
    try:
        play([one, two], 120, "a")
    finally:
        stop.set()
        changes.join()
    settle(one, database)
    learner = next(server for server in (one, two) if server.learns())
    left = two if learner is one else one
    learner.kill()
    until(lambda: left.learns())
    ledger[change(left, "PATCH", [{"id": "p5", "price": 77}])["version"]] = {**items, "p5": {**items["p5"], "price": 77}}
    items["p5"] = {**items["p5"], "price": 77}
    play([left], 20, "b")
    settle(left, database)
    named = dict(pg.sql("SELECT event, items FROM decisions WHERE items IS NOT NULL", database))
    assert len(named) == 140 and len(set(named.values())) > 10, len(set(named.values()))
    log = [json.loads(line) for line in check(left.call("GET", PATH + "/log?limit=1000"), 200).decode().splitlines()]
    assert len(log) == 140
    for line in log:
        was = ledger[int(named[line["event"]])]
        assert all(was[item["id"]] == item for item in line["items"]) and len(line["items"]) in (4, 7, 20), line["event"]
        assert line["slate"] == slates[line["event"]] and line["feedback"] == given[line["event"]]
    replayed([left], database, model(left))


def no_change_is_lost():
    """Clients at both servers change the same items, each its own field, and add and remove items of their own."""
    database, one, two = pair()
    change(one, "PUT", [{"id": f"p{i}", "price": 1} for i in range(5)])
    ledgers, versions, failed = {}, [], []

    def client(number):
        draw, mine = random.Random(number), {}
        try:
            for k in range(25):
                server, item = draw.choice((one, two)), f"p{draw.randrange(5)}"
                answers = [change(server, "PATCH", [{"id": item, f"f{number}": k}, {"id": f"own{number}-{k}", "price": k + 1}])]
                mine[(item, f"f{number}")] = k
                mine[f"own{number}-{k}"] = True
                if k % 4 == 3:
                    answers.append(change(draw.choice((one, two)), "DELETE", path=f"/own{number}-{k - 1}"))
                    mine[f"own{number}-{k - 1}"] = False
                versions.extend(answer["version"] for answer in answers)
                assert [answer["version"] for answer in answers] == sorted(answer["version"] for answer in answers)
        except Exception as error:  # a thread's own would be lost
            failed.append(error)
        ledgers[number] = mine
    threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed, failed
    assert len(versions) == len(set(versions)) == 4 * (25 + 6), "each change is a version"
    until(lambda: version(one) == version(two) == max(versions))
    for server in (one, two):
        found = stored(server)
        for mine in ledgers.values():
            for name, value in mine.items():
                assert (name in found) == value if isinstance(name, str) else found[name[0]][name[1]] == value, (name, value)
        assert len(found) == 5 + sum(value is True for mine in ledgers.values() for value in mine.values())
    rows = pg.sql("SELECT number, since, until FROM items ORDER BY number, since", database)
    for a, b in zip(rows, rows[1:]):
        assert a[0] != b[0] or a[2] == b[1], (a, b)  # the next begins where one ends
    assert pg.sql("SELECT past FROM catalogues", database) == pg.sql("SELECT count(*) FROM items WHERE until IS NOT NULL", database)
    # the database goes down while both change: what was acknowledged is there
    kept, stop = {}, threading.Event()

    def steady(number, server):
        k = 0
        while not stop.is_set():
            k += 1
            if server.call("PATCH", PATH + "/items", lines([{"id": "p0", f"g{number}": k}]), LINES)[0] == 200:
                kept[number] = k
    threads = [threading.Thread(target=steady, args=(i, server)) for i, server in enumerate((one, two))]
    [thread.start() for thread in threads]
    until(lambda: len(kept) == 2)
    pg.restart("immediate")
    before = dict(kept)  # what follows is answered after it: what was cut off by it may have been kept or not
    until(lambda: all(kept[i] > before[i] + 1 for i in before))
    stop.set()
    [thread.join() for thread in threads]
    until(lambda: version(one) == version(two))
    assert all(stored(server)["p0"][f"g{i}"] == kept[i] for server in (one, two) for i in kept), (kept, stored(one)["p0"])
    end([one, two])
    sound(database)


def what_was_replaced_long_ago_is_not_chosen_from():
    """A server that hears of no change, here since SQL makes one that it cannot see: its decides are refused, and nothing is kept that names items which may be gone."""
    database, one, two = pair()
    change(one, "PUT", [{"id": f"p{i}", "price": 1} for i in range(5)])
    end([one, two])
    pg.sql("UPDATE catalogues SET version = version - 100000; UPDATE items SET since = since - 100000", database)
    server = Member(database).start()
    decide = lambda event: server.call("POST", PATH + "/decide", {"event": event})
    check(decide("good"), 201)
    for broken, mended in (("UPDATE items SET until = since + 1 WHERE number = 1", "UPDATE items SET until = NULL"),
                           ("UPDATE catalogues SET purged = version + 1", "UPDATE catalogues SET purged = 0")):
        pg.sql(broken, database)
        assert "replaced long ago" in check(decide("late"), 503)["error"]["message"]
        check(decide("good"), 200)  # a retry of what is kept
        pg.sql(mended, database)
    pg.sql("UPDATE items SET until = (SELECT (extract(epoch from now()) * 1000)::bigint) WHERE number = 1", database)  # it lags by seconds
    check(decide("recent"), 201)
    assert pg.sql("SELECT event FROM decisions ORDER BY id", database) == [["good"], ["recent"]]
    end([server])
    pg.sql("UPDATE catalogues SET past = 1, version = (SELECT max(until) FROM items)", database)
    sound(database)
    for damage, words in (("past = 0", "do not fit"), ("past = 1, version = version - 1000", "do not fit"), ("version = version + 1000, purged = version + 1", "event good")):
        pg.sql("UPDATE catalogues SET " + damage, database)
        found = run("--check", pg.url(database))
        assert found.returncode == 1 and words in found.stdout, found


def older_servers_are_not_left_behind():
    """What a server of the version before cannot read is not begun beside it."""
    database, one, two = pair()
    pg.sql("INSERT INTO servers (id, name, version, keys, learns, backend, beat) VALUES ('old', 'old', '0', '', false, 0, now() + interval '1 hour')", database)
    for got in (one.call("PUT", PATH + "/items", lines([{"id": "a", "price": 1}]), LINES), two.call("PUT", PATH, {**AGENT, "revise_days": 1})):
        assert "older version" in check(got, 409)["error"]["message"]
    assert pg.sql("SELECT (SELECT count(*) FROM catalogues), (SELECT value FROM facts WHERE name = 'readers')", database) == [["0", "1"]]
    assert check(one.call("GET", PATH), 200)["settings"]["revise_days"] == 0
    pg.sql("DELETE FROM servers WHERE id = 'old'", database)
    change(one, "PUT", [{"id": "a", "price": 1}])
    assert pg.sql("SELECT value FROM facts WHERE name = 'readers'", database) == [["2"]]
    pg.sql("INSERT INTO servers (id, name, version, keys, learns, backend, beat) VALUES ('old', 'old', '0', '', false, 0, now() + interval '1 hour')", database)
    change(two, "PATCH", [{"id": "b", "price": 1}])  # it was let in before, and has to be restarted in any case
    end([one, two])


def an_event_without_its_items_says_so():
    """Damage: feedback that names items is refused with what is wrong, and nothing is kept."""
    database, server, other = pair(wait_seconds=600)
    change(server, "PUT", [{"id": f"p{i}", "price": i + 1} for i in range(4)])
    slate = check(server.call("POST", PATH + "/decide", {"event": "e"}), 201)["slate"]
    pg.sql("DELETE FROM items", database)
    for got in (server.call("POST", PATH + "/feedback", {"event": "e", "feedback": {slate[0]: 1}}), server.call("POST", PATH + "/decide", {"event": "e"})):
        assert got[0] == 503 and "event e names an item that is not in the journal" in got[1]["error"]["message"], got
    assert pg.sql("SELECT count(*) FROM feedback", database) == [["0"]]
    end([server, other])


def late_feedback_revises_at_any_server():
    """Clicks and then orders, to different servers and at the same moment; the regression of the last values is the agent's."""
    database, one, two = pair(options={"preset": "paper", "algorithm": "comblin-ucb", "dim": 2, "lambda": 1}, schema=None, revise_days=7, aggregate="sum")
    contexts, slates, values = [[0, 1], [1, 0], [0.5, 0.5], [0.3, 0.8]], {}, {}
    for i in range(30):
        slates[f"e{i}"] = check((one, two)[i % 2].call("POST", PATH + "/decide", {"event": f"e{i}", "contexts": contexts}), 201)["slate"]
        values[f"e{i}"] = [i % 2, 0]
        check((two, one)[i % 2].call("POST", PATH + "/feedback", {"event": f"e{i}", "id": "click", "feedback": [i % 2, None]}), 204)
    settle(one, database)

    def order(server, name, value):
        for i in range(0, 30, 2):
            check(server.call("POST", PATH + "/feedback", {"event": f"e{i}", "id": name, "feedback": [None, value]}), 204)
    threads = [threading.Thread(target=order, args=each) for each in ((one, "shoes", 2), (two, "hat", 3), (two, "hat", 3), (one, "bag", 1))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for i in range(0, 30, 2):
        values[f"e{i}"][1] = 6
    learner = next(server for server in (one, two) if server.learns())
    left = two if learner is one else one
    settle(one, database)
    log = [json.loads(line) for line in check(two.call("GET", PATH + "/log?limit=1000"), 200).decode().splitlines()]
    assert {line["event"]: line["feedback"] for line in log} == values
    chain = {}
    for decision, data in pg.sql("SELECT decision, convert_from(data, 'UTF8') FROM journal WHERE kind IN (3, 5) ORDER BY seq", database):
        data = json.loads(data)
        assert isinstance(data, list) or data["before"] == chain[decision], "each revises what was there"
        chain[decision] = data if isinstance(data, list) else data["now"]
    learner.kill()  # the next one goes on with revisions
    check(left.call("POST", PATH + "/feedback", {"event": "e1", "id": "late", "feedback": [5, None]}), 204)
    values["e1"][0] += 5
    settle(left, database)
    A, b = [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]
    for event, slate in slates.items():
        for arm, value in zip(slate, values[event]):
            x = contexts[arm]
            A = [[A[i][j] + x[i] * x[j] for j in range(2)] for i in range(2)]
            b = [b[i] + x[i] * value for i in range(2)]
    det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
    theta = [(A[1][1] * b[0] - A[0][1] * b[1]) / det, (A[0][0] * b[1] - A[1][0] * b[0]) / det]
    got = check(left.call("POST", PATH + "/decide?dry=1", {"contexts": contexts, "explain": True, "slate": 4}), 200)
    own = [sum(t * x for t, x in zip(theta, contexts[arm])) for arm in got["slate"]]
    assert all(abs(x - y) < 1e-5 for x, y in zip(own, got["estimates"])), (own, got["estimates"])
    check(left.call("DELETE", PATH + "/events/e2"), 204)  # with its revisions
    assert pg.sql("SELECT count(*) FROM journal WHERE kind = 5 AND decision IS NULL AND data IS NULL", database) != [["0"]]
    assert pg.sql("SELECT count(*) FROM journal j WHERE decision IS NOT NULL AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.id = j.decision)", database) == [["0"]]
    end([left])
    fresh = Member(database).start()
    assert check(fresh.call("POST", PATH + "/decide?dry=1", {"contexts": contexts, "explain": True, "slate": 4}), 200)["estimates"] == got["estimates"]
    end([fresh])
    sound(database)


def a_backlog_of_late_feedback_keeps_nobody_waiting():
    """Thousands of entries of one agent: meanwhile another agent's event is learnt, and its settings change. What nobody waits for goes at once."""
    database = pg.database(PROGRAM)
    learner, other = Member(database).start(), Member(database, "--learn", "no").start()
    check(learner.call("PUT", PATH, {**cluster.AGENT, "revise_days": 7}), 201)
    check(learner.call("PUT", "/v1/agents/home", cluster.AGENT), 201)
    for server in (learner, other):
        until(lambda: server.model("shop") == 1 and server.model() == 1)
    check(learner.decide("e", "shop"), 201)
    check(learner.feed("e", "shop"), 204)
    settle(learner, database)
    check(other.call("POST", PATH + "/feedback", {"event": "e", "id": "late", "feedback": [0, 1]}), 204)
    until(lambda: pg.sql("SELECT count(*) FROM journal WHERE kind = 5", database) == [["1"]])
    assert pg.sql("SELECT count(*) FROM inbox WHERE decision IS NOT NULL", database) == [["0"]]
    check(other.decide("h"), 201)
    pg.sql("INSERT INTO inbox (agent, kind, data, decision) SELECT agent, 5, '', id FROM decisions, generate_series(1, 12000) WHERE event = 'e'", database)
    check(other.feed("h"), 204)
    left = until(lambda: pg.ask("SELECT i.count FROM decisions, (SELECT count(*) FROM inbox WHERE seq = 0) i WHERE event = 'h' AND state = 1", database), 60)
    assert int(left[0][0]) > 6000, left
    check(other.call("PUT", "/v1/agents/home", {**cluster.AGENT, "wait_seconds": 1}), 200)
    left = until(lambda: pg.ask("SELECT i.count FROM (SELECT count(*) FROM inbox WHERE seq = 0) i WHERE EXISTS (SELECT 1 FROM journal WHERE kind = 2)", database), 60)
    assert int(left[0][0]) > 1000, left
    until(lambda: pg.sql("SELECT count(*) FROM inbox WHERE decision IS NOT NULL", database) == [["0"]], 60)
    assert pg.sql("SELECT count(*) FROM journal WHERE kind = 5", database) == [["1"]]  # the others told nothing new
    end([learner, other])
    sound(database)


def items_that_fit_no_longer_are_not_read_for_each_decide():
    """After a reset to another schema, and a restart: decides are refused for what they cannot use, and read none of it again. What fits is served at once."""
    count = 2000
    database, one, other = pair(schema={"item": {"stock": "flag"}})
    change(one, "PUT", [{"id": f"p{i}", "price": i + 1 if i + 1 < count else "dear"} for i in range(count)])
    check(one.call("PUT", PATH, {**AGENT, "reset": True}), 200)
    end([one, other])
    read = lambda: int(pg.sql("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'items'", database)[0][0])
    gone = lambda: pg.sql(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()", database) == [["0"]]
    until(gone)
    before = read()
    server = Member(database).start()
    decide = lambda: server.call("POST", PATH + "/decide", {})
    until(lambda: "recovered" not in str(decide()[1]))
    begin = time.monotonic()
    for _ in range(20):
        message = check(decide(), 400)["error"]["message"]
        assert f"p{count - 1} does not fit the agent's schema" in message, message
    print(f"   a decide over items that do not fit takes {1000 * (time.monotonic() - begin) / 20:.1f} ms")
    end([server])
    until(gone)
    assert read() - before < 6 * count, (before, read())
    server = Member(database).start()
    change(server, "PUT", [{"id": f"p{i}", "price": i + 1} for i in range(5)])
    until(lambda: decide()[0] == 201)
    end([server])


try:
    main(items_of_the_past_begin, an_event_without_its_items_says_so, a_change_is_seen_by_all, decisions_keep_the_items_that_they_used, no_change_is_lost, what_was_replaced_long_ago_is_not_chosen_from,
         older_servers_are_not_left_behind, late_feedback_revises_at_any_server, a_backlog_of_late_feedback_keeps_nobody_waiting, items_that_fit_no_longer_are_not_read_for_each_decide, items_of_the_past_go_when_no_decision_names_them)
finally:
    end(cluster.started)
