#!/usr/bin/env python3
"""serve_keys.py PROGRAM: keys have names, are read again while requests are answered, and the log says who asked for what, and why it was refused."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from service import Server, home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}


def line(role, key, name=""):
    return " ".join(word for word in (role, name, "sha256:" + hashlib.sha256(key.encode()).hexdigest()) if word) + "\n"


def write(path, text, mode=0o600):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.rename(path + ".new", path)


def bearer(key):
    return {"Authorization": "Bearer " + key}


def several_of_a_role_and_other_ones_at_sighup():
    """SIGHUP killed the service."""
    with tempfile.TemporaryDirectory() as folder:
        keys = folder + "/keys"
        write(keys, "# of the shop\n" + line("admin", "root") + line("client", "one", "web") + line("client", "two", "app") + line("admin", "boss", "ops"))
        server = Server(PROGRAM, folder + "/shop", "--keys", keys)
        server.start()
        try:
            assert server.call("PUT", "/v1/agents/home", AGENT, bearer("boss"))[0] == 201
            assert server.call("GET", "/v1/agents/home", None, bearer("root"))[0] == 200
            for key, status in (("one", 201), ("two", 201), ("three", 401), ("", 401)):
                assert server.call("POST", "/v1/agents/home/decide", ASK, bearer(key))[0] == status, key
            assert server.call("GET", "/v1/agents/home", None, bearer("two"))[0] == 403
            failed, stop, count = [], threading.Event(), [0]

            def ask():
                while not stop.is_set():
                    status = server.call("POST", "/v1/agents/home/decide", ASK, bearer("two"))[0]
                    count[0] += 1
                    if status != 201:
                        failed.append(status)
            clients = [threading.Thread(target=ask) for _ in range(4)]
            for client in clients:
                client.start()
            for number in range(20):  # no request is lost meanwhile
                write(keys, line("admin", "root") + line("client", "two", "app") + line("client", "new%d" % number, "n"))
                server.process.send_signal(signal.SIGHUP)
                until(lambda: server.call("GET", "/metrics", None, bearer("new%d" % number))[0] == 200)
            assert server.call("POST", "/v1/agents/home/decide", ASK, bearer("one"))[0] == 401, "it was taken away"
            write(keys, line("client", "two", "app"))  # no admin: refused, and nothing changes
            server.process.send_signal(signal.SIGHUP)
            until(lambda: "stay as they were" in open(server.folder + ".err").read())
            assert server.call("GET", "/v1/agents/home", None, bearer("root"))[0] == 200
            stop.set()
            for client in clients:
                client.join()
            assert not failed and count[0] > 20, (failed, count)
            assert server.stop() == 0
        finally:
            if server.process.poll() is None:
                server.kill()
    with home(PROGRAM) as server:  # without keys there is nothing to read
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        assert server.call("GET", "/healthz")[0] == 200 and server.stop() == 0


def wrong_files_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        keys = folder + "/keys"
        start = lambda: subprocess.run([PROGRAM, "serve", "--dir", folder + "/shop", "--port", "0", "--keys", keys], capture_output=True, text=True, timeout=60)
        for text, words in ((line("admin", "a") + line("admin", "b"), "name admin already"),  # a second line of a name
                            (line("admin", "a") + line("client", "b", "web") + line("client", "c", "web"), "line 3"),
                            (line("client", "a"), "no admin key"), (line("owner", "a"), "neither admin nor client"),
                            ("admin web sha256:12\n", "64 hexadecimal"), ("admin\n", "is not like"), (line("admin", "a", "a/b"), "names of keys"),
                            (line("admin", "a").strip() + " more words\n", "is not like")):
            write(keys, text)
            done = start()
            assert done.returncode == 2 and words in done.stderr, (text, done)
        write(keys, line("admin", "a"), 0o666)
        assert start().returncode == 2
        write(keys, line("admin", "a"), 0o640)  # a warning, no more
        server = Server(PROGRAM, folder + "/shop", "--keys", keys).start()
        assert "chmod 600" in open(server.folder + ".err").read() and server.stop() == 0


def keys_are_added():
    with tempfile.TemporaryDirectory() as folder:
        keys = folder + "/keys"
        run = lambda *words: subprocess.run([PROGRAM, "serve", *words], capture_output=True, text=True, timeout=60)
        assert run("--new-keys", keys).returncode == 0
        added = run("--add-key", "client:web", "--keys", keys)
        assert added.returncode == 0 and added.stdout.startswith("client:web "), added
        key = added.stdout.split()[1]
        assert key not in open(keys).read() and line("client", key, "web") in open(keys).read()
        for words in (("--add-key", "client:web", "--keys", keys), ("--add-key", "owner:x", "--keys", keys), ("--add-key", "client", "--keys", keys),
                      ("--add-key", "client:", "--keys", keys), ("--add-key", "client:a b", "--keys", keys), ("--add-key", "client:y"),
                      ("--add-key", "client:y", "--keys", folder + "/none")):
            assert run(*words).returncode == 2, words
        server = Server(PROGRAM, folder + "/shop", "--keys", keys).start()
        assert server.call("GET", "/metrics", None, bearer(key))[0] == 200 and server.stop() == 0


def lines(server):
    return [json.loads(each) for each in open(server.folder + ".err") if each.startswith("{")]


def the_log_says_who_and_what():
    with tempfile.TemporaryDirectory() as folder:
        keys = folder + "/keys"
        write(keys, line("admin", "root") + line("client", "one", "web"))
        for which in ("requests", "errors", "none"):
            server = Server(PROGRAM, folder + "/" + which, "--keys", keys, "--log", which)
            server.quiet = False
            server.start()
            server.call("PUT", "/v1/agents/home", AGENT, bearer("root"))
            server.call("POST", "/v1/agents/home/decide", {**ASK, "event": "e-1"}, bearer("one"))
            server.call("POST", "/v1/agents/home/feedback", {"event": "e-1", "feedback": {"9": 1}}, bearer("one"))
            server.call("POST", "/v1/agents/home/decide", ASK, bearer("wrong"))
            server.raw(b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n")
            assert server.stop() == 0
            seen = {(each["route"], each["status"]): each for each in lines(server)}
            if which == "none":
                assert not seen
                continue
            assert (("decide", 201) in seen) == (which == "requests"), seen.keys()
            if which == "requests":
                assert seen["decide", 201]["event"] == "e-1" and seen["decide", 201]["key"] == "web" and seen["decide", 201]["agent"] == "home"
                assert "error" not in seen["decide", 201]
            wrong = seen["feedback", 400]
            assert wrong["event"] == "e-1" and wrong["agent"] == "home" and wrong["address"] == "127.0.0.1" and "9 is not in the slate" in wrong["error"], wrong
            assert "needs a key" in seen["decide", 401]["error"] and "key" not in seen["decide", 401]
            assert "twice" in seen["none", 400]["error"]
        done = subprocess.run([PROGRAM, "serve", "--dir", folder + "/x", "--log", "all"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and "requests, errors or none" in done.stderr


def a_reader_that_does_not_read_keeps_nobody_waiting():
    """stderr is a pipe that is full."""
    with tempfile.TemporaryDirectory() as folder:
        port = folder + "/port"
        process = subprocess.Popen([PROGRAM, "serve", "--dir", folder + "/shop", "--port", "0", "--port-file", port], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            until(lambda: os.path.exists(port))
            server = Server(PROGRAM, folder + "/shop")
            server.port = int(open(port).read())
            for _ in range(1500):  # more than a pipe holds
                assert server.call("GET", "/nowhere" + "x" * 100, timeout=10)[0] == 404
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()
            process.stderr.close()


if __name__ == "__main__":
    main(several_of_a_role_and_other_ones_at_sighup, wrong_files_are_refused, keys_are_added, the_log_says_who_and_what, a_reader_that_does_not_read_keeps_nobody_waiting)
