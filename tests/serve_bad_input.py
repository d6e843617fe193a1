#!/usr/bin/env python3
"""serve_bad_input.py PROGRAM: malformed requests, more than 200. Each gets a 4xx with a sentence, none a 5xx, and the service goes on."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

from service import Server, home, main

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}
count = 0


def refused(name, got, statuses=(400,)):
    """`got`: what Server.call or Server.raw gave."""
    global count
    count += 1
    if isinstance(got, bytes):
        assert got.startswith(b"HTTP/1."), (name, got[:80])
        status, rest = int(got.split()[1]), got.partition(b"\r\n\r\n")[2]
        sentence = rest
    else:
        status, sentence = got[0], got[1]
    assert status in statuses, (name, status, sentence)
    if isinstance(sentence, dict):
        assert sentence["error"]["code"] and len(sentence["error"]["message"]) > 8, (name, sentence)
    else:
        assert len(sentence) > 8, (name, status, sentence)


def decide(server, body):
    return server.call("POST", "/v1/agents/home/decide", body)


def wrong_decisions(server):
    bodies = ["", "x", "{", "[]", "1", "null", '"text"', "true", "{}", '{"contexts"}', '{"contexts":}', '{"contexts": [[0, 1], [1, 0]]',
              '{"contexts": [[0, 1], [1, 0]]}}', '{"contexts": [[0, 1], [1, 0]]} x', '{"contexts": [[0, NaN], [1, 0]]}',
              '{"contexts": [[0, Infinity], [1, 0]]}', '{"contexts": [[0, 1e999], [1, 0]]}', '{"contexts": [[0, -1e999], [1, 0]]}',
              '{"contexts": [[0, 1], [1, 0]], "contexts": [[0, 1]]}', '{"contexts": [[0, 1.], [1, 0]]}', '{"contexts": [[0, 01], [1, 0]]}',
              '{"contexts": [[0, +1], [1, 0]]}', "{'contexts': [[0, 1], [1, 0]]}", '{"contexts": [[0, 1],, [1, 0]]}', '{"contexts": [[0, 0x1], [1, 0]]}',
              b'{"event": "\xff\xfe", "contexts": [[0, 1], [1, 0]]}', b'\xef\xbb\xbf{"contexts": [[0, 1], [1, 0]]}', b'{"event": "a\x00b", "contexts": [[0, 1], [1, 0]]}',
              b'{"event": "\xed\xa0\x80", "contexts": [[0, 1], [1, 0]]}', '{"event": "\\ud800", "contexts": [[0, 1], [1, 0]]}',
              '{"event": "a\\u0000b", "contexts": [[0, 1], [1, 0]]}', b"\x00" * 40, b"\x1f\x8b" + b"\x00" * 60, "{" * 40, "[" * 100000, '{"a":' * 5000,
              '{"contexts": ' + "[" * 30 + "]" * 30 + "}", "{}" * 10, '{"contexts": [[0, 1], [1, 0]]' + " " * 1000]
    for body in bodies:
        refused(("body", body[:60]), decide(server, body))
    good = ASK["contexts"]
    for contexts in ([], {}, None, True, 5, "x", [[]], [[1]], [[1, 2, 3]] * 3, [[0, 1], [1]], [[0, 1], 5], [[0, 1], None], [[0, 1], "ab"], [[0, "1"], [1, 0]],
                     [[0, None], [1, 0]], [[0, True], [1, 0]], [[0, [1]], [1, 0]], [[0, {}], [1, 0]], [0, 1], [[0, 1]] * 10001, [[[0, 1]], [[1, 0]]], [[0, 1]]):
        refused(("contexts", str(contexts)[:60]), decide(server, {"contexts": contexts}))
    for field, values in {"event": (1, None, True, [], {}, "", "x" * 257, 1.5), "slate": (0, -1, 1.5, "2", None, True, [], {}, 4, 1e9, 10001, 1e300),
                          "exclude": (1, None, "0", {}, ["0"], [3], [-1], [0.5], [None], [[0]], [0, 1, 2], [0, 0, 0, 0], [1e30]),
                          "explain": (1, None, "true", [], 0), "problem": (1, None, [], "x", {"costs": 1}, {"costs": []}, {"costs": [1, 2]}, {"costs": ["a"] * 3},
                                                                          {"nothing": 1}, {"capacity": "x"}, {"capacity": None}, {"groups": [0.5] * 3}, {"groups": [-1] * 3},
                                                                          {"edges": [[0, 1]]}, {"edges": [0, 1, 2]}, {"edges": [[0], [1], [2]]}, {"source": 1},
                                                                          {"source": "a", "target": 0}, {"matrix": [[1, 2, 3]]}, {"matrix": [[1, 2]], "bounds": [1]},
                                                                          {"matrix": [[1, 2, 3]], "bounds": [1, 2]}, {"topics": [[1], [1, 2], [1]]}, {"reward": 5},
                                                                          {"reward": "never"}, {"discounts": 1}, {"discounts": [None]}, {"capacities": [1e300]}),
                          "context": ({}, 1, None), "items": ([], [{"id": "a"}], None, 5), "Slate": (1,), "seed": (1,), "": (1,), "\u00e9" * 200: (1,)}.items():
        for value in values:
            refused((field, str(value)[:60]), decide(server, {"contexts": good, field: value}))
    refused("slate of more than there are", decide(server, {"contexts": good, "exclude": [0], "slate": 3}))
    assert decide(server, {**ASK, "event": "e1"})[0] == 201
    refused("another body for the event", decide(server, {**ASK, "event": "e1", "explain": True}), (409,))
    refused("the event with what cannot be decided", decide(server, {**ASK, "event": "e1", "slate": 9}), (409,))


def wrong_feedback(server):
    call = lambda body: server.call("POST", "/v1/agents/home/feedback", body)
    slate = decide(server, {**ASK, "event": "f1"})[1]["slate"]
    for body in ({}, {"event": "f1"}, {"feedback": [1, 0]}, {"event": 1, "feedback": [1, 0]}, {"event": None, "feedback": [1, 0]}, {"event": "", "feedback": [1, 0]},
                 {"event": "f1", "feedback": None}, {"event": "f1", "feedback": 1}, {"event": "f1", "feedback": "1,0"}, {"event": "f1", "feedback": []},
                 {"event": "f1", "feedback": {}}, {"event": "f1", "feedback": [1]}, {"event": "f1", "feedback": [1, 0, 0]}, {"event": "f1", "feedback": ["1", 0]},
                 {"event": "f1", "feedback": [True, 0]}, {"event": "f1", "feedback": [[1], 0]}, {"event": "f1", "feedback": {"9": 1}}, {"event": "f1", "feedback": {"": 1}},
                 {"event": "f1", "feedback": {str(slate[0]): "x"}}, {"event": "f1", "feedback": {str(slate[0]): [1]}}, {"event": "f1", "feedback": {"0x0": 1}},
                 {"event": "f1", "feedback": [1, 0], "id": 5}, {"event": "f1", "feedback": [1, 0], "id": ""}, {"event": "f1", "feedback": [1, 0], "id": "x" * 300},
                 {"event": "f1", "feedback": [1, 0], "scores": [1]}, {"event": "f1", "feedback": [1, 0], "Id": "a"}, {"event": "x" * 300, "feedback": [1, 0]},
                 '{"event": "f1", "feedback": [NaN, 0]}', '{"event": "f1", "feedback": [1e999, 0]}', '{"event": "f1", "feedback": [1, 0]', "[]", "", "{}{}",
                 '{"event": "f1", "event": "f1", "feedback": [1, 0]}', b'{"event": "f1", "feedback": [1, 0], "id": "\xc3\x28"}'):
        refused(("feedback", str(body)[:60]), call(body))
    for event in ("none", "E1", "f1 ", "' OR 1=1 --", "f%", "../f1"):
        refused(("event", event), call({"event": event, "feedback": [1, 0]}), (404,))


def wrong_agents(server):
    put = lambda body, name="new": server.call("PUT", "/v1/agents/" + name, body)
    for options in ({"dim": 0}, {"dim": -1}, {"dim": 1.5}, {"dim": "x"}, {"dim": None}, {"dim": [2]}, {"dim": 1e12}, {"dim": 200000}, {}, {"dim": 2, "algorithm": "nope"},
                    {"dim": 2, "algorithm": 5}, {"dim": 2, "hidden": 1e7}, {"dim": 2, "depth": 999}, {"dim": 2, "gamma": "x"}, {"dim": 2, "gamma": -1},
                    {"dim": 2, "count-pending": True}, {"dim": 2, "algorithm": "best"}, {"dim": 2, "oracle": "own"}, {"dim": 2, "history": "/etc/passwd"}, {"dim": 2, "init-weights": "/etc/passwd"}, {"dim": 2, "out": "/tmp/x"},
                    {"dim": 2, "trace": "/tmp/x"}, {"dim": 2, "arms": 5}, {"dim": 2, "preset": "none"}, {"dim": 2, "oracle": "x"}, {"dim": 2, "nothing": 1},
                    {"dim": 2, "slate": 3}, {"dim": 2, "x" * 200: 1}, {"dim": 2, "algorithm": "x" * 600}, {"dim": 2, "threads": 4}, 5, [], "x", None):
        refused(("options", str(options)[:60]), put({**AGENT, "options": options}))
    for field, values in {"slate": (0, -1, 1.5, "x", None, 1e9), "default_feedback": ("x", True, [], {}), "wait_seconds": (-1, "x", None, 1e12, []),
                          "aggregate": ("mean", 1, None, [], ""), "retention_days": (-1, "x", None, 1e9), "reset": (1, "true", None), "schema": ({}, 1, "x"),
                          "name": ("x",), "Options": ({},)}.items():
        for value in values:
            refused((field, str(value)[:60]), put({**AGENT, field: value}))
    refused("NaN", put('{"options": {"dim": 2}, "default_feedback": NaN}'))
    refused("other options", put({**AGENT, "options": {**AGENT["options"], "hidden": 9}}, "home"), (409,))
    for name in ("a b", "a%20b", "%00", "a%2", "%zz", "x" * 65, "..%2f..", "a;b", "caf%C3%A9", "a'b", "<b>", "a%0ab", ""):
        refused(("name", name), server.call("PUT", "/v1/agents/" + name.replace(" ", "%20"), AGENT), (404, 405))
    assert server.call("GET", "/v1/agents/new")[0] == 404


def wrong_paths_and_methods(server):
    for path in ("/v1", "/v2/agents", "/v1/agents/home/", "/v1/agents//decide", "/v1/agents/home/decide/x", "/V1/agents", "//", "/../etc/passwd", "/%2e%2e/etc/passwd",
                 "/v1/agents/home/events/", "/v1/agents/home/Log", "/favicon.ico", "/page.html", "/?x=1/../..", "/v1/agents/nobody", "/v1/agents/nobody/log"):
        if not path.startswith("/?"):
            refused(("path", path), server.call("GET", path), (404,))
    for method, path in (("DELETE", "/"), ("POST", "/"), ("PUT", "/healthz"), ("POST", "/v1/agents"), ("DELETE", "/v1/agents"), ("PATCH", "/v1/agents/home"),
                         ("POST", "/v1/agents/home"), ("GET", "/v1/agents/home/decide"), ("PUT", "/v1/agents/home/decide"), ("DELETE", "/v1/agents/home/feedback"),
                         ("POST", "/v1/agents/home/log"), ("DELETE", "/v1/agents/home/model"), ("GET", "/v1/agents/home/events/e1"), ("OPTIONS", "/v1/agents/home/decide"),
                         ("FROB", "/v1/agents"), ("TRACE", "/"), ("CONNECT", "/"), ("get", "/")):
        got = server.call(method, path)
        refused((method, path), got, (405,))
        assert got[2]["Allow"], (method, path)
    for query in ("from=x", "from=-1", "from=1x", "from=99999999999999999999999", "limit=x", "from=", "from=1&limit=-5"):
        refused(query, server.call("GET", "/v1/agents/home/log?" + query))
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx", "multipart/form-data; boundary=x", "application/octet-stream"):
        refused(("type", kind), server.call("POST", "/v1/agents/home/decide", json.dumps(ASK), {"Content-Type": kind}), (415,))
    refused("type of a model", server.call("PUT", "/v1/agents/home/model", b"PK", {"Content-Type": "application/json"}), (415,))
    for body in (b"", b"PK\x03\x04", b"\x00" * 100, b"PK\x05\x06" + b"\x00" * 18):
        refused(("model", body[:8]), server.call("PUT", "/v1/agents/home/model", body, {"Content-Type": "application/zip"}))


def wrong_http(server):
    host, kind = b"Host: 127.0.0.1\r\n", b"Content-Type: application/json\r\n"
    good = json.dumps(ASK).encode()
    post = b"POST /v1/agents/home/decide HTTP/1.1\r\n" + host + kind
    whole = post + b"Content-Length: %d\r\n\r\n" % len(good) + good
    for sent, statuses in ((post + b"Content-Length: 5000000\r\n\r\n", (413,)), (post + b"Content-Length: 99999999999999\r\n\r\n", (413,)),
                           (post + b"Content-Length: -5\r\n\r\n", (400,)), (post + b"Content-Length: x\r\n\r\n", (400,)),
                           (post + b"Content-Length: 99999999999999999999999999\r\n\r\n", (400, 413)),
                           (b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 60000 + b"\r\n\r\n", (400, 413, 414, 431)),
                           (b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\n" + host + b"\r\n", (400, 404, 414, 431)),
                           (b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: y\r\n" % i for i in range(8000)) + b"\r\n", (400, 413, 431)),
                           (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", (403,)), (b"GET / HTTP/1.1\r\n\r\n", (400, 403)),
                           (post + b"Transfer-Encoding: chunked\r\n\r\n" + b"3\r\n{}}\r\n0\r\n\r\n", (400,)),
                           (post + b"Transfer-Encoding: chunked\r\n\r\n" + b"zz\r\n{}\r\n0\r\n\r\n", (400,))):
        refused(("http", sent[:60]), server.raw(sent), statuses)
    big = server.raw(post + b"Transfer-Encoding: chunked\r\n\r\n" + (b"100000\r\n" + b" " * 0x100000 + b"\r\n") * 5 + b"0\r\n\r\n")
    refused("a body in parts that is too large", big, (413,))
    for sent in (b"\r\n", b"\x00" * 50, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", post + b"Content-Length: 100\r\n\r\n{"):
        got = server.raw(sent, timeout=1, close=True)  # a refusal, or the connection ends
        assert not got or int(got.split()[1]) // 100 == 4, (sent[:40], got[:80])
    assert server.raw(b"GET / HTTP/9.9\r\n\r\n").startswith(b"HTTP/1.1 505"), "no such version"
    got = server.raw(whole * 20 + b"GET /nowhere HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n", timeout=5)
    assert got.startswith(b"HTTP/1.1 201"), got[:80]
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as pipelined:
        pipelined.sendall(whole * 20 + b"GET /nowhere HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
        got = b""
        while part := pipelined.recv(65536):
            got += part
    assert got.count(b"HTTP/1.1 201") == 20 and got.count(b"HTTP/1.1 404") == 1, "pipelined requests are answered in order"


def everything_malformed_is_refused():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        for part in (wrong_decisions, wrong_feedback, wrong_agents, wrong_paths_and_methods, wrong_http):
            part(server)
            assert server.process.poll() is None and decide(server, ASK)[0] == 201, part.__name__
        metrics = server.call("GET", "/metrics")[1].decode()
        assert 'status="5xx"' not in metrics, [line for line in metrics.splitlines() if "5xx" in line]
        assert server.stop() == 0
    print(count, "requests refused")
    assert count >= 200


def slow_clients_cost_a_slot_and_no_thread():
    with home(PROGRAM, "--request-seconds", 1, "--threads", 2) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        slow = []
        for i in range(40):
            client = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            client.sendall(b"POST /v1/agents/home/decide HTTP/1.1\r\nHost: 127.0.0.1\r\n" if i % 2 else
                           b"POST /v1/agents/home/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n{")
            slow.append(client)
        begin = time.monotonic()
        answers = 0
        while time.monotonic() - begin < 1.5:  # the others are served all the while
            assert decide(server, ASK)[0] == 201
            answers += 1
            for client in slow[:5]:
                try:
                    client.sendall(b" ")
                except OSError:
                    pass
        assert answers > 20, answers
        for client in slow:
            got = client.recv(1000)
            assert got.startswith(b"HTTP/1.1 408") and b"in time" in got, got
            client.close()
        assert server.stop() == 0


def wrong_commands_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/file", "w").write("x")
        open(folder + "/keys", "w").write("admin md5:xyz\n")
        os.mkdir(folder + "/other")
        open(folder + "/other/journal.db", "w").write("this is no database at all, but long enough to look at" * 20)
        for words in ([], ["--dir"], ["--dir", ""], ["--port", "99999", "--dir", folder], ["--port", "x", "--dir", folder], ["--frob"], ["shop"],
                      ["--dir", folder + "/no/such/parent"], ["--dir", folder + "/file"], ["--dir", folder, "--bind", "0.0.0.0"], ["--dir", folder, "--bind", "::"],
                      ["--dir", folder, "--bind", "nowhere"], ["--dir", folder, "--keys", folder + "/none"], ["--dir", folder, "--keys", folder + "/keys"],
                      ["--check", folder + "/none"], ["--backup", folder + "/copy", "--dir", folder + "/none"], ["--checkpoint-seconds", "0", "--dir", folder],
                      ["--request-seconds", "nan", "--dir", folder], ["--check", folder + "/other"]):
            done = subprocess.run([PROGRAM, "serve", *words], capture_output=True, text=True, timeout=20)
            assert done.returncode == 2 and done.stderr.startswith("superarm serve: ") and done.stderr.count("\n") == 1, (words, done)
        done = subprocess.run([PROGRAM, "serve", "--dir", folder + "/other", "--port", "0"], capture_output=True, text=True, timeout=20)
        assert done.returncode == 1 and "journal.db" in done.stderr, done


if __name__ == "__main__":
    main(everything_malformed_is_refused, slow_clients_cost_a_slot_and_no_thread, wrong_commands_are_refused)
