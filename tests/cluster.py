"""What the tests of several servers share: a server among others, and what is asked of them. Standard library alone."""
import json
import os
import subprocess
import sys
import time

from service import Server, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
CONTEXTS = [[0, 1], [1, 0], [0.5, 0.5]]
started = []


class Member(Server):
    """A server among others, of a database of pg; killed by end(started)."""

    def __init__(self, pg, database, *options, url=None, program=PROGRAM, **environment):
        super().__init__(program, f"{pg.folder}/server-{len(started)}", *options)
        self.url, self.database, self.environment = url or pg.url(database), database, environment
        started.append(self)

    def start(self, ready=True, seconds=20):
        port = self.folder + ".port"
        if os.path.exists(port):
            os.remove(port)
        self.errors = open(self.folder + ".err", "ab")
        self.process = subprocess.Popen([self.program, "serve", "--store", self.url, "--port", "0", "--port-file", port, "--quiet", *self.options],
                                        stdout=subprocess.DEVNULL, stderr=self.errors, env={**os.environ, **self.environment})
        until(lambda: os.path.exists(port) or self.process.poll() is not None, seconds)
        assert self.process.poll() is None, self.said()[-400:]
        self.port = int(open(port).read())
        if ready:
            until(lambda: self.is_ready())
        return self

    def said(self):
        """To its operator."""
        return open(self.folder + ".err").read()

    def ready(self):
        status, body, _ = self.call("GET", "/readyz")
        return body if status == 200 else {}

    def learns(self):
        return self.ready().get("learns", 0)

    def decide(self, event, agent="home"):
        """Status, body and headers."""
        return self.call("POST", f"/v1/agents/{agent}/decide", {"event": event, "contexts": CONTEXTS})

    def feed(self, event, agent="home"):
        return self.call("POST", f"/v1/agents/{agent}/feedback", {"event": event, "feedback": [1, 0]})

    def model(self, agent="home"):
        return self.call("GET", f"/v1/agents/{agent}")[1].get("model")


def end(servers):
    for server in servers:
        if server.process and server.process.poll() is None:
            server.kill()


def check(got, status):
    assert got[0] == status, got[:2]
    return got[1]


def refused(got, *words):
    """503 with a sentence, and when to try again."""
    status, body, headers = got
    assert status == 503 and int(headers["Retry-After"]) >= 1 and all(word in body["error"]["message"] for word in words), got[:2]


def run(*arguments, program=PROGRAM, timeout=60):
    return subprocess.run([program, "serve", *arguments], capture_output=True, text=True, timeout=timeout)


def sound(pg, database):
    done = run("--check", pg.url(database))
    assert done.returncode == 0, done


def events(pg, database):
    """Of decisions that the database has, and how often they were learnt, by SQL."""
    return {event: int(count) for event, count in pg.sql(
        "SELECT d.event, count(j.seq) FROM decisions d LEFT JOIN journal j ON j.agent = d.agent AND j.decision = d.id AND j.kind = 3 GROUP BY d.id", database)}


def gapless(pg, database, agent="home"):
    seqs = [int(row[0]) for row in pg.sql(f"SELECT seq FROM journal WHERE agent = (SELECT id FROM agents WHERE name = '{agent}') ORDER BY seq", database)]
    assert seqs == list(range(1, len(seqs) + 1)), seqs
    return len(seqs)


def settled(pg, database):
    """No event is ready and not learnt."""
    until(lambda: pg.sql("SELECT count(*) FROM decisions WHERE state = 0 AND due > 0", database) == [["0"]])


def same_after_replay(pg, database, servers, agent="home"):
    """All rows are learnt again, from the first: the saved agent has the same bytes."""
    settled(pg, database)
    rows = gapless(pg, database, agent)
    for server in servers:
        until(lambda: server.model(agent) == rows)
    written = f"SELECT max(version) FROM policies WHERE agent = (SELECT id FROM agents WHERE name = '{agent}')"
    until(lambda: pg.sql(written, database) == [[str(rows)]])
    before = {check(server.call("GET", f"/v1/agents/{agent}/model"), 200) for server in servers}
    assert len(before) == 1
    end(servers)
    pg.sql("DELETE FROM policies; DELETE FROM chunks", database)
    fresh = Member(pg, database).start()
    until(lambda: fresh.model(agent) == rows and pg.sql(written, database) == [[str(rows)]])
    assert before == {check(fresh.call("GET", f"/v1/agents/{agent}/model"), 200)}
    fresh.kill()
    sound(pg, database)


def absences(server):
    """How often it has said that the database is gone, and that it is there again: one after the other."""
    said = ["it is tried again" in line for line in server.said().splitlines() if "it is tried again" in line or "the database is there again" in line]
    assert said == [i % 2 == 0 for i in range(len(said))], said
    return said.count(True), said.count(False)


class Ledger:
    """What was acknowledged: events, and those whose feedback was."""

    def __init__(self, name="e"):
        self.name, self.decided, self.fed, self.count = name, set(), set(), 0

    def tell(self, server):
        """One decision and its feedback. The answer that was not a success, or None."""
        self.count += 1
        event = f"{self.name}{self.count}-" + "x" * 150
        got = server.decide(event)
        if got[0] not in (200, 201):
            return got
        self.decided.add(event)
        got = server.feed(event)
        if got[0] != 204:
            return got
        self.fed.add(event)
        return None

    def compare(self, pg, database):
        """Every acknowledgement once, in the database."""
        settled(pg, database)
        known = events(pg, database)
        assert self.decided <= set(known) and max(known.values()) <= 1
        assert all(known[event] == 1 for event in self.fed)
        stored = {row[0]: int(row[1]) for row in pg.sql("SELECT d.event, count(*) FROM feedback f JOIN decisions d ON d.id = f.decision GROUP BY d.event", database)}
        assert all(stored[event] == 1 for event in self.fed)
        gapless(pg, database)


def goes_on(server, ledger, seconds=20):
    begin = time.monotonic()
    until(lambda: ledger.tell(server) is None, seconds)
    until(server.is_ready)
    return time.monotonic() - begin
