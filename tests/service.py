"""What the tests of `superarm serve` share: a server of one's own on a free port, and calls to it. Standard library alone."""
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

TYPE = {"Content-Type": "application/json"}
databases = {}  # of folders, where tests run over PostgreSQL


def place(program, folder):
    """Where a server keeps its journal: the folder, or a database of its own where SUPERARM_TEST_STORE is postgres."""
    if os.environ.get("SUPERARM_TEST_STORE") != "postgres":
        return ["--dir", folder]
    import postgres
    if not databases:
        databases[None] = postgres.Postgres()
    if folder not in databases:
        databases[folder] = databases[None].database(program)
    return ["--store", databases[None].url(databases[folder])]


def settled(folder, sums=False):
    """With PostgreSQL the learner makes the row, soon after the answer, where with SQLite it is there before: no event is ready and not learnt, or revised; and it has
    the sums that other servers have left. A moment that is rounded to milliseconds may be to come."""
    waits = databases[None].ask("SELECT (SELECT count(*) FROM decisions WHERE state = 0 AND due > 0 AND due <= extract(epoch from now()) * 1000 + 1) + "
                                "(SELECT count(*) FROM inbox WHERE seq = 0)", databases[folder])
    return waits == [["0"]] and (not sums or databases[None].ask("SELECT count(*) FROM hours_left", databases[folder]) == [["0"]])


def ask(folder, sql):
    """Of the journal, with SQL: one number."""
    if databases:
        return int(databases[None].sql(sql, databases[folder])[0][0])
    with sqlite3.connect(f"file:{folder}/journal.db?mode=ro", uri=True) as journal:
        return journal.execute(sql).fetchone()[0]


def check(program, folder):
    """superarm serve --check of where a server keeps its journal."""
    return subprocess.run([program, "serve", "--check", place(program, folder)[1]], capture_output=True, text=True)


def forget_checkpoints(folder):
    """All that a stopped server has to go on from is its journal, from the first row on."""
    if databases:
        databases[None].sql("DELETE FROM policies; DELETE FROM chunks", databases[folder])
        return
    for name in os.listdir(folder):
        if name.endswith(".npz"):
            os.remove(os.path.join(folder, name))


class Server:
    """`superarm serve` in a folder; killed at the end, whatever happens."""

    def __init__(self, program, folder, *options):
        self.program, self.folder, self.options = program, folder, [str(option) for option in options]
        self.process, self.quiet, self.settles, self.owes = None, True, True, False  # owes: feedback was sent, and may not be learnt yet

    def place(self):
        return place(self.program, self.folder)

    def start(self, ready=True):
        port_file = self.folder + ".port"
        if os.path.exists(port_file):
            os.remove(port_file)
        self.errors = open(self.folder + ".err", "ab")
        self.process = subprocess.Popen(
            [self.program, "serve", *self.place(), "--port", "0", "--port-file", port_file, *(["--quiet"] if self.quiet else []), *self.options],
            stdout=subprocess.DEVNULL, stderr=self.errors)
        give_up = time.monotonic() + 60
        while not os.path.exists(port_file):
            if self.process.poll() is not None:
                raise RuntimeError("the server ended: " + open(self.folder + ".err").read()[-400:])
            if time.monotonic() > give_up:
                raise RuntimeError("the server does not start")
            time.sleep(0.01)
        self.port = int(open(port_file).read())
        while ready and not self.is_ready():
            if time.monotonic() > give_up:
                raise RuntimeError("the server is never ready: %s" % (self.call("GET", "/readyz"),))
            time.sleep(0.01)
        return self

    def is_ready(self, recovered=True):
        """Does it serve; and has it learnt all that was there at its start?"""
        status, body, _ = self.call("GET", "/readyz")
        return status == 200 and not (recovered and body.get("recovering"))

    def call(self, method, path, body=None, headers=None, timeout=30):
        """Status, body (JSON read where it is JSON) and headers."""
        if databases and self.settles and self.owes and not path.endswith(("/decide", "/feedback", "/rank", "/reward")):  # what a folder's journal would have by now
            self.owes = False
            until(lambda: settled(self.folder), pause=0.005)
            until(lambda: self.knows_its_rows(headers), pause=0.005)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request(method, path, data, {**(TYPE if body is not None else {}), **(headers or {})})
            answer = connection.getresponse()
            raw = answer.read()
            value = json.loads(raw) if answer.headers.get("Content-Type", "").startswith("application/json") and raw else raw
            self.owes = self.owes or (path.endswith(("/feedback", "/reward")) and answer.status == 204)
            return answer.status, value, answer.headers
        finally:
            connection.close()

    def knows_its_rows(self, headers):
        """A commit is seen before the server that made it goes on. Whom it tells nothing (another key) waits a little."""
        rows = "SELECT name, (SELECT max(seq) FROM journal WHERE agent = agents.id) FROM agents WHERE deleted IS NULL"
        status, listed, _ = self.call("GET", "/v1/agents", headers=headers)
        if status != 200:
            time.sleep(0.1)
            return True
        known = {agent["name"]: agent["seq"] for agent in listed["agents"] if "broken" not in agent}
        return all(known[name] >= int(seq or 0) for name, seq in databases[None].ask(rows, databases[self.folder]) if name in known)

    def settle(self):
        """All that was answered is in the sums, and learnt from."""
        if databases:
            until(lambda: settled(self.folder, sums=True))

    def sql(self, sql, *values):
        """Rows of the journal; values are for its question marks. A folder's server must have stopped if it is changed."""
        if databases:
            written = [str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'" for value in values]
            sql = "".join(part + value for part, value in zip(sql.split("?"), [*written, ""]))
            return [tuple(int(cell) if cell.lstrip("-").isdigit() else cell for cell in row) for row in databases[None].sql(sql, databases[self.folder])]
        with contextlib.closing(sqlite3.connect(self.folder + "/journal.db")) as database, database:
            return database.execute(sql, values).fetchall()

    def counts(self, agent="home"):
        """Of the journal's decisions. Servers that share one say only what they have seen since their start."""
        counts = self.call("GET", "/v1/agents/" + agent)[1]["counts"]
        if not databases:
            return counts
        of = "count(*), count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 3), count(*) FILTER (WHERE state = 1)"
        [row] = self.sql(f"SELECT {of} FROM decisions WHERE agent = (SELECT id FROM agents WHERE name = ? AND deleted IS NULL)", agent)
        return {**counts, **dict(zip(("decisions", "waiting", "held", "learnt"), row))}

    def check(self):
        """Nothing of the journal is damaged or missing."""
        found = check(self.program, self.folder)
        assert found.returncode == 0, found

    def raw(self, sent, timeout=10, close=False):
        """Bytes as they are, and all that comes back until the server closes or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            try:
                connection.sendall(sent)
                if close:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            got = b""
            try:
                while True:
                    part = connection.recv(65536)
                    if not part:
                        break
                    got += part
                    head, end, rest = got.partition(b"\r\n\r\n")
                    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                    if end and length and len(rest) >= int(length[0].split(b":")[1]):
                        break
            except OSError:
                pass
            return got

    def stop(self):
        """As systemd does; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.errors.close()
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()


def home(program, *options):
    """A fresh folder with a server; use it as a context."""
    class Home:
        def __enter__(self):
            self.parent = tempfile.mkdtemp(prefix="superarm-serve-")
            self.server = Server(program, self.parent + "/shop", *options).start()
            return self.server

        def __exit__(self, *_):
            if self.server.process.poll() is None:
                self.server.kill()
            shutil.rmtree(self.parent, ignore_errors=True)
    return Home()


def until(what, seconds=20, pause=0.02):
    """Waits for something to become true; its value."""
    give_up = time.monotonic() + seconds
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > give_up:
            raise AssertionError("it never came: " + (what.__doc__ or what.__name__))
        time.sleep(pause)


def market_split():
    """Rules that no branch and bound solves in an hour: 50 customers, six products, each to be halved exactly (Cornuejols and Dawande)."""
    draw = random.Random(1)
    rows = [[draw.randrange(100) for _ in range(50)] for _ in range(6)]
    return {"matrix": rows + [[-value for value in row] for row in rows], "bounds": [sum(row) // 2 for row in rows] + [-(sum(row) // 2) for row in rows]}


def main(*tests):
    """Runs them in order; the first that fails ends the program."""
    for test in tests:
        test()
        print("ok", test.__name__, flush=True)
    sys.exit(0)
