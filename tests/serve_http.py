#!/usr/bin/env python3
"""serve_http.py PROGRAM: HTTP that two programs could read differently is refused, every refusal is our JSON, and nothing of the machine is in it."""
import json
import re
import socket
import sys
import threading
import time

from service import home, main

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = json.dumps({"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}).encode()
HOST, KIND = b"Host: 127.0.0.1\r\n", b"Content-Type: application/json\r\n"
POST = b"POST /v1/agents/home/decide HTTP/1.1\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(ASK)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ASK), ASK)


def all_of(server, sent, seconds=10):
    """All that comes back until the server closes, which it must."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as one:
        one.sendall(sent)
        got = b""
        while True:
            try:
                part = one.recv(65536)
            except ConnectionResetError:
                return got
            if not part:
                return got
            got += part


def parts(got):
    head, _, body = got.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    return int(head.split()[1]), fields, body


def is_refused(server, name, sent, status):
    """One answer, in JSON, and the connection ends: what comes behind is not taken for a request."""
    got = all_of(server, sent + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    code, fields, body = parts(got)
    assert code == status, (name, got[:300])
    assert got.count(b"HTTP/1.1 ") == 1 and fields[b"connection"] == b"close", (name, got)
    assert fields[b"content-type"].startswith(b"application/json") and int(fields[b"content-length"]) == len(body), (name, got)
    error = json.loads(body)["error"]
    assert error["code"] and len(error["message"]) > 8, (name, body)


def heads_are_read_strictly():
    whole = HOST + KIND + LENGTH
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        for name, sent, status in (
                ("a length and chunks", POST + whole + CHUNKED + b"\r\n" + CHUNKS, 400),
                ("chunks and a length", POST + HOST + KIND + CHUNKED + LENGTH + b"\r\n" + CHUNKS, 400),
                ("two lengths that differ", POST + whole + b"Content-Length: 4\r\n\r\n" + ASK, 400),
                ("a list of lengths", POST + HOST + KIND + b"Content-Length: 5, 5\r\n\r\n" + ASK, 400),
                ("a space before the colon", POST + HOST + KIND + b"Content-Length : %d\r\n\r\n" % len(ASK) + ASK, 400),
                ("two hosts", POST + HOST + whole + b"\r\n" + ASK, 400),
                ("two hosts that differ", POST + b"Host: evil.example\r\n" + whole + b"\r\n" + ASK, 400),
                ("no host", POST + KIND + LENGTH + b"\r\n" + ASK, 400),
                ("a sign", POST + HOST + KIND + b"Content-Length: +5\r\n\r\n" + ASK, 400),
                ("hexadecimal", POST + HOST + KIND + b"Content-Length: 0x5\r\n\r\n" + ASK, 400),
                ("another encoding", POST + HOST + KIND + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS, 400),
                ("chunked twice", POST + HOST + KIND + CHUNKED + CHUNKED + b"\r\n" + CHUNKS, 400),
                ("a folded line", POST + HOST + b" folded: x\r\n" + KIND + LENGTH + b"\r\n" + ASK, 400),
                ("a lone line feed", b"GET / HTTP/1.1\nHost: 127.0.0.1\r\n\r\n", 400),
                ("a zero in a value", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\x00b\r\n\r\n", 400),
                ("a name with a space", b"GET / HTTP/1.1\r\n" + HOST + b"A B: c\r\n\r\n", 400),
                ("two keys", b"GET / HTTP/1.1\r\n" + HOST + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", 400),
                ("no path", b"GET HTTP/1.1\r\n" + HOST + b"\r\n", 400),
                ("a whole address", b"GET http://127.0.0.1/ HTTP/1.1\r\n" + HOST + b"\r\n", 400),
                ("no version", b"GET /\r\n" + HOST + b"\r\n", 400),
                ("chunks in HTTP/1.0", b"POST /v1/agents/home/decide HTTP/1.0\r\n" + HOST + KIND + CHUNKED + b"\r\n" + CHUNKS, 400),
                ("a size that is none", POST + HOST + KIND + CHUNKED + b"\r\n" + b"5x\r\n{}\r\n0\r\n\r\n", 400),
                ("a chunk that is longer than it says", POST + HOST + KIND + CHUNKED + b"\r\n" + b"2\r\n{}}\r\n0\r\n\r\n", 400),
                ("another version", b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", 505),
                ("a long line", b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
                ("many headers", b"GET / HTTP/1.1\r\n" + HOST + b"".join(b"X%d: y\r\n" % i for i in range(200)) + b"\r\n", 431),
                ("long headers", b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 40000 + b"\r\n\r\n", 431),
                ("a body that is too large", POST + HOST + KIND + b"Content-Length: 5000000\r\n\r\n", 413)):
            is_refused(server, name, sent, status)
        got = all_of(server, (POST + HOST + KIND + CHUNKED + b"\r\n" + CHUNKS) + POST + whole + b"Connection: close\r\n\r\n" + ASK)
        assert got.count(b"HTTP/1.1 201") == 2, got
        got = all_of(server, b"HEAD / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        assert parts(got)[0] == 200 and int(parts(got)[1][b"content-length"]) > 100 and not parts(got)[2], got
        got = all_of(server, POST + whole + b"Expect: 100-continue\r\nConnection: close\r\n\r\n" + ASK)
        assert got.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201"), got
        assert server.stop() == 0


def requests_that_are_cut_are_one():
    """A byte at a time, and many in one piece, are the same requests."""
    one = POST + HOST + KIND + CHUNKED + b"\r\n" + CHUNKS
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
            slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(len(one)):
                slow.sendall(one[at:at + 1])
            assert slow.recv(4000).startswith(b"HTTP/1.1 201")
            slow.sendall(one * 99 + b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
            got = b""
            while part := slow.recv(65536):
                got += part
            assert got.count(b"HTTP/1.1 201") == 99 and got.count(b"HTTP/1.1 200") == 1
        assert server.stop() == 0


def nothing_of_the_machine_is_told():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        for body in (b"PK\x03\x04", b"\x00" * 100, b"PK\x05\x06" + b"\x00" * 18):
            got = server.call("PUT", "/v1/agents/home/model", body, {"Content-Type": "application/zip"})
            assert got[0] == 400 and not re.search("0x[0-9a-f]{6,}", str(got[1])), got
        for name in (".", "..", "%2e", "%2e%2e", ".%2E"):
            assert server.call("PUT", "/v1/agents/" + name, AGENT)[0] == 404, name
            assert server.call("POST", "/v1/agents/%s/decide" % name, ASK)[0] == 404, name
        assert server.call("PUT", "/v1/agents/a..b.", AGENT)[0] == 201


def slow_decisions_leave_the_others_alone():
    """Ten thousand arms each, from as many clients as there are threads and more."""
    large = json.dumps({"contexts": [[i % 7 / 7, i % 11 / 11] for i in range(10000)], "slate": 10000}).encode()
    with home(PROGRAM, "--threads", 2) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        stop, answers = threading.Event(), []

        def ask():
            while not stop.is_set():
                answers.append(server.call("POST", "/v1/agents/home/decide", large, {"Content-Type": "application/json"}, timeout=120)[0])
        clients = [threading.Thread(target=ask) for _ in range(6)]
        for client in clients:
            client.start()
        time.sleep(0.3)
        longest = {}
        for _ in range(30):
            for method, path, body in (("GET", "/healthz", None), ("GET", "/readyz", None), ("POST", "/v1/agents/home/decide", ASK)):
                begin = time.monotonic()
                assert server.call(method, path, body, timeout=60)[0] in (200, 201)
                longest[path] = max(longest.get(path, 0), time.monotonic() - begin)
        stop.set()
        for client in clients:
            client.join()
        assert set(answers) <= {201, 503, 429} and 201 in answers, set(answers)
        assert max(longest.values()) < 5, longest
        assert server.stop() == 0


if __name__ == "__main__":
    main(heads_are_read_strictly, requests_that_are_cut_are_one, nothing_of_the_machine_is_told, slow_decisions_leave_the_others_alone)
