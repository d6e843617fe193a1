#!/usr/bin/env python3
"""serve_stop.py PROGRAM: SIGTERM ends the service in time, with status 0, whatever it is at; what was accepted is answered or gets 503."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from service import Server, home, main, market_split, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
# each event is learnt for minutes
SLOW = {"options": {"algorithm": "cn-ucb", "dim": 40, "hidden": 3000, "depth": 3, "confidence": "diagonal", "train-every": 1, "train-steps": 200000, "train-batch": 0},
        "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}


def ends(server, seconds):
    begin = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    status = server.process.wait(60)
    took = time.monotonic() - begin
    assert status == 0 and took < seconds, (status, took, open(server.folder + ".err").read()[-300:])
    return took


def clients_that_wait_do_not_keep_it():
    """Half a head, half a body, an answer that nobody reads, a connection at rest."""
    with home(PROGRAM, "--stop-seconds", 8) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        waiting = []
        for sent in (b"", b"GET /hea", b"POST /v1/agents/home/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{",
                     b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2000):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=30)
            one.settimeout(1)
            try:
                one.sendall(sent)
            except OSError:
                pass
            waiting.append(one)
        time.sleep(0.2)
        ends(server, 20)
        waiting[2].settimeout(30)
        got = waiting[2].recv(4000)
        assert got.startswith(b"HTTP/1.1 503") and b"stopping" in got, got


def a_busy_learner_does_not_keep_it():
    """A training of minutes, and a request that waits for its end."""
    with home(PROGRAM, "--stop-seconds", 4) as server:
        assert server.call("PUT", "/v1/agents/slow", SLOW)[0] == 201
        assert server.call("POST", "/v1/agents/slow/decide", {"event": "e", "contexts": [[i / 40] * 40 for i in range(4)]})[0] == 201
        assert server.call("POST", "/v1/agents/slow/feedback", {"event": "e", "feedback": [1, 0]})[0] == 204
        statuses = []
        client = threading.Thread(target=lambda: statuses.append(server.call("GET", "/v1/agents/slow/model", timeout=60)[0]))
        client.start()
        time.sleep(0.5)
        assert client.is_alive(), "the model waits for the training"
        took = ends(server, 15)
        client.join()
        assert statuses and statuses[0] in (200, 503), statuses
        assert took > 1 or os.environ.get("SUPERARM_TEST_STORE") == "postgres"  # where servers share a database, it waits for a second at most


def awaits(process, what):
    """Does it catch that signal, or hold it back? Before that it would be killed, as any program."""
    with open(f"/proc/{process.pid}/status") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigCgt:", "SigBlk:"))]
    return any(mask >> (what - 1) & 1 for mask in masks)


def recovery_does_not_keep_it():
    """The journal has a row whose training takes minutes: at the start, and as soon as it minds signals, before it listens."""
    parent = tempfile.mkdtemp(prefix="superarm-serve-")
    server = Server(PROGRAM, parent + "/shop", "--stop-seconds", 3).start()
    try:
        assert server.call("PUT", "/v1/agents/slow", SLOW)[0] == 201
        assert server.call("POST", "/v1/agents/slow/decide", {"event": "e", "contexts": [[i / 40] * 40 for i in range(4)]})[0] == 201
        assert server.call("POST", "/v1/agents/slow/feedback", {"event": "e", "feedback": [1, 0]})[0] == 204
        server.kill()
        server.start(ready=False)
        ends(server, 15)
        for pause in (0, 0.01, 0.03, 0.15):
            process = subprocess.Popen([PROGRAM, "serve", "--dir", server.folder, "--port", "0", "--quiet", "--stop-seconds", "3"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: awaits(process, signal.SIGTERM), pause=0.005)
            time.sleep(pause)
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(parent, ignore_errors=True)


def solvers_do_not_keep_it():
    with home(PROGRAM, "--solver-seconds", 1000, "--stop-seconds", 4) as server:
        assert server.call("PUT", "/v1/agents/ilp", {**AGENT, "options": {**AGENT["options"], "oracle": "ilp"}, "slate": 50})[0] == 201
        answers = []

        def ask():
            body = {"contexts": [[i % 7 / 7, i % 11 / 11] for i in range(50)], "problem": {**market_split(), "seconds": 1e9}}
            answers.append(server.call("POST", "/v1/agents/ilp/decide", body, timeout=60))
        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(1)
        assert all(client.is_alive() for client in clients), answers
        helpers = [int(line) for line in subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()]
        assert helpers, "no solver runs in a process of its own"
        ends(server, 15)
        for client in clients:
            client.join()
        until = time.time() + 10
        while any(os.path.exists(f"/proc/{helper}") for helper in helpers):  # they do not outlive the service in the middle of a solve
            assert time.time() < until, helpers
            time.sleep(0.1)
        assert [answer[0] for answer in answers] == [503] * 4 and all("stopping" in json.dumps(answer[1]) for answer in answers), answers


def under_load_all_that_was_accepted_is_answered():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        broken, answered, stop = [], [], threading.Event()

        def ask(number):
            count = 0
            while not stop.is_set():
                event = "e-%d-%d" % (number, count)
                try:
                    status = server.call("POST", "/v1/agents/home/decide", {**ASK, "event": event})[0]
                    (answered if status == 201 else broken).append((event, status))
                except ConnectionRefusedError:
                    return
                except OSError:  # cut before it was accepted
                    return
                count += 1
        clients = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for client in clients:
            client.start()
        until(lambda: len(answered) > 50)
        ends(server, 15)
        stop.set()
        for client in clients:
            client.join()
        assert all(status == 503 for _, status in broken), broken
        server.start()
        for event, _ in answered[-20:]:
            assert server.call("POST", "/v1/agents/home/decide", {**ASK, "event": event})[0] == 200
        assert server.stop() == 0


if __name__ == "__main__":
    main(clients_that_wait_do_not_keep_it, a_busy_learner_does_not_keep_it, recovery_does_not_keep_it, solvers_do_not_keep_it, under_load_all_that_was_accepted_is_answered)
