#!/usr/bin/env python3
"""serve_crowds.py PROGRAM: more connections than anybody needs, silent, slow, half sent. The others are served all the while."""
import json
import os
import resource
import select
import socket
import sys
import time

from service import home, main, until

PROGRAM = sys.argv[1]
ROOM = 3 if os.environ.get("SUPERARM_SANITIZED") else 1  # what is freed is kept for a while there
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}
HEAD = b"POST /v1/agents/home/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def connect(server, count, source=None, sent=b""):
    """Connections that send this and then nothing."""
    made = []
    for _ in range(count):
        one = socket.socket()
        one.settimeout(20)
        if source:
            one.bind((source, 0))
        one.connect(("127.0.0.1", server.port))
        if sent:
            one.sendall(sent)
        made.append(one)
    return made


def close(sockets):
    for one in sockets:
        one.close()


def is_closed(one):
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def rss(server):
    """Bytes of memory that the server has."""
    return int(open("/proc/%d/statm" % server.process.pid).read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def metric(server, name):
    return float([line for line in server.call("GET", "/metrics")[1].decode().splitlines() if line.startswith(name + " ")][0].split()[1])


def serves(server, count=20):
    for _ in range(count):
        assert server.call("GET", "/healthz", timeout=10)[0] == 200
        assert server.call("POST", "/v1/agents/home/decide", ASK, timeout=10)[0] == 201


def silent_connections_cost_nothing():
    """1,100 of them wedged the server for good, also after they were closed."""
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        for _ in range(2):
            crowd = connect(server, 1100)
            serves(server)
            close(crowd)
            serves(server)
        assert server.stop() == 0


def ten_thousand_connections_are_held():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10000, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count + 300)), hard))
    with home(PROGRAM, "--connections-per-address", 16000) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        before = rss(server)
        crowd = connect(server, count - 1000) + connect(server, 1000, sent=HEAD + b"Content-Length: 70000\r\n\r\n{")
        serves(server)
        assert not any(is_closed(one) for one in crowd[::97])
        assert rss(server) - before < ROOM * 60e6, "%.0f MB" % ((rss(server) - before) / 1e6)
        close(crowd)
        serves(server)
        assert server.stop() == 0


def an_address_has_its_share():
    """At a limit the connection that is missed least makes room, and nobody else's does."""
    with home(PROGRAM, "--connections", 300, "--connections-per-address", 100) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        others = connect(server, 50, "127.0.0.2")
        crowd = connect(server, 250, "127.0.0.3")
        assert until(lambda: sum(map(is_closed, crowd)) >= 150)
        assert sum(map(is_closed, crowd)) == 150 and all(map(is_closed, crowd[:150])), "the oldest went"
        assert not any(map(is_closed, others))
        used = connect(server, 1, "127.0.0.3")[0]  # a connection that is used stays
        for _ in range(5):
            used.setblocking(True)
            used.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert used.recv(1000).startswith(b"HTTP/1.1 200")
            crowd += connect(server, 40, "127.0.0.3")
            time.sleep(0.05)
        assert not is_closed(used)
        for last in range(4, 9):  # 300 in all
            crowd += connect(server, 90, "127.0.0.%d" % last)
        serves(server, 5)
        assert not is_closed(used)
        close(crowd + others + [used])
        assert server.stop() == 0


def half_sent_bodies_have_a_budget():
    """400 held bodies of 4 MB took 1.6 GB."""
    with home(PROGRAM, "--body-memory", 32) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        before, refused, held = rss(server), 0, []
        for _ in range(100):
            one = connect(server, 1)[0]
            try:
                one.sendall(HEAD + b"Content-Length: 4000000\r\n\r\n" + b" " * 2000000)
                time.sleep(0.002)
                one.setblocking(False)
                got = one.recv(4000)
                assert got.startswith(b"HTTP/1.1 503") and b"Retry-After: 1" in got and b'"code": "unavailable"' in got, got[:300]
                refused += 1
                one.close()
            except BlockingIOError:
                held.append(one)
            except OSError:  # refused, and closed while we were sending
                refused += 1
        for one in list(held):  # a busy machine refuses later
            if select.select([one], [], [], 0.05)[0]:
                refused += 1
                held.remove(one)
                one.close()
        assert held and refused > 50, (len(held), refused)
        assert rss(server) - before < ROOM * 60e6, "%.0f MB" % ((rss(server) - before) / 1e6)
        assert 4e6 < metric(server, "superarm_body_bytes") < 33e6
        serves(server)  # small bodies have their own share
        close(held)
        until(lambda: metric(server, "superarm_body_bytes") < 1e5)
        assert server.call("POST", "/v1/agents/home/decide", json.dumps(ASK) + " " * 3000000)[0] == 201
        assert server.stop() == 0


if __name__ == "__main__":
    main(silent_connections_cost_nothing, ten_thousand_connections_are_held, an_address_has_its_share, half_sent_bodies_have_a_budget)
