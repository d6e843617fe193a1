#!/usr/bin/env python3
"""serve_cluster_upgrade.py PROGRAM [OLDER]: servers of neighbouring versions on one database, in a rolling upgrade under load. The newer ones are superarm_next, whose migration adds,
and superarm_far, whose migration breaks what older ones know; or PROGRAM itself beside a real older program. The witness is what clients wrote down, and SQL."""
import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, PROGRAM, Member, check, end, events, gapless, refused, run, same_after_replay, settled, sound, started
from postgres import Postgres
from service import main, until

NEXT, FAR = (os.path.join(os.path.dirname(PROGRAM), name) for name in ("superarm_next", "superarm_far"))
NAMES = ["home", *"abcdefghijkl"]  # each server gets some, but for one start in 8192
pg = Postgres("max_connections=60")


def facts(database):
    return {name: int(value) for name, value in pg.sql("SELECT name, value FROM facts WHERE name IN ('format', 'readers')", database)}


class Load:
    """Clients who ask one server, and once more another one where that fails."""

    def __init__(self, servers):
        self.servers, self.stop, self.failed, self.fed = servers, threading.Event(), [], set()
        self.threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(3)]
        [thread.start() for thread in self.threads]

    def ask(self, draw, what, *arguments):
        for server in draw.sample(self.servers, 2):
            try:
                got = getattr(server, what)(*arguments)[:2]
            except OSError as error:
                got = (0, error)
            if got[0] in (200, 201, 204):
                return True
        self.failed.append((what, got))
        return False

    def work(self, number):
        draw, count = random.Random(number), 0
        while not self.stop.is_set():
            count += 1
            event, agent = f"c{number}-{count}", draw.choice(NAMES)
            if self.ask(draw, "decide", event, agent) and self.ask(draw, "feed", event, agent):
                self.fed.add(event)
            time.sleep(0.01)

    def end(self, least):
        """Once so many events have had their feedback."""
        until(lambda: self.failed or len(self.fed) > least, 60)
        self.stop.set()
        [thread.join() for thread in self.threads]
        return self


def roll(old, new):
    """From servers of one version to those of the next, while clients ask."""
    database = pg.database(old)
    servers = [Member(pg, database, program=old).start() for _ in range(2)]
    for name in NAMES:
        check(servers[0].call("PUT", f"/v1/agents/{name}", AGENT), 201)
    for server in servers:
        until(lambda: all(server.model(name) == 1 for name in NAMES))
    before = facts(database)
    done = run("--store", pg.url(database), "--port", "0", program=new)
    assert done.returncode == 2 and "--migrate" in done.stderr and "older servers go on" in done.stderr, done
    load = Load(servers)
    time.sleep(1)
    done = run("--store", pg.url(database), "--migrate", program=new)
    assert done.returncode == 0, done
    after = facts(database)
    assert after["format"] > before["format"] and after["readers"] == before["readers"], (before, after)
    time.sleep(1)
    assert all(server.process.poll() is None for server in servers), [(server.process.poll(), server.said()) for server in servers]
    assert servers[0].stop() == 0
    servers[0] = load.servers[0] = Member(pg, database, program=new).start()  # side by side
    until(lambda: all(server.learns() > 0 for server in servers) and sum(server.learns() for server in servers) == len(NAMES))
    time.sleep(1)
    assert servers[1].stop() == 0
    servers[1].start()  # an older one also starts beside the newer, and on its format
    until(lambda: servers[1].learns() > 0)
    time.sleep(1)
    assert servers[1].stop() == 0
    servers[1] = load.servers[1] = Member(pg, database, program=new).start()
    time.sleep(1)
    load.end(100)
    assert not load.failed and len(load.fed) > 100, (load.failed[:3], len(load.fed))
    settled(pg, database)
    known = events(pg, database)
    assert all(known[event] == 1 for event in load.fed)
    for name in NAMES:
        gapless(pg, database, name)
    same_after_replay(pg, database, servers)


def one_newer_that_adds():
    roll(PROGRAM, NEXT)


def a_real_older_one():
    roll(sys.argv[2], PROGRAM)


def one_newer_that_breaks():
    database = pg.database(PROGRAM)
    server = Member(pg, database).start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: server.decide("before")[0] in (200, 201))
    until(lambda: server.learns() == 1)
    before, dump = facts(database), pg.dump(database, "--exclude-table-data=servers")
    done = run("--store", pg.url(database), "--migrate", program=FAR)
    assert done.returncode == 2 and "servers of an older version run" in done.stderr and done.stderr.count("\n") == 1, done
    assert pg.dump(database, "--exclude-table-data=servers") == dump
    check(server.feed("before"), 204)
    server.process.send_signal(signal.SIGSTOP)  # it is silent, and its sessions are there
    until(lambda: run("--store", pg.url(database), "--migrate", program=FAR).returncode == 0)
    after = facts(database)
    assert after == {"format": before["format"] + 1, "readers": before["format"] + 1}, after
    dump = pg.dump(database)
    server.process.send_signal(signal.SIGCONT)
    until(lambda: server.call("GET", "/readyz")[0] == 503)
    refused(until(lambda: (got := server.decide("late"))[0] == 503 and "newer" in str(got[1]) and got), "newer version")
    refused(server.call("GET", "/readyz"), "newer version")
    time.sleep(1)
    assert pg.dump(database) == dump  # it wrote nothing
    server.kill()
    for extra in (["--port", "0"], ["--check"]):
        done = run(*(["--check", pg.url(database)] if extra == ["--check"] else ["--store", pg.url(database), *extra]))
        assert done.returncode and "newer version" in done.stderr, done
    done = run("--store", pg.url(database), "--migrate")  # nor does an older --migrate
    assert pg.dump(database) == dump, done


def one_that_starts_meanwhile():
    """While a migration that breaks older ones waits for a table: it is not let in, or writes nothing."""
    for more in (True, True, False):
        database, done = pg.database(PROGRAM), []
        pg.ask("BEGIN; LOCK TABLE feedback IN ACCESS SHARE MODE", database)
        migration = threading.Thread(target=lambda: done.append(run("--store", pg.url(database), "--migrate", program=FAR)))
        migration.start()
        until(lambda: pg.ask("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL", database) != [["0"]])
        free = threading.Timer(1, pg.ask, ("COMMIT", database))  # before it gives up, and lets others pass
        free.start()
        server = Member(pg, database)
        try:
            server.start(ready=False)
        except AssertionError:
            pass
        free.join()
        migration.join()
        if not done[0].returncode:
            break
        assert more and "servers of an older version run" in done[0].stderr, done  # it did give up, since other work on the machine made this slow
        server.kill()
    assert facts(database)["readers"] == facts(database)["format"]
    time.sleep(2)
    assert pg.sql("SELECT count(*) FROM servers", database) == [["0"]]
    if server.process.poll() is None:
        refused(server.call("GET", "/readyz"), "newer version")
        server.kill()


def a_table_that_is_in_use():
    """A migration does not keep requests waiting behind it, and is made once the table is free."""
    database = pg.database(PROGRAM)
    servers = [Member(pg, database).start() for _ in range(2)]
    for name in NAMES:
        check(servers[0].call("PUT", f"/v1/agents/{name}", AGENT), 201)
    until(lambda: all(server.model(name) == 1 for name in NAMES for server in servers))
    reader = threading.Thread(target=lambda: pg.sql("SELECT count(*), pg_sleep(10) FROM (SELECT 1 FROM decisions LIMIT 1) t", database))
    check(servers[0].decide("first"), 201)
    load = Load(servers)
    reader.start()
    until(lambda: pg.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == [["1"]])
    done = run("--store", pg.url(database), "--migrate", program=NEXT)
    assert done.returncode == 0, done
    reader.join()
    load.end(20)
    assert not load.failed and len(load.fed) > 20, (load.failed[:3], len(load.fed))
    end(servers)
    sound(pg, database)


try:
    if __name__ == "__main__":
        main(*([a_real_older_one] if len(sys.argv) > 2 else []), one_newer_that_adds, one_newer_that_breaks, one_that_starts_meanwhile, a_table_that_is_in_use)
finally:
    end(started)
