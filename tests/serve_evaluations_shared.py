#!/usr/bin/env python3
"""Evaluations where servers share a database: any server says which one runs them, and ends them. The witness is the processes, their files, and SQL."""
import contextlib
import glob
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from postgres import Postgres
from service import Server, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 3, "floor": 0.3}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
SLOW = {"options": {"algorithm": "cn-ucb", "hidden": 1024, "train-every": 1, "train-steps": 10000}}  # minutes, on these events
PATH = "/v1/agents/home/evaluations"
pg = Postgres("max_connections=60")
started = []


class Member(Server):
    """A server among others, with scratch files in a folder of its own."""

    def __init__(self, database):
        super().__init__(PROGRAM, f"{pg.folder}/server-{len(started)}")
        self.url, self.scratch = pg.url(database), tempfile.mkdtemp(prefix="scratch-", dir=pg.folder)
        started.append(self)

    def start(self, ready=True):
        os.environ["TMPDIR"] = self.scratch
        return super().start(ready)

    def place(self):
        return ["--store", self.url]

    def name(self):
        return f"{os.uname().nodename}/{self.process.pid}"

    def helpers(self):
        """Processes of evaluations."""
        listed = subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid=,args="], capture_output=True, text=True).stdout
        return [int(line.split()[0]) for line in listed.splitlines() if "--evaluator" in line]

    def files(self):
        return [path for path in glob.glob(self.scratch + "/**", recursive=True) if "evaluation-" in path]

    def have(self, event):
        """Is it in one of them? Some are renamed or removed meanwhile."""
        for path in self.files():
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                if event in file.read():
                    return True
        return False

    def state(self, number):
        status, body, _ = self.call("GET", f"{PATH}/{number}")
        assert status == 200, body
        return body["state"], body.get("server")


def traffic(server, rounds):
    draw = random.Random(5)
    for i in range(rounds):
        contexts = [[draw.uniform(-1, 1) for _ in range(3)] for _ in range(6)]
        status, answer, _ = server.call("POST", "/v1/agents/home/decide", {"event": f"e{i}", "contexts": contexts})
        assert status == 201, answer
        clicks = [float(draw.random() < 0.5 + 0.4 * contexts[arm][0]) for arm in answer["slate"]]
        assert server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": clicks})[0] == 204
    until(lambda: server.call("GET", "/v1/agents/home")[1]["model"] == rounds + 1)


def ask(server, body):
    status, made, _ = server.call("POST", PATH, body)
    assert status == 202, made
    return made["id"]


def everywhere(servers, number, wanted):
    """Whatever server is asked, it says so."""
    for server in servers:
        until(lambda: server.state(number) == wanted, seconds=15)


def any_server_tells_and_ends():
    database = pg.database(PROGRAM)
    servers = one, two, three = [Member(database).start() for _ in range(3)]
    assert one.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    traffic(one, 400)
    until(lambda: three.call("GET", "/v1/agents/home")[1].get("model") == 401)

    # done: the same from all
    number = ask(one, {})
    until(lambda: two.state(number)[0] == "done", seconds=60)
    assert len({str(server.call("GET", f"{PATH}/{number}")[1]) for server in servers}) == 1

    # running and waiting, and where
    runs, waits = ask(one, SLOW), ask(one, SLOW)
    (process,) = until(one.helpers)
    everywhere(servers, runs, ("running", one.name()))
    everywhere(servers, waits, ("waiting", one.name()))
    listed = {each["id"]: each["state"] for each in two.call("GET", PATH)[1]["evaluations"]}
    assert listed == {number: "done", runs: "running", waits: "waiting"}, listed

    # ended by another server, the one that waits and the one that runs
    assert two.call("DELETE", f"{PATH}/{waits}")[0] == 204
    begin = time.monotonic()
    assert two.call("DELETE", f"{PATH}/{runs}")[0] == 204
    until(lambda: not os.path.exists(f"/proc/{process}") and not one.files())
    print(f"ended elsewhere after {time.monotonic() - begin:.2f} s", flush=True)
    time.sleep(0.5)
    assert not one.helpers(), "what waited has begun"
    assert all(server.call("GET", f"{PATH}/{each}")[0] == 404 for server in servers for each in (runs, waits))
    assert pg.sql("SELECT count(*) FROM evaluations", database) == [["1"]]

    # an erasure at another server: when it is answered, no file has the event
    runs = ask(three, SLOW)
    until(three.helpers)
    until(lambda: three.have(b'"e7"'))
    assert two.call("DELETE", "/v1/agents/home/events/e7")[0] == 204
    assert not three.have(b'"e7"')
    everywhere(servers, runs, ("failed", None))
    assert "erased" in one.call("GET", f"{PATH}/{runs}")[1]["error"]
    again = ask(three, SLOW)
    until(three.helpers)
    assert not three.have(b'"e7"')

    # a server that is gone has interrupted it; one that was killed, and one that was stopped
    everywhere(servers, again, ("running", three.name()))
    three.kill()
    everywhere((one, two), again, ("interrupted", None))
    stopped = ask(two, SLOW)
    until(two.helpers)
    assert two.stop() == 0
    assert one.state(stopped) == ("interrupted", None)

    # an agent that is deleted at one server takes along what another runs
    two.start()
    ask(two, SLOW)
    until(two.helpers)
    assert one.call("DELETE", "/v1/agents/home")[0] == 204
    until(lambda: not two.helpers() and not two.files())
    until(lambda: pg.sql("SELECT count(*) FROM evaluations", database) == [["0"]])
    for server in (one, two):
        assert server.stop() == 0


def a_result_waits_for_the_database():
    """The answer is there, and the database is not: it is kept when that is back."""
    database = pg.database(PROGRAM)
    server = Member(database).start()
    assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    traffic(server, 100)
    number = ask(server, {"options": {"algorithm": "cn-ucb", "hidden": 256, "train-every": 1}})
    (process,) = until(server.helpers, pause=0.001)
    pg.stop("fast")
    until(lambda: not os.path.exists(f"/proc/{process}"), seconds=120)
    time.sleep(1)
    pg.start()
    until(server.is_ready)
    until(lambda: server.state(number)[0] == "done", seconds=30)
    server.kill()


def lock(database, *sql):
    """Held by a session of its own, for longer than servers wait for it."""
    session = subprocess.Popen([f"{pg.bin}/psql", "-h", pg.folder, "-U", "postgres", "-d", database, "-qAt", "-v", "ON_ERROR_STOP=1"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(*sql, "SELECT 'held';", sep="\n", file=session.stdin, flush=True)
    while session.stdout.readline() != "held\n":
        assert session.poll() is None
    return session


def free(session):
    session.communicate("COMMIT;\n")
    assert session.returncode == 0


def the_end_waits_for_the_database():
    """Another server ends it, and that cannot be written at first: it is later, and erasures go on."""
    database = pg.database(PROGRAM)
    one, two = servers = [Member(database).start() for _ in range(2)]
    assert one.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    traffic(one, 400)
    until(lambda: two.call("GET", "/v1/agents/home")[1].get("model") == 401)
    number = ask(one, SLOW)
    (process,) = until(one.helpers)
    held = lock(database, "UPDATE evaluations SET stop = 'an event was erased';", "BEGIN;", "SELECT 1 FROM evaluations FOR UPDATE;")
    until(lambda: not os.path.exists(f"/proc/{process}") and not one.files())
    time.sleep(4)
    free(held)
    everywhere(servers, number, ("failed", None))
    begin = time.monotonic()
    assert [server.call("DELETE", f"/v1/agents/home/events/e{i}")[0] for i, server in enumerate(servers)] == [204, 204]
    assert time.monotonic() - begin < 10
    assert "done" == until(lambda again=ask(one, {}): (state := two.state(again)[0]) not in ("waiting", "running") and state, seconds=60)
    for server in servers:
        assert server.stop() == 0


def what_cannot_be_deleted_goes_on():
    """Its row is locked for longer than a server waits: 503, nothing has changed, and nothing is left that an erasure would wait for."""
    database = pg.database(PROGRAM)
    one, two = servers = [Member(database).start() for _ in range(2)]
    assert one.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    traffic(one, 400)
    until(lambda: two.call("GET", "/v1/agents/home")[1].get("model") == 401)
    runs, waits = ask(one, SLOW), ask(one, SLOW)
    (process,) = until(one.helpers)
    held = lock(database, "BEGIN;", "SELECT 1 FROM evaluations FOR UPDATE;")
    assert [one.call("DELETE", f"{PATH}/{number}")[0] for number in (runs, waits)] == [503, 503]
    free(held)
    assert os.path.exists(f"/proc/{process}")
    everywhere(servers, runs, ("running", one.name()))
    everywhere(servers, waits, ("waiting", one.name()))
    # another request's row is locked: that one is refused, and this one is not
    held = lock(database, "BEGIN;", "SELECT 1 FROM decisions WHERE event = 'e5' FOR UPDATE;")
    begin, statuses = time.monotonic(), []
    waiting = threading.Thread(target=lambda: statuses.append(two.call("POST", "/v1/agents/home/feedback", {"event": "e5", "feedback": [1, 1]})[0]))
    waiting.start()
    assert two.call("DELETE", f"{PATH}/{waits}")[0] == 204
    waiting.join()
    free(held)
    # an erasure of what is not there ends nothing; one of what is there does, and is answered
    assert two.call("DELETE", "/v1/agents/home/events/no-such-event")[0] == 404
    time.sleep(0.5)
    everywhere(servers, runs, ("running", one.name()))
    assert two.call("DELETE", "/v1/agents/home/events/e9")[0] == 204
    everywhere(servers, runs, ("failed", None))
    # a row that a commit left of which the server heard nothing
    number = int(pg.sql("INSERT INTO evaluations (agent, id, time, request, server, runs) SELECT a.id, nextval('evaluation_ids'), 0, '{}', s.id, true "
                        f"FROM agents a, servers s WHERE s.name = '{one.name()}' RETURNING id", database)[0][0])
    everywhere(servers, number, ("interrupted", None))
    assert two.call("DELETE", "/v1/agents/home/events/e10")[0] == 204
    for server in servers:
        assert server.stop() == 0


def the_beginning_waits_for_the_database():
    """No event is read before others can know it: an erasure would not wait."""
    database = pg.database(PROGRAM)
    server = Member(database).start()
    assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
    traffic(server, 100)
    held = lock(database, "BEGIN;", "SELECT 1 FROM agents FOR NO KEY UPDATE;")
    number, begin = ask(server, {}), time.monotonic()
    while time.monotonic() - begin < 5:
        assert not server.helpers() and not server.files() and pg.sql("SELECT runs, result FROM evaluations", database) == [["f", ""]]
    assert server.state(number)[0] == "waiting"
    free(held)
    until(lambda: server.state(number)[0] == "done", seconds=30)
    assert server.stop() == 0


try:
    if __name__ == "__main__":
        main(
             what_cannot_be_deleted_goes_on, the_beginning_waits_for_the_database)
finally:
    for each in started:
        if each.process and each.process.poll() is None:
            each.kill()
