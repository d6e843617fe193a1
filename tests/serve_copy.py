#!/usr/bin/env python3
"""serve_copy.py PROGRAM: a folder copied into a database and back. The witnesses are SQL on both sides (sqlite3 and psql), pg_dump for what must not change, the answers that
clients were given, and the agents' bytes."""
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from postgres import Postgres
from service import Server, main, until

PROGRAM = sys.argv[1]
HOME = {"options": {"algorithm": "cn-ts", "dim": 2, "hidden": 4, "floor": 0.2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
AGENTS = {"home": HOME, "slow": {**HOME, "wait_seconds": 600, "aggregate": "sum"}, "soon": {**HOME, "wait_seconds": 4}, "warm": HOME, "gone": HOME,
          "split": {**HOME, "control": 0.5}, "revised": {**HOME, "revise_days": 7},
          "shelf": {"options": {"algorithm": "cn-ts", "hidden": 4, "floor": 0.2}, "schema": {"item": {"price": "log", "kind": "category [a, b]"}}, "slate": 2,
                    "default_feedback": 0, "wait_seconds": 600}}
CONTEXTS = [[0, 1], [1, 0], [0.5, 0.5]]
ODD = 'p\u00e9ch\u00e9 "\\\\ \t\n%s \u2603'  # an event with what tables are read by
SHIFTED = 1 << 40  # of a decision's row, in a folder
pg = Postgres("max_connections=60")
parent = tempfile.mkdtemp(prefix="superarm-copy-", dir="/tmp")
started = []


def check(got, status):
    assert got[0] == status, got[:2]
    return got[1]


def run(*arguments):
    return subprocess.run([PROGRAM, "serve", *arguments], capture_output=True, text=True, timeout=120)


def copy(source, target):
    done = run("--copy", source, target)
    assert done.returncode == 0 and "is copied into" in done.stdout and not done.stderr, done
    return done.stdout


class At(Server):
    """In a folder or a database that is given."""

    def __init__(self, where, *options):
        super().__init__(PROGRAM, f"{parent}/server-{len(started)}", *options)
        self.where = where

    def place(self):
        return ["--store" if "://" in self.where else "--dir", self.where]


def serve(where, *options):
    started.append(At(where, *options))
    return started[-1].start()


def decide(server, agent, event, status=201, **more):
    return check(server.call("POST", f"/v1/agents/{agent}/decide", {"event": event, "contexts": CONTEXTS, **more}), status)


def feedback(server, agent, event, values, status=204, **more):
    return check(server.call("POST", f"/v1/agents/{agent}/feedback", {"event": event, "feedback": values, **more}), status)


def learnt(server, agent):
    return until(lambda: (lambda about: about.get("model") == about["seq"] and about)(check(server.call("GET", "/v1/agents/" + agent), 200)), 30)


# ---- the witnesses ----

FOLDER_OWN = {"checkpoints", "facts", "leftovers"}  # compared apart, or of the folder alone
DATABASE_OWN = {"facts", "policies", "chunks", "servers", "inbox", "hours_left", "catalogues"}
COLUMNS_OWN = {"sum", ("rows", "id"), ("agents", "version"), ("agents", "broken"), ("decisions", "items"),
               ("evaluations", "server"), ("evaluations", "runs"), ("evaluations", "stop")}


def columns_of(table, names):
    return sorted(name for name in names if name not in COLUMNS_OWN and (table, name) not in COLUMNS_OWN)


def folder_rows(folder):
    """{table: rows}, each a tuple by column; text and bytes as hexadecimal digits, None where NULL."""
    database = sqlite3.connect(f"file:{folder}/journal.db?mode=ro", uri=True)
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} - FOLDER_OWN
    found = {}
    for table in tables:
        types = {row[1]: row[2] for row in database.execute(f"PRAGMA table_info({table})")}
        names = columns_of(table, types)
        list_of = ", ".join(name if types[name] == "INTEGER" else f"lower(hex(CAST({name} AS BLOB))) || substr('?', 1, {name} IS NULL)" for name in names)
        rows = database.execute(f"SELECT {list_of} FROM {table}").fetchall()
        if table == "decisions":
            at = names.index("seq")
            rows = [row[:at] + (row[at] - SHIFTED,) + row[at + 1:] for row in rows]
        found["journal" if table == "rows" else table] = (names, sorted(map(repr, rows)))
    database.close()
    return found


def database_rows(database):
    tables = {}
    for table, column, kind in pg.sql("SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'", database):
        if table not in DATABASE_OWN:
            tables.setdefault(table, {})[column] = kind
    found = {}
    for table, types in tables.items():
        names = columns_of(table, types)
        asked = {"text": "encode(convert_to({0}, 'UTF8'), 'hex')", "bytea": "encode({0}, 'hex')"}
        list_of = ", ".join(f"coalesce({asked.get(types[name], '{0}::text').format(name)}, 'NULL')" for name in names)
        rows = [tuple(None if value == "NULL" else int(value) if types[name] not in asked else value for value, name in zip(row, names))
                for row in pg.sql(f"SELECT {list_of} FROM {table}", database)]
        found[table] = (names, sorted(map(repr, rows)))
    return found


def rows_agree(one, other):
    """All columns of all tables; what a wait has left is moved, by the same for all. How far."""
    assert one.keys() == other.keys(), (sorted(one), sorted(other))
    for table in one:
        assert one[table][0] == other[table][0], (table, one[table][0], other[table][0])
        if table != "decisions":
            assert one[table][1] == other[table][1], (table, set(one[table][1]) ^ set(other[table][1]))
    names = one["decisions"][0]
    first, second = ([dict(zip(names, eval(row))) for row in side["decisions"][1]] for side in (one, other))
    second = {row["id"]: row for row in second}
    moved = set()
    assert len(first) == len(second)
    for row in first:
        there = second[row["id"]]
        if row["state"] == 0 and row["due"]:
            moved.add(there["due"] - row["due"])
            there = {**there, "due": row["due"]}
        assert row == there, (row, there)
    assert len(moved) <= 1, moved
    return moved.pop() if moved else 0


def checkpoints(folder):
    """{(agent, row): (settings, time, bytes)} by the journal."""
    database = sqlite3.connect(f"file:{folder}/journal.db?mode=ro", uri=True)
    found = {(abs(agent), seq): (settings, time, open(f"{folder}/{file}", "rb").read())
             for agent, seq, file, settings, time in database.execute("SELECT c.agent, seq, file, c.settings, time FROM checkpoints c JOIN agents a ON a.id = abs(c.agent) AND deleted IS NULL")}
    database.close()
    return found


def policies(database):
    found = {}
    for agent, version, settings, time, size, chunks in pg.sql("SELECT agent, version, encode(convert_to(settings, 'UTF8'), 'hex'), time, size, encode(chunks, 'hex') FROM policies", database):
        parts = dict(pg.sql(f"SELECT encode(hash, 'hex'), encode(data, 'hex') FROM chunks WHERE agent = {agent}", database))
        data = bytes.fromhex("".join(parts[chunks[i:i + 64]] for i in range(0, len(chunks), 64)))
        assert len(data) == int(size) and all(hashlib.sha256(bytes.fromhex(part)).hexdigest() == name for name, part in parts.items())
        found[int(agent), int(version)] = (bytes.fromhex(settings).decode(), int(time), data)
    return found


def version_of(body):
    """Of the catalogue that a decision names: 7 bits a byte behind a 2, the lowest first; None: its request brought its items."""
    if body[:1] != b"\2":
        return None
    value = 0
    for place, byte in enumerate(body[1:]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value


def catalogues_follow(folder, database):
    """What a database has of catalogues beside their items."""
    journal = sqlite3.connect(folder + "/journal.db")
    named = {event: version_of(body) for event, body in journal.execute("SELECT event, body FROM decisions WHERE agent = (SELECT id FROM agents WHERE name = 'shelf')")}
    assert len(set(named.values())) == 2, named  # before a change, and after it
    assert {event: int(version) for event, version in pg.sql("SELECT event, items FROM decisions WHERE items IS NOT NULL", database)} == named
    wanted = journal.execute("SELECT agent, max(max(since), max(coalesce(until, 0))), max(number), count(until), 0 FROM items GROUP BY agent").fetchall()
    assert [tuple(map(int, row)) for row in pg.sql("SELECT agent, version, number, past, purged FROM catalogues", database)] == wanted and wanted[0][3] == 1, wanted
    journal.close()


def a_catalogue_goes_on_where_items_have_gone():
    """Of one agent none is left, of another the last one is gone: versions and numbers are not given again."""
    folder, database = parent + "/sold", pg.database(PROGRAM)
    back, last = parent + "/sold-back", {}
    server = serve(folder)

    def put(name, items):
        return check(server.call("PUT", f"/v1/agents/{name}/items", "".join(json.dumps({"id": item, "price": 2}) + "\n" for item in items), {"Content-Type": "application/x-ndjson"}), 200)["version"]

    def catalogue(name):
        return check(server.call("GET", "/v1/agents/" + name), 200)["catalogue"]
    for name, gone in (("none", ""), ("some", "/c")):
        check(server.call("PUT", "/v1/agents/" + name, {**AGENTS["shelf"], "wait_seconds": 1, "retention_days": 0.00003}), 201)
        put(name, "abc")
        last[name] = check(server.call("DELETE", f"/v1/agents/{name}/items{gone}"), 200)["version"]
    until(lambda: not catalogue("none")["past"] and not catalogue("some")["past"], 60)
    check(server.call("POST", "/v1/agents/some/decide", {"event": "e"}), 201)
    assert server.stop() == 0
    copy(folder, pg.url(database))
    assert pg.sql("SELECT version, number, past FROM catalogues ORDER BY agent", database) == [[str(last["none"]), "3", "0"], [str(last["some"]), "3", "0"]]
    for change, code in (("- 1", 1), ("+ 1", 0)):
        pg.sql(f"UPDATE catalogues SET version = version {change}", database)
        found = run("--check", pg.url(database))
        assert found.returncode == code and ("event e" in found.stdout) == bool(code), found
    copy(pg.url(database), back)
    facts = [sqlite3.connect(place + "/journal.db").execute("SELECT name, value FROM facts WHERE name LIKE 'items%' ORDER BY name").fetchall() for place in (folder, back)]
    assert facts[0] == facts[1] and len(facts[0]) == 4, facts
    for place in (pg.url(database), back):
        server = serve(place)
        for name, version in last.items():
            until(lambda: catalogue(name)["version"] == version)
            assert put(name, "d") > version
        assert server.stop() == 0
    assert pg.sql("SELECT DISTINCT number FROM items WHERE id = 'd'", database) == [["4"]]
    assert sqlite3.connect(back + "/journal.db").execute("SELECT DISTINCT number FROM items WHERE id = 'd'").fetchall() == [(4,)]


def files(folder):
    """What is there; SQLite's own file of who reads is not of it."""
    return {name: open(f"{folder}/{name}", "rb").read() for name in sorted(os.listdir(folder)) if name != "journal.db-shm"} if os.path.isdir(folder) else None


def dump(database):
    """All but the roll of servers, which names those that were there."""
    return [line for line in pg.run("pg_dump", "-h", pg.folder, "-U", "postgres", "-T", "servers", database).stdout.splitlines() if not line.startswith("\\")]


# ---- a shop ----

def fill(server, ledger):
    """Events of every kind; `ledger` gets the answers."""
    for name, agent in AGENTS.items():
        check(server.call("PUT", "/v1/agents/" + name, agent), 201)
    for i in range(30):
        for name in ("home", "gone", "split"):
            more = {"baseline": [2, 1]} if name == "split" else {}
            ledger[name, f"e{i}"] = decide(server, name, f"e{i}", **more)
            feedback(server, name, f"e{i}", [i % 2, i % 3 / 2])
    ledger["home", ODD] = decide(server, "home", ODD)
    feedback(server, "home", ODD, [1, None])
    feedback(server, "home", "e3", [1, 1], id="late")
    for i in range(6):
        ledger["slow", f"w{i}"] = decide(server, "slow", f"w{i}")
        if i % 2:
            feedback(server, "slow", f"w{i}", [0.5, 0.25], id="first")
    for i in range(8):
        ledger["revised", f"r{i}"] = decide(server, "revised", f"r{i}")
        feedback(server, "revised", f"r{i}", [1, 0], id="first")
    learnt(server, "revised")
    feedback(server, "revised", "r2", [0, 1], id="second")
    until(lambda: learnt(server, "revised")["seq"] == 10)
    shelve(server, "PUT", [{"id": f"p{i} \t\\", "price": i + 1, "kind": "ab"[i % 2], "note": "\u2603"} for i in range(9)])
    for i in range(4):
        ledger["shelf", f"s{i}"] = choose(server, f"s{i}", 201)
        if i == 1:
            shelve(server, "PATCH", [{"id": "p1 \t\\", "price": 70}, {"id": "new", "price": 5}])
    feedback(server, "shelf", "s3", [1, 0])
    ledger["home", "held"] = decide(server, "home", "held", activate=False)
    learnt(server, "home")
    model = check(server.call("GET", "/v1/agents/home/model"), 200)
    check(server.call("PUT", "/v1/agents/warm/model", model, {"Content-Type": "application/octet-stream"}), 200)
    check(server.call("PUT", "/v1/agents/home", {**HOME, "slate": 1}), 200)
    number = check(server.call("POST", "/v1/agents/home/evaluations", {"options": {"algorithm": "comblin-ucb", "floor": 0.1}}), 202)["id"]
    until(lambda: check(server.call("GET", f"/v1/agents/home/evaluations/{number}"), 200)["state"] in ("done", "failed"), 60)
    check(server.call("DELETE", "/v1/agents/gone"), 204)
    ledger["soon", "last"] = decide(server, "soon", "last")


def shelve(server, method, items):
    return check(server.call(method, "/v1/agents/shelf/items", "".join(json.dumps(item) + "\n" for item in items), {"Content-Type": "application/x-ndjson"}), 200)


def choose(server, event, status):
    return check(server.call("POST", "/v1/agents/shelf/decide", {"event": event, "where": {"kind": "a"} if event == "s0" else {}}), status)


def picture(server):
    """What clients see of the agents, without what says when."""
    seen = {}
    for name in ("home", "slow", "warm", "split", "revised"):
        about = learnt(server, name)
        counts = {key: about["counts"][key] for key in ("observations", "trainings", "skipped", "diverged_trainings")}  # others are of the server, with a database
        seen[name] = (about["settings"], about["model"], about["seq"], counts, about["sides"],
                      check(server.call("GET", f"/v1/agents/{name}/log?limit=1000"), 200),
                      check(server.call("GET", f"/v1/agents/{name}/evaluations"), 200),
                      check(server.call("POST", f"/v1/agents/{name}/decide?dry=1", {"event": "same", "contexts": CONTEXTS, "explain": True}), 200),
                      check(server.call("GET", f"/v1/agents/{name}/model"), 200))
    seen["shelf"] = [check(server.call("GET", "/v1/agents/shelf/" + path), 200) for path in ("items", "log", "model")]
    return seen


def same(one, other):
    for name in one:
        for a, b in zip(one[name], other[name]):
            assert a == b, (name, a if len(repr(a)) < 2000 else len(a), b if len(repr(b)) < 2000 else len(b))


def shop(name):
    """A stopped one, with its ledger and what clients saw."""
    folder, ledger = f"{parent}/{name}", {}
    server = serve(folder)
    fill(server, ledger)
    seen = picture(server)
    assert server.stop() == 0
    return folder, ledger, seen


def a_folder_becomes_a_database_and_a_folder_again():
    folder, ledger, seen = shop("shop")
    before, kept = files(folder), folder_rows(folder)
    database = pg.database(PROGRAM)
    told = copy(folder, pg.url(database) + "&password=secret")
    assert "secret" not in told and str(len(kept["decisions"][1])) in told, told
    assert files(folder) == before, "the folder was changed"
    moved = rows_agree(kept, database_rows(database))
    assert abs(moved) < 60000, moved
    assert policies(database) == checkpoints(folder) and len(checkpoints(folder)) >= 5
    assert run("--check", pg.url(database)).returncode == 0
    catalogues_follow(folder, database)
    assert len(kept["decisions"][1]) >= 69 and len(kept["evaluations"][1]) == 1 and kept["hours"][1] and kept["feedback"][1]

    back = parent + "/back/"  # before it is served there: the same rows
    copy(pg.url(database), back)
    assert rows_agree(kept, folder_rows(back)) == moved and checkpoints(back) == checkpoints(folder)
    assert not [name for name in os.listdir(parent) if "copying" in name]
    assert run("--check", back).returncode == 0
    facts = [dict(sqlite3.connect(place + "/journal.db").execute("SELECT name, value FROM facts")) for place in (folder, back)]
    assert [facts[0][name] for name in ("last_agent", "last_evaluation")] == [facts[1][name] for name in ("last_agent", "last_evaluation")]

    for place in (pg.url(database), back):
        goes_on(place, ledger, seen)
    name = pg.database()  # a backup, as docs/SERVERS.md has it
    pg.run("pg_dump", "-Fc", "-f", pg.folder + "/shop.dump", pg.url(database))
    pg.run("pg_restore", "-d", pg.url(name), pg.folder + "/shop.dump")
    assert dump(name) == dump(database) and run("--check", pg.url(name)).returncode == 0
    again = parent + "/again"
    pg.sql("UPDATE decisions SET kept = kept + 864000000 WHERE event = 's1'", database)  # as of a server that did not know of a change
    copy(pg.url(database), again)  # of a database that has been served
    journal = sqlite3.connect(again + "/journal.db")
    dates = journal.execute("SELECT kept, body, agent FROM decisions WHERE event = 's1'").fetchone()
    assert [(dates[0],)] == journal.execute("SELECT min(until) FROM items WHERE agent = ? AND until > ?", [dates[2], version_of(dates[1])]).fetchall(), dates[0]
    journal.close()
    server = serve(pg.url(database), "--learn", "no")
    model = check(server.call("GET", "/v1/agents/slow/model"), 200)
    assert server.stop() == 0
    server = serve(again)
    assert check(server.call("GET", "/v1/agents/slow/model"), 200) == model
    assert server.stop() == 0


def goes_on(place, ledger, seen):
    """Served from there, it answers as it did; old events are repeated, those that wait are learnt, and new ones come."""
    server = serve(place)
    same(seen, picture(server))
    assert server.call("GET", "/v1/agents/gone")[0] == 404
    for (agent, event), answer in ledger.items():
        more = {"activate": False} if event == "held" else {"baseline": [2, 1]} if agent == "split" else {}
        if agent == "shelf":
            assert choose(server, event, 200) == answer, event
        elif agent != "gone":
            assert decide(server, agent, event, 200, **more) == answer, (agent, event)
    assert server.call("POST", "/v1/agents/home/decide", {"event": "e1", "contexts": CONTEXTS[:2]})[0] == 409
    about = learnt(server, "home")
    feedback(server, "home", "e3", [1, 1], id="late")  # a retry
    whole = "://" not in place  # a server of a database counts from its start
    assert learnt(server, "home")["counts"]["late"] == about["counts"]["late"] and (about["counts"]["held"] == 1 or not whole)
    check(server.call("POST", "/v1/agents/home/activate/held"), 204)
    feedback(server, "home", "held", [1, 0])
    until(lambda: learnt(server, "home")["seq"] == about["seq"] + 1)
    feedback(server, "slow", "w1", [0.5, 0.25], id="first")  # another
    feedback(server, "slow", "w2", [1, 0], id="first")
    about = learnt(server, "slow")
    assert (about["counts"]["waiting"] == 6 and about["counts"]["feedback"] == 4) or not whole, about["counts"]
    until(lambda: learnt(server, "soon")["seq"] == 2, 20)  # its wait has ended
    feedback(server, "revised", "r2", [0, 1], id="second")  # a retry
    feedback(server, "revised", "r3", [0, 1], id="second")
    until(lambda: learnt(server, "revised")["seq"] == 11)
    shelve(server, "PATCH", [{"id": "p2 \t\\", "price": 90}])  # versions go on
    choose(server, "s9", 201)
    feedback(server, "shelf", "s0", [1, 1])
    for _ in range(2):
        assert choose(server, "s1", 200) == ledger["shelf", "s1"]
    check(server.call("PUT", "/v1/agents/new", HOME), 201)
    decide(server, "new", "e1")
    number = check(server.call("POST", "/v1/agents/home/evaluations", {"options": {"algorithm": "comblin-ucb", "floor": 0.1}}), 202)["id"]
    assert number == max(about["id"] for about in check(server.call("GET", "/v1/agents/home/evaluations"), 200)["evaluations"])
    assert server.stop() == 0
    assert run("--check", place).returncode == 0


def small(name, end=Server.stop):
    """A stopped folder with few events."""
    folder = f"{parent}/{name}"
    server = serve(folder)
    check(server.call("PUT", "/v1/agents/home", HOME), 201)
    for i in range(5):
        decide(server, "home", f"e{i}")
        feedback(server, "home", f"e{i}", [1, 0])
    end(server)
    return folder


def refused(source, target, *words, code=2):
    """One sentence with these words, and nothing is changed on either side."""
    def state(place):
        name = place.split("?")[0].rsplit("/", 1)[-1]
        return dump(name) if place.startswith("postgres") and ["1"] in pg.sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'") else files(place)
    before = state(source), state(target)
    done = run("--copy", source, target)
    assert done.returncode == code and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words), (words, done)
    after = state(source), state(target)
    for a, b in zip(before, after):
        assert a == b, (words, set(a or ()) ^ set(b or ()))
    assert not [name for name in os.listdir(parent) if "copying" in name]


def what_cannot_be_copied_is_refused():
    folder, database = small("ours"), pg.database(PROGRAM)
    url, new = pg.url(database), parent + "/new"
    done = run("--copy", folder)
    assert done.returncode == 2 and "two values" in done.stderr, done
    refused(folder, new, "a folder and the URL")
    refused(url, url, "a folder and the URL")
    refused(folder, "mysql://localhost/shop", "mysql://localhost/shop is no URL")
    refused(parent + "/nowhere", url, "nowhere has no journal.db")
    assert not os.path.exists(parent + "/nowhere")
    os.mkdir(parent + "/other")
    open(parent + "/other/notes.txt", "w").write("mine")
    refused(parent + "/other", url, "no journal.db")
    theirs = sqlite3.connect(parent + "/other/journal.db")
    theirs.execute("CREATE TABLE customers (name TEXT)")
    theirs.close()
    refused(parent + "/other", url, "not a journal of superarm serve")
    refused(folder, pg.url("nowhere"), "nowhere")
    refused(folder, pg.url(pg.database()), "no tables yet")

    server = serve(folder)
    decide(server, "home", "while")
    done = run("--copy", folder, url)
    assert done.returncode == 2 and "in use" in done.stderr and pg.sql("SELECT count(*) FROM agents", database) == [["0"]], done
    assert server.stop() == 0
    server = serve(url)
    refused(folder, url, "is served")
    check(server.call("PUT", "/v1/agents/home", HOME), 201)
    done = run("--copy", url, new)
    assert done.returncode == 2 and "is served" in done.stderr and not os.path.exists(new), done
    assert server.stop() == 0
    refused(folder, url, "not empty")
    refused(url, folder, "not an empty folder")
    refused(url, parent + "/other/notes.txt", "not an empty folder")
    refused(url, parent + "/nowhere/new", "cannot be written to")

    empty = pg.database(PROGRAM)
    pg.sql("CREATE ROLE guest LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", empty)
    refused(folder, pg.url(empty, "guest"), "guest", "may not")
    pg.sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO guest; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO guest", empty)
    refused(folder, pg.url(empty, "guest"), "permission denied for sequence", code=1)
    pg.sql("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO guest", empty)
    copy(folder, pg.url(empty, "guest"))

    for place, name in ((url, database), (pg.url(pg.database(PROGRAM)), f"shop{pg.count}")):
        pg.sql("UPDATE facts SET value = '99' WHERE name = 'format'", name)  # of a newer version, with which this one could be served
        refused(*((place, new) if name == database else (folder, place)), "newer version")
    older, fresh = sqlite3.connect(folder + "/journal.db"), pg.url(pg.database(PROGRAM))
    for format, words in ((99, "newer version"), (2, "--migrate")):
        older.execute(f"PRAGMA user_version = {format}")
        refused(folder, fresh, words)
    older.execute("PRAGMA user_version = 3")
    older.execute("UPDATE decisions SET answer = 'x' || answer WHERE event = 'e1'")
    older.commit()
    older.close()
    refused(folder, fresh, "damaged", code=1)


def a_lock(database, mode):
    """Somebody else's, on the last table: a copy comes so far, and no further."""
    holder = subprocess.Popen(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"][:4 * (os.getuid() == 0)] + [
        pg.bin + "/psql", "-h", pg.folder, "-U", "postgres", "-d", database, "-c", f"BEGIN; LOCK TABLE evaluations IN {mode} MODE; SELECT pg_sleep(100)"],
        cwd=pg.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: pg.sql("SELECT count(*) FROM pg_locks WHERE relation = 'evaluations'::regclass AND granted", database) == [["1"]])
    return holder


def unlock(holder, database):
    pg.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
    holder.wait()
    until(lambda: pg.sql("SELECT count(*) FROM pg_locks WHERE relation = 'evaluations'::regclass", database) == [["0"]])


def a_copy_that_is_cut_off_leaves_nothing():
    folder, database = small("cut", Server.kill), pg.database(PROGRAM)
    url, new, clean = pg.url(database), parent + "/whole", dump(database)

    def killed(source, target, mode):
        holder = a_lock(database, mode)
        process = subprocess.Popen([PROGRAM, "serve", "--copy", source, target], stdout=subprocess.DEVNULL)
        until(lambda: pg.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY %evaluations%' AND wait_event_type = 'Lock'", database) == [["1"]])
        left = [name for name in os.listdir(parent) if "copying" in name]
        process.kill()
        process.wait()
        unlock(holder, database)
        return left
    killed(folder, url, "SHARE")  # which is read, and not written
    assert dump(database) == clean
    holder = a_lock(database, "SHARE")
    done = run("--copy", folder, url)  # nobody ends it: it gives up
    assert done.returncode == 1 and "lock timeout" in done.stderr, done
    unlock(holder, database)
    assert dump(database) == clean
    copy(folder, url)
    full = dump(database)
    left = killed(url, new, "ACCESS EXCLUSIVE")
    assert len(left) == 1 and not os.path.exists(new) and os.path.exists(f"{parent}/{left[0]}/journal.db"), left
    assert dump(database) == full
    keep = parent + "/whole.copying-backup"  # made by hand, of the same length; and a copy of what was left
    os.mkdir(keep)
    open(keep + "/lock", "w").close()
    open(keep + "/journal.db", "w").close()
    shutil.copytree(f"{parent}/{left[0]}", parent + "/whole.copying-second")
    copy(url, new)  # takes what was left away, and nothing else
    assert sorted(name for name in os.listdir(parent) if "copying" in name) == ["whole.copying-backup", "whole.copying-second"]
    assert sorted(os.listdir(keep)) == ["journal.db", "lock"] and not [name for name in os.listdir(new) if "copying" in name]
    for name in ("backup", "second"):
        shutil.rmtree(f"{parent}/whole.copying-{name}")
    assert rows_agree(folder_rows(folder), folder_rows(new)) == 0
    models = []
    for where in (folder, url, new):  # the folder's process was killed: its log is read, and what no checkpoint has is learnt again
        server = serve(where)
        assert learnt(server, "home")["model"] == 6
        models.append(check(server.call("GET", "/v1/agents/home/model"), 200))
        assert server.stop() == 0
    assert models[0] == models[1] == models[2]


def row_sum(*values):
    """The checksum of a row, as store_sqlite_sum.c describes it."""
    word, odd = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def step(h, value):
        h ^= value & word
        return ((h << 29 | h >> 35) & word) * odd & word
    h = 0x5341523153415231
    for value in values:
        h = step(h, 1 if isinstance(value, int) else 3)
        if isinstance(value, int):
            h = step(h, value)
            continue
        data = value.encode()
        h = step(h, len(data))
        for at in range(0, len(data) - len(data) % 8 + 1, 8):
            h = step(h, int.from_bytes(data[at:at + 8], "little"))
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & word
    return (h ^ h >> 32) & ((1 << 62) - 1) | 1 << 62


def waits_go_on_for_as_long_as_they_had_left():
    """The folder's clock of waits is ten days ahead of the day: so is what waits by it."""
    folder, database = f"{parent}/ahead", pg.database(PROGRAM)
    server = serve(folder)
    check(server.call("PUT", "/v1/agents/slow", {**HOME, "wait_seconds": 3600}), 201)
    decide(server, "slow", "before")
    assert server.stop() == 0
    days = 10 * 86400000
    with sqlite3.connect(folder + "/journal.db") as journal:
        value = journal.execute("SELECT value FROM facts WHERE name = 'waits'").fetchone()[0] + days
        journal.execute("UPDATE facts SET value = ?, sum = ? WHERE name = 'waits'", [value, row_sum("waits", value)])
    journal.close()
    server = serve(folder)
    decide(server, "slow", "after")
    until(lambda: learnt(server, "slow")["counts"]["learnt"] == 1)  # the first was over with the jump
    assert server.stop() == 0
    copy(folder, pg.url(database))
    moved = rows_agree(folder_rows(folder), database_rows(database))
    assert -days - 10000 < moved < -days + 10000, moved
    left = int(pg.sql("SELECT due - (extract(epoch from now()) * 1000)::bigint FROM decisions WHERE state = 0", database)[0][0])
    assert 3500000 < left <= 3600000, left


def what_servers_left_for_each_other_comes_along():
    """Servers that do not learn took requests, and are gone: feedback that ends events or revises them, a change of settings, sums."""
    database = pg.database(PROGRAM)
    url = pg.url(database)
    server = serve(url)
    check(server.call("PUT", "/v1/agents/home", {**HOME, "revise_days": 7}), 201)
    decide(server, "home", "e0")
    feedback(server, "home", "e0", [1, 0])
    until(lambda: learnt(server, "home")["seq"] == 2)
    assert server.stop() == 0
    server = serve(url, "--learn", "no")
    for i in range(1, 41):
        decide(server, "home", f"e{i}")
        feedback(server, "home", f"e{i}", [1, 0])

    def change():
        try:
            server.call("PUT", "/v1/agents/home", {**HOME, "revise_days": 7, "slate": 1, "control": 0.3})
        except OSError:  # killed while it waits for one that learns
            pass
    threading.Thread(target=change, daemon=True).start()
    until(lambda: pg.sql("SELECT count(*) FROM inbox WHERE seq = 0", database) == [["1"]])
    feedback(server, "home", "e0", [0, 1], id="again")  # revises it
    until(lambda: pg.sql("SELECT count(*) FROM inbox WHERE seq = 0", database) == [["2"]])
    server.kill()
    assert int(pg.sql("SELECT count(*) FROM hours_left", database)[0][0]) > 0
    before, new = dump(database), parent + "/taken"
    until(lambda: run("--copy", url, new).returncode == 0, 20, 0.5)  # the server is gone, and not yet forgotten
    assert dump(database) == before, "the database was changed"
    hours = [json.loads(row[0]) for row in sqlite3.connect(new + "/journal.db").execute("SELECT data FROM hours")]
    assert sum(hour["sides"]["agent"]["decisions"] for hour in hours) == sum(hour["feedback"] for hour in hours) - 1 == 41, hours
    server = serve(new)
    about = until(lambda: (lambda about: about["counts"]["learnt"] == 41 and about)(learnt(server, "home")))
    since = (40, 1)  # of the sides, since the control was changed: without e0, and what revised it
    assert about["seq"] == 44 and about["settings"]["slate"] == 1 and (about["sides"]["agent"]["events"], about["sides"]["agent"]["reward"]) == since, about
    model = check(server.call("GET", "/v1/agents/home/model"), 200)
    assert server.stop() == 0 and run("--check", new).returncode == 0
    server = serve(url)  # and a server that learns comes to the same
    until(lambda: learnt(server, "home")["seq"] == 44)
    about = learnt(server, "home")
    assert (about["sides"]["agent"]["events"], about["sides"]["agent"]["reward"]) == since, about
    assert check(server.call("GET", "/v1/agents/home/model"), 200) == model
    assert server.stop() == 0


def what_a_folder_cannot_take_the_place_of_is_refused_first():
    """Before all is copied. An empty folder keeps its group and mode."""
    database, place = pg.database(PROGRAM), parent + "/places"
    url = pg.url(database)
    server = serve(url)
    check(server.call("PUT", "/v1/agents/home", HOME), 201)
    assert server.stop() == 0
    until(lambda: run("--copy", url, place).returncode == 0, 20, 0.5)
    shutil.rmtree(place)
    os.makedirs(place + "/empty")
    os.symlink("empty", place + "/link")
    os.symlink("nothing", place + "/dangling")

    def refuse(target, *words, cwd=None):
        done = subprocess.run([os.path.abspath(PROGRAM), "serve", "--copy", url, target], capture_output=True, text=True, cwd=cwd)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words), (target, done)
        assert sorted(os.listdir(place)) == ["dangling", "empty", "link"] and not os.listdir(place + "/empty")
    for name in ("link", "link/", "dangling"):
        refuse(f"{place}/{name}", "symbolic link")
    for name in (".", "./", "../empty/."):
        refuse(name, "own name", cwd=place + "/empty")
    if os.getuid() == 0:
        for options in (["-t", "tmpfs", "none"], ["--bind", place + "/empty"]):  # another file system, and the same
            subprocess.run(["mount", *options, place + "/empty"], check=True)
            try:
                refuse(place + "/empty/", "mount point")
            finally:
                subprocess.run(["umount", place + "/empty"], check=True)
        os.chown(place + "/empty", 12345, -1)
        refuse(place + "/empty", "another user")
        os.chown(place + "/empty", 0, 12345)
    os.chmod(place + "/empty", 0o2750)
    before = os.stat(place + "/empty")
    copy(url, place + "/empty/")
    after = os.stat(place + "/empty")
    assert after.st_ino != before.st_ino and (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid), (before, after)
    server = serve(place + "/empty")
    assert learnt(server, "home")["model"] == 1 and server.stop() == 0


def limits_of_the_database_cut_nothing():
    """A statement that takes longer than its statement_timeout, here since it waits for somebody else."""
    folder, database, new = small("limits"), pg.database(), parent + "/unlimited"
    url = pg.url(database)
    pg.sql(f"ALTER DATABASE {database} SET statement_timeout = '300ms'")

    def beside(lock, *arguments):
        holder = subprocess.Popen([pg.bin + "/psql", "-h", pg.folder, "-U", "postgres", "-d", database, "-qAt", "-c", "SET statement_timeout = 0", "-c",
                                   f"BEGIN; {lock}", "-c", "SELECT 'has it'", "-c", "SELECT pg_sleep(1.5)"], stdout=subprocess.PIPE, text=True)
        assert "has it" in (holder.stdout.readline(), holder.stdout.readline())[-1]
        done = run(*arguments)
        holder.communicate()
        assert done.returncode == 0 and not done.stderr, done
    beside("SELECT 1 FROM pg_advisory_xact_lock(x'53415231'::bigint)", "--store", url, "--migrate")
    for arguments in (["--copy", folder, url], ["--check", url], ["--copy", url, new]):
        beside("LOCK TABLE agents IN ACCESS EXCLUSIVE MODE; SELECT 1", *arguments)


def a_copy_beside_a_paused_server_is_refused():
    """It is silent, and holds no agent: its sessions say that it would go on."""
    folder, database, new = small("beside"), pg.database(PROGRAM), parent + "/paused"
    url = pg.url(database)
    server = serve(url)
    check(server.call("PUT", "/v1/agents/home", HOME), 201)
    learnt(server, "home")
    paused = serve(url, "--learn", "no")
    until(lambda: paused.call("GET", "/v1/agents/home")[1].get("model") == 1)
    assert server.stop() == 0
    paused.process.send_signal(signal.SIGSTOP)
    until(lambda: pg.sql("SELECT max(beat) < now() - interval '6 s' FROM servers", database) == [["t"]], 20)
    refused(url, new, "paused", "pg_terminate_backend")
    refused(folder, url, "paused", "pg_terminate_backend")
    paused.process.send_signal(signal.SIGCONT)
    decide(paused, "home", "after")
    paused.kill()
    until(lambda: run("--copy", url, new).returncode == 0, 20, 0.5)  # it is gone, and not yet forgotten
    assert [row for row in sqlite3.connect(new + "/journal.db").execute("SELECT event FROM decisions")] == [("after",)]


def late_feedback_on_an_event_that_nobody_has_closed_comes_along():
    """Its wait was over, and the server that learns was gone: the folder learns it as the database does."""
    database, new = pg.database(PROGRAM), parent + "/late"
    url = pg.url(database)
    server = serve(url)
    check(server.call("PUT", "/v1/agents/home", {**HOME, "wait_seconds": 3, "revise_days": 7}), 201)
    learnt(server, "home")
    other = serve(url, "--learn", "no")
    decide(server, "home", "e")
    server.kill()
    until(lambda: pg.sql("SELECT due < extract(epoch from now()) * 1000 FROM decisions", database) == [["t"]])
    feedback(other, "home", "e", [1, 0.5])
    assert pg.sql("SELECT d.state, f.late FROM decisions d JOIN feedback f ON f.decision = d.id", database) == [["0", "1"]]
    assert other.stop() == 0
    until(lambda: run("--copy", url, new).returncode == 0, 20, 0.5)
    rows, models = [], []
    for place in (url, new):
        server = serve(place)
        until(lambda: learnt(server, "home")["seq"] == 3)
        models.append((learnt(server, "home")["seq"], check(server.call("GET", "/v1/agents/home/model"), 200)))
        rows.append([json.loads(line)["feedback"] for line in check(server.call("GET", "/v1/agents/home/log"), 200).splitlines()])
        sides = check(server.call("GET", "/v1/agents/home"), 200)["sides"]
        assert sides["agent"]["reward"] == 1.5, (place, sides)
        assert server.stop() == 0 and run("--check", place).returncode == 0
    assert rows[0] == rows[1] and models[0] == models[1] and models[0][0] == 3, (rows, models[0][0], models[1][0])


try:
    if __name__ == "__main__":
        main(a_folder_becomes_a_database_and_a_folder_again, what_cannot_be_copied_is_refused, a_copy_that_is_cut_off_leaves_nothing,
             a_catalogue_goes_on_where_items_have_gone, waits_go_on_for_as_long_as_they_had_left, what_servers_left_for_each_other_comes_along,
             what_a_folder_cannot_take_the_place_of_is_refused_first, limits_of_the_database_cut_nothing, a_copy_beside_a_paused_server_is_refused, late_feedback_on_an_event_that_nobody_has_closed_comes_along)
finally:
    for server in started:
        if server.process.poll() is None:
            server.kill()
    shutil.rmtree(parent, ignore_errors=True)
