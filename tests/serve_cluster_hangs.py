#!/usr/bin/env python3
"""A database that hangs: every process of it is stopped, and its sockets stay open. Servers see that by the clock, answer 503 with Retry-After, and go on by themselves; a stop does not wait for it.
One that was restarted is asked again, unseen."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, PROGRAM, Ledger, Member, absences, check, end, goes_on, refused, settled, started
from postgres import Postgres
from service import main, until


def send(pg, number):
    """To all of the database's processes; the first, which makes others, comes first. One may have ended by itself."""
    first = int(open(pg.data + "/postmaster.pid").readline())
    os.kill(first, number)
    for pid in subprocess.run(["pgrep", "-P", str(first)], capture_output=True, text=True, check=True).stdout.split():
        try:
            os.kill(int(pid), number)
        except ProcessLookupError:
            pass


def timed(call, *arguments):
    begin = time.monotonic()
    return call(*arguments), time.monotonic() - begin


def it_is_trouble_after_four_seconds():
    pg = Postgres(tcp=True)
    database = pg.database(PROGRAM)
    server = Member(pg, database, url=f"postgresql://postgres@127.0.0.1:{pg.port}/{database}").start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    ledger, waited = Ledger(), []
    until(lambda: ledger.tell(server) is None)
    (before, _) = absences(server)
    send(pg, signal.SIGSTOP)
    try:
        asked = threading.Thread(target=lambda: waited.append(timed(ledger.tell, server)))
        asked.start()
        until(lambda: server.call("GET", "/readyz")[0] == 503, 12)
        refused(server.call("GET", "/readyz"), "database", "not answered")
        asked.join(10)
        [(got, seconds)] = waited  # who waited is answered, too
        refused(got, "database")
        assert seconds < 10, seconds
        for _ in range(3):  # and nobody else waits for seconds
            got, seconds = timed(ledger.tell, server)
            refused(got, "database")
            assert seconds < 2, seconds
        assert absences(server) == (before + 1, before)  # said once
    finally:
        send(pg, signal.SIGCONT)
    assert goes_on(server, ledger) < 10
    until(lambda: len(set(absences(server))) == 1)
    ledger.compare(pg, database)
    send(pg, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        server.process.terminate()  # at once: it does not know yet
        assert server.process.wait(12) == 0
        print(f"stopped after {time.monotonic() - begin:.1f} s", flush=True)
        assert "did not end in time" not in server.said(), server.said()
    finally:
        send(pg, signal.SIGCONT)
    pg.remove()


def the_first_look_after_a_restart():
    """Sessions that nobody used meanwhile are gone, and made again unseen."""
    pg = Postgres()
    database = pg.database(PROGRAM)
    server = Member(pg, database).start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    ledger = Ledger()
    until(lambda: ledger.tell(server) is None)
    settled(pg, database)
    paths = [f"/v1/agents/home{rest}" for rest in ("/log", "/history", "/insights", "/evaluations", "/items", "")]
    before = [check(server.call("GET", path), 200) for path in paths]
    for first in range(len(paths)):  # each is the first once
        pg.restart("fast")
        until(server.is_ready)
        time.sleep(0.3)  # a session that was just made is not made again at once
        for path in paths[first:] + paths[:first]:
            got = server.call("GET", path)
            assert got[0] == 200, (path, got[1])
    assert before[0] == server.call("GET", paths[0])[1]
    assert server.stop() == 0
    pg.remove()


try:
    if __name__ == "__main__":
        main(it_is_trouble_after_four_seconds, the_first_look_after_a_restart)
finally:
    end(started)
