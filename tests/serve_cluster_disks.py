#!/usr/bin/env python3
"""Disks of servers that share a PostgreSQL: full, slow, or gone. Each is a sentence and 503 with Retry-After, what was acknowledged is kept, and the servers go on by
themselves. The witness is what clients wrote down, and SQL."""
import os
import shutil
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, PROGRAM, Ledger, Member, check, end, goes_on, refused, same_after_replay, sound, started
from postgres import Postgres
from service import main, until

HOLDER = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid > 0"  # the session that learns an agent


def a_full_disk_of_tables():
    """Tables have no room, the log has: PostgreSQL refuses what needs a new page, and lives."""
    pg = Postgres("autovacuum=off")  # which would make room
    small = pg.small(24)
    pg.sql(f"CREATE TABLESPACE small LOCATION '{small}'")
    database = pg.database(PROGRAM, "TABLESPACE small")
    servers, ledger = [Member(pg, database).start() for _ in range(2)], Ledger()
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: all(server.decide("first-" + server.folder)[0] in (200, 201) for server in servers))  # another event each: one that is known needs no policy
    for i in range(20):
        assert (got := ledger.tell(servers[i % 2])) is None, got
    filler = pg.fill(small)
    for server in servers:  # pages that are there take some more
        until(lambda: ledger.tell(server), 60, pause=0)
        got = until(lambda: ledger.tell(server), 60, pause=0)
        refused(got, "database", "No space left on device")
        until(lambda: server.call("GET", "/readyz")[0] == 503)
        refused(server.call("GET", "/readyz"), "No space left")
    for _ in range(30):  # for three seconds without requests: what there is no room for stays so
        time.sleep(0.1)
        for server in servers:
            refused(server.call("GET", "/readyz"), "No space left")
    for _ in range(30):  # for three seconds; nothing that is acknowledged may be lost
        got = ledger.tell(servers[0])
        assert got is None or got[0] == 503, got
        time.sleep(0.1)
    os.remove(filler)
    took = max(goes_on(server, ledger) for server in servers)
    assert took < 10
    for i in range(20):
        assert ledger.tell(servers[i % 2]) is None
    ledger.compare(pg, database)
    same_after_replay(pg, database, servers)
    pg.remove()


def a_full_disk_of_the_log():
    """All of PostgreSQL is on the full disk: it cannot write its log, and ends. The operator makes room and starts it."""
    pg = Postgres("min_wal_size=2MB", "max_wal_size=4MB", disk=80, initdb=["--wal-segsize=1"])
    database = pg.database(PROGRAM)
    server, ledger = Member(pg, database).start(), Ledger()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    assert ledger.tell(server) is None
    filler = pg.fill(pg.mounts[0])
    until(lambda: ledger.tell(server), 120, pause=0)
    for _ in range(20):
        got = ledger.tell(server)
        assert got is None or got[0] == 503, got
        time.sleep(0.05)
    refused(until(lambda: ledger.tell(server), 60), "database")
    os.remove(filler)
    pg.stop("immediate")
    pg.start()
    assert goes_on(server, ledger) < 10
    ledger.compare(pg, database)
    same_after_replay(pg, database, [server])
    pg.remove()


def settled_holder(pg, database):
    """The session that learns, once no server is new: one that comes may be the preferred one, and gets the agent after two seconds."""
    seen = {"holder": None}

    def it_stays():
        holder, now = pg.sql(HOLDER, database), time.monotonic()
        if holder != seen["holder"]:
            seen.update(holder=holder, since=now)
        return holder and now - seen["since"] > 4
    until(it_stays)
    return seen["holder"]


def commits_that_take_long():
    """Nobody is a standby whose answer a commit waits for: commits hang as on a disk that hangs. Nobody counts as dead for that."""
    pg = Postgres()
    database = pg.database(PROGRAM)
    servers, ledger = [Member(pg, database).start() for _ in range(2)], Ledger()
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: sum(server.learns() for server in servers) == 1)
    for server in servers:
        until(lambda: ledger.tell(server) is None)
    before = settled_holder(pg, database)
    pg.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    pg.sql("SELECT pg_reload_conf()")
    answers = []
    threads = [threading.Thread(target=lambda server=server, i=i: answers.append(server.decide(f"slow-{i}")[0])) for i, server in enumerate(servers * 2)]
    time.sleep(0.5)
    [thread.start() for thread in threads]
    for _ in range(80):
        time.sleep(0.1)
        names = pg.sql("SELECT count(*) FROM servers WHERE beat > now() - interval '3.9 s'", database)
        assert names == [["2"]] and pg.sql(HOLDER, database) == before, (names, before)
    assert not answers  # what is not on disk is not acknowledged
    assert {server.ready().get("servers") for server in servers} == {2}
    pg.sql("ALTER SYSTEM RESET synchronous_standby_names")
    pg.sql("SELECT pg_reload_conf()")
    [thread.join() for thread in threads]
    assert answers == [201] * 4, answers
    assert all(ledger.tell(server) is None for server in servers)
    assert pg.sql(HOLDER, database) == before
    ledger.compare(pg, database)
    end(servers)
    sound(pg, database)
    pg.remove()


def scratch_files_that_cannot_be_written():
    pg = Postgres()
    database = pg.database(PROGRAM)
    folders = [pg.small(12), pg.folder + "/scratch"]
    os.mkdir(folders[1])
    servers, ledger = [Member(pg, database, TMPDIR=folder).start() for folder in folders], Ledger()
    names = [f"a{i}" for i in range(12)]  # each server gets some, but for one start in 8192
    for name in names:
        check(servers[0].call("PUT", f"/v1/agents/{name}", AGENT), 201)
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: all(server.learns() > 0 for server in servers) and sum(server.learns() for server in servers) == 13)
    first, second = servers
    filler = pg.fill(folders[0])
    until(lambda: first.learns() == 0 and second.learns() == 13)  # another learns them
    assert folders[0] in first.ready()["scratch"] and "scratch" not in second.ready(), first.ready()
    assert "others learn" in first.said() and "others learn" not in second.said()
    for server in servers:
        assert ledger.tell(server) is None  # both serve
    until(lambda: second.model() == 3)
    os.remove(filler)
    until(lambda: first.learns() > 0 and "scratch" not in first.ready())
    until(lambda: first.model() == 3 and "written again" in first.said())
    shutil.rmtree(folders[1])  # with what is above it: it cannot be made again
    open(folders[1], "w").close()
    until(lambda: second.learns() == 0 and first.learns() == 13)
    assert folders[1] in second.ready()["scratch"]
    assert ledger.tell(second) is None
    until(lambda: first.model() == 4)
    os.remove(folders[1])
    os.mkdir(folders[1])
    until(lambda: second.learns() > 0 and "made again" in second.said())
    until(lambda: second.model() == 4)
    shutil.rmtree(os.path.join(folders[1], os.listdir(folders[1])[0]))  # it alone: made again, nobody notices
    assert ledger.tell(second) is None and ledger.tell(first) is None
    until(lambda: first.model() == 6 and second.model() == 6)
    until(lambda: sum(server.learns() for server in servers) == 13)
    ledger.compare(pg, database)
    same_after_replay(pg, database, servers)
    pg.remove()


def a_scratch_folder_that_hangs():
    """The file that is tried is a pipe which nobody reads: it cannot be opened for as long as a disk that hangs. Its server is heard of all the while."""
    pg = Postgres()
    database = pg.database(PROGRAM)
    folder = pg.folder + "/hangs"
    os.mkdir(folder)
    servers = [Member(pg, database, TMPDIR=folder).start(), Member(pg, database).start()]
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: all(server.decide("first-" + server.folder)[0] in (200, 201) for server in servers))  # another event each: one that is known needs no policy
    path = os.path.join(folder, os.listdir(folder)[0], "scratch-probe")

    def is_pipe():
        try:
            return stat.S_ISFIFO(os.stat(path).st_mode)
        except FileNotFoundError:
            return False

    def hang():
        try:
            os.mkfifo(path)
        except FileExistsError:  # it is being tried
            return False
        return True
    until(lambda: sum(server.learns() for server in servers) == 1)
    before = settled_holder(pg, database)
    until(hang)
    for _ in range(60):  # nobody counts as gone, which takes four seconds
        time.sleep(0.1)
        heard = pg.sql("SELECT count(*) FROM servers WHERE beat > now() - interval '3.9 s'", database)
        assert heard == [["2"]] and pg.sql(HOLDER, database) == before, (heard, before)
    assert all(server.decide(f"while-{i}")[0] == 201 for i, server in enumerate(servers))
    with open(path, "rb"):
        until(lambda: not is_pipe())
    for server in servers:
        server.stop()
    sound(pg, database)
    pg.remove()


try:
    if __name__ == "__main__":
        main(a_full_disk_of_tables, a_full_disk_of_the_log, commits_that_take_long, a_scratch_folder_that_hangs, scratch_files_that_cannot_be_written)
finally:
    end(started)
