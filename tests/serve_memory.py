#!/usr/bin/env python3
"""serve_memory.py PROGRAM: an agent's memory is asked for before it is made, and a service whose memory runs out says 503 and goes on."""
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

from service import Server, home, main, until

PROGRAM = sys.argv[1]
SMALL = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
SKETCH = {"options": {"algorithm": "cn-ucb", "dim": 20, "confidence": "sketch"}, "slate": 4, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[(i * j % 7) / 7 for j in range(20)] for i in range(20)]}


def metric(server, name):
    return float([line for line in server.call("GET", "/metrics")[1].decode().splitlines() if line.startswith(name + " ")][0].split()[1])


def rss(server):
    return int(open("/proc/%d/statm" % server.process.pid).read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def agents_ask_for_their_memory():
    """A hundred sketches took 850 MB unasked."""
    with home(PROGRAM, "--memory", 40) as server:
        statuses, lock = [], threading.Lock()

        def put(first):
            for number in range(first, 40, 4):
                got = server.call("PUT", "/v1/agents/a%d" % number, SKETCH)
                with lock:
                    statuses.append(got[0])
                    assert got[0] == 201 or "--memory" in got[1]["error"]["message"], got
        makers = [threading.Thread(target=put, args=(first,)) for first in range(4)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        assert set(statuses) == {201, 409} and 2 <= statuses.count(201) <= 20, statuses
        assert metric(server, "superarm_memory_bytes") < 41e6 < 2 * metric(server, "superarm_memory_bytes") + 20e6
        assert metric(server, "superarm_memory_limit_bytes") == 40 * 2**20
        assert rss(server) < 200e6
        assert server.call("PUT", "/v1/agents/small", SMALL)[0] == 201, "there is room for a small one"
        made = [agent["name"] for agent in server.call("GET", "/v1/agents")[1]["agents"] if agent["name"] != "small"]
        assert server.call("PUT", "/v1/agents/" + made[0], {**SKETCH, "reset": True})[0] == 200, "in its own place"
        assert server.call("PUT", "/v1/agents/small", {**SKETCH, "reset": True})[0] == 409
        assert server.call("DELETE", "/v1/agents/" + made[0])[0] == 204
        assert server.call("DELETE", "/v1/agents/" + made[1])[0] == 204
        until(lambda: server.call("PUT", "/v1/agents/again", SKETCH)[0] == 201)
        assert server.stop() == 0


def what_runs_out_of_memory_goes_on():
    """With 300 MB of addresses, and agents that want more."""
    with tempfile.TemporaryDirectory() as folder:
        port = folder + "/port"
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        process = subprocess.Popen([PROGRAM, "serve", "--dir", folder + "/shop", "--port", "0", "--port-file", port, "--quiet", "--memory", "4000"],
                                   stdout=subprocess.DEVNULL, preexec_fn=limit)
        try:
            until(lambda: os.path.exists(port))
            server = Server(PROGRAM, folder + "/shop")
            server.port = int(open(port).read())
            assert server.call("PUT", "/v1/agents/home", {**SKETCH, "options": {**SKETCH["options"], "confidence": "exact"}})[0] == 201
            statuses = [server.call("PUT", "/v1/agents/a%d" % number, SKETCH)[0] for number in range(60)]
            assert set(statuses) == {201, 503}, set(statuses)
            made = statuses.count(201)
            for number in range(made):
                server.call("DELETE", "/v1/agents/a%d" % number)
            decided = [server.call("POST", "/v1/agents/home/decide", ASK)[0] for _ in range(50)]
            assert set(decided) <= {201, 503}, set(decided)
            until(lambda: server.call("POST", "/v1/agents/home/decide", ASK)[0] == 201)
            assert server.call("GET", "/healthz")[0] == 200
            ticks = lambda: sum(map(int, open("/proc/%d/stat" % process.pid).read().rsplit(")", 1)[1].split()[11:13]))
            before = ticks()
            time.sleep(1)
            assert ticks() - before < 50, "it spins"
            process.terminate()
            assert process.wait(40) == 0
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main(agents_ask_for_their_memory, what_runs_out_of_memory_goes_on)
