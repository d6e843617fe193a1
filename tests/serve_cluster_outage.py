#!/usr/bin/env python3
"""The database is gone for 30 seconds while clients ask two servers. They see 503 with Retry-After, soon; what was acknowledged is kept; the servers go on by themselves within seconds."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, PROGRAM, Ledger, Member, absences, check, end, refused, same_after_replay, started
from postgres import Postgres
from service import main, until

SECONDS = 30


def gone_for_thirty_seconds():
    pg = Postgres()
    database = pg.database(PROGRAM)
    servers = [Member(pg, database).start() for _ in range(2)]
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: all(server.decide("first-" + server.folder)[0] in (200, 201) for server in servers))  # another event each: one that is known needs no policy
    stop, wrong, seen = threading.Event(), [], []  # seen: (server, when, seconds, was it a success)

    def client(number, ledger):
        try:
            while not stop.is_set():
                begin = time.monotonic()
                got = ledger.tell(servers[number % 2])
                seen.append((number % 2, begin, time.monotonic() - begin, got is None))
                if got:
                    refused(got, "database")
                time.sleep(0.05)
        except BaseException as error:  # seen below
            wrong.append(error)
    ledgers = [Ledger(f"c{number}-") for number in range(4)]
    threads = [threading.Thread(target=client, args=each) for each in enumerate(ledgers)]
    [thread.start() for thread in threads]
    def told(more):
        """Each client had so many successes since, or what went wrong is said."""
        begin = [len(ledger.fed) for ledger in ledgers]
        until(lambda: wrong or all(len(ledger.fed) > many + more for ledger, many in zip(ledgers, begin)), 60)
        assert not wrong, wrong[0]
    told(10)
    before = [absences(server)[0] for server in servers]
    pg.stop("immediate")
    gone = time.monotonic()
    while time.monotonic() - gone < SECONDS:
        time.sleep(1)
        for server in servers:
            assert server.call("GET", "/healthz")[0] == 200
            if time.monotonic() - gone > 5:
                refused(server.call("GET", "/readyz"), "database")
    assert [absences(server) for server in servers] == [(count + 1, count) for count in before]  # said once
    pg.start()
    back = time.monotonic()
    for number in range(2):
        until(lambda: any(good and begin > back and server == number for server, begin, _, good in list(seen)))
        until(servers[number].is_ready)
    on = max(min(begin + took for server, begin, took, good in seen if good and begin > back and server == number) for number in range(2)) - back
    told(10)
    stop.set()
    [thread.join() for thread in threads]
    assert not wrong, wrong[0]
    during = [(took, good) for _, begin, took, good in seen if gone < begin < back - 1]
    assert len(during) > 200 and not any(good for _, good in during)
    longest = max(took for took, _ in during)
    print(f"{len(during)} requests while it was gone, each 503 after at most {longest:.2f} s; decisions again {on:.2f} s after its return", flush=True)
    assert longest < 5 and on < 5
    for server in servers:
        until(lambda: len(set(absences(server))) == 1)
    for ledger in ledgers:
        ledger.compare(pg, database)
    same_after_replay(pg, database, servers)


try:
    if __name__ == "__main__":
        main(gone_for_thirty_seconds)
finally:
    end(started)
