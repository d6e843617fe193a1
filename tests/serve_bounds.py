#!/usr/bin/env python3
"""serve_bounds.py PROGRAM: one request cannot take the house down. Numbers that break a solver, rules that take for ever, node numbers as large as memory,
slates of ten thousand arms: each is answered or refused soon, and everybody else is served meanwhile."""
import http.client
import json
import os
import signal
import sys
import threading
import time

from service import home, main, market_split, until

PROGRAM = sys.argv[1]
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}


def agent(oracle, **more):
    return {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 8, **({"oracle": oracle} if oracle else {})}, "slate": 2, "default_feedback": 0, "wait_seconds": 0, **more}


def decide(server, name, problem, contexts=None, timeout=60, **more):
    return server.call("POST", "/v1/agents/%s/decide" % name, {"contexts": contexts or ASK["contexts"], "problem": problem, **more}, timeout=timeout)


def rss(server):
    return int(open("/proc/%d/statm" % server.process.pid).read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak(server):
    return int([line for line in open("/proc/%d/status" % server.process.pid) if line.startswith("VmHWM")][0].split()[1]) * 1024


def metric(server, name):
    return float([line for line in server.call("GET", "/metrics")[1].decode().splitlines() if line.startswith(name + " ")][0].split()[1])


def helpers(server):
    """The processes that solve for it."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(open("/proc/%s/stat" % number).read().rsplit(")", 1)[1].split()[1]) == server.process.pid:
                found.append(int(number))
        except (OSError, IndexError):
            pass
    return found




def wild_numbers_are_refused():
    with home(PROGRAM) as server:
        for name, oracle in (("ilp", "ilp"), ("page", "assignment"), ("bag", "knapsack"), ("net", "matching"), ("kinds", "matroid"), ("way", "shortest-path")):
            assert server.call("PUT", "/v1/agents/" + name, agent(oracle))[0] == 201
        for bound in (-1e308, 1e308, -1e300, 1e16, -1e20):
            for name in ("ilp", "page"):
                got = decide(server, name, {"matrix": [[1, 1, 1]], "bounds": [bound]})
                assert got[0] == 400 and "bounds" in got[1]["error"]["message"], (name, bound, got)
                got = decide(server, name, {"matrix": [[bound, 1, 1]], "bounds": [1]})
                assert got[0] == 400 and "matrix" in got[1]["error"]["message"], (name, bound, got)
            assert decide(server, "bag", {"costs": [bound, 1, 1], "capacity": 2})[0] == 400
            assert decide(server, "bag", {"costs": [1, 1, 1], "capacity": bound})[0] == 400
        for bound in (-1e15, -1e9, -1, 0, 1e9, 1e15):  # what is not refused is answered, or has no solution
            for name in ("ilp", "page"):
                assert decide(server, name, {"matrix": [[1, 1, 1]], "bounds": [bound]})[0] in (201, 400), bound
        assert decide(server, "kinds", {"groups": [0, 1, 999999999]})[0] == 400
        assert decide(server, "bag", {"costs": [1, 1, 1], "capacity": 1e8})[0] == 201
        assert peak(server) < 400e6, peak(server)
        assert server.stop() == 0


def nodes_have_any_number():
    """Two left nodes, two right nodes: the same slate by any names, and a name as large as 1e8 took 11.6 GB."""
    contexts = [[0, 1], [1, 0], [0.5, 0.5], [0.2, 0.9]]
    with home(PROGRAM) as server:
        for name, oracle in (("net", "matching"), ("way", "shortest-path"), ("tree", "matroid")):
            assert server.call("PUT", "/v1/agents/" + name, agent(oracle))[0] == 201
        before = rss(server)
        for small, large in (([[0, 0], [0, 1], [1, 0], [1, 1]], [[5, 7], [5, 10**8], [999999999, 7], [999999999, 10**8]]),
                             ([[0, 1], [1, 2], [0, 2], [2, 3]], [[3, 17], [17, 400], [3, 400], [400, 10**9]])):
            ends = [{}, {}]
            for name in ("net", "tree", "way"):
                if name != "net" and small[0] == [0, 0]:
                    continue  # there the two sides have numbers of their own
                if name == "way":
                    ends = [{"source": 0, "target": 3}, {"source": 3, "target": 10**9}]
                answers = [decide(server, name, {"edges": edges, **end}, contexts) for edges, end in zip((small, large), ends)]
                assert [answer[0] for answer in answers] == [201, 201], (name, answers)
                assert answers[0][1]["slate"] == answers[1][1]["slate"], (name, answers)
        assert decide(server, "way", {"edges": [[0, 1], [1, 2], [0, 2], [2, 3]], "source": 0, "target": 77}, contexts)[0] == 400
        assert peak(server) < before + 100e6
        assert server.stop() == 0


def long_searches_end():
    """`"seconds": 1e9` kept every thread for ever."""
    contexts = [[i % 7 / 7, i % 11 / 11] for i in range(50)]
    with home(PROGRAM, "--threads", 2) as server:
        assert server.call("PUT", "/v1/agents/ilp", agent("ilp", slate=50))[0] == 201
        assert server.call("PUT", "/v1/agents/home", agent(None))[0] == 201
        begin, statuses, longest = time.monotonic(), [], 0

        def ask():
            status, answer = decide(server, "ilp", {**market_split(), "seconds": 1e9}, contexts, timeout=120)[:2]
            statuses.append(503 if status == 503 and "busy" in str(answer) else status if status in (201, 400) else answer)
        clients = [threading.Thread(target=ask) for _ in range(8)]
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            for method, path, body in (("GET", "/healthz", None), ("POST", "/v1/agents/home/decide", ASK)):
                at = time.monotonic()
                assert server.call(method, path, body)[0] in (200, 201)
                longest = max(longest, time.monotonic() - at)
            time.sleep(0.02)
        assert len(statuses) == 8 and all(status in (201, 400, 503) for status in statuses), statuses
        assert any(status in (201, 400) for status in statuses), statuses  # 503: of a busy machine, after ten seconds; never for all
        assert time.monotonic() - begin < 100 and longest < 5, (time.monotonic() - begin, longest)
        assert server.stop() == 0


def a_solver_that_breaks_is_replaced():
    """An abort inside the solver is somebody's 400, not the end of the service."""
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/ilp", agent("ilp"))[0] == 201
        good = {"matrix": [[1, 1, 1]], "bounds": [2]}
        assert decide(server, "ilp", good)[0] == 201
        for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL):
            assert helpers(server), "CBC runs in a process of its own"
            for helper in helpers(server):
                os.kill(helper, number)
            until(lambda: all(open("/proc/%d/stat" % one).read().rsplit(")", 1)[1].split()[0] == "Z" for one in helpers(server)))
            statuses = [decide(server, "ilp", good)[0] for _ in range(3)]
            assert set(statuses) <= {201, 400} and statuses[-1] == 201, statuses
        assert metric(server, "superarm_solver_failures_total") >= 1
        children = helpers(server)
        assert server.stop() == 0
        until(lambda: not any(os.path.exists("/proc/%d" % one) for one in children))


def ten_thousand_arms_are_answered():
    """The slate took 15 s and feedback by name 27 s, in the only writer."""
    large = {"contexts": [[i % 7 / 7, i % 11 / 11] for i in range(10000)], "slate": 10000}
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", agent(None))[0] == 201
        for number in range(2):
            event = "e%d" % number
            code, answer, _ = server.call("POST", "/v1/agents/home/decide", {**large, "event": event})
            assert code == 201 and sorted(answer["slate"]) == list(range(10000)) and answer["propensity"] == 1
            done = []
            values = {str(arm): arm % 2 for arm in answer["slate"]}
            client = threading.Thread(target=lambda: done.append(server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": values})[0]))
            client.start()
            longest = 0
            while client.is_alive():  # the writer writes for the others meanwhile
                begin = time.monotonic()
                assert server.call("POST", "/v1/agents/home/decide", ASK)[0] == 201
                longest = max(longest, time.monotonic() - begin)
            assert done == [204] and longest < 3, (done, longest)
        until(lambda: server.call("GET", "/v1/agents/home")[1]["counts"]["learnt"] == 2)
        lines = [json.loads(line) for line in server.call("GET", "/v1/agents/home/log")[1].splitlines()]
        kept = [line for line in lines if line.get("event") == "e1"][0]
        assert [value for value in kept["feedback"]] == [arm % 2 for arm in kept["slate"]] if "feedback" in kept else True
        assert server.call("POST", "/v1/agents/home/feedback", {"event": "e1", "feedback": {"10000": 1}})[0] == 400
        assert server.call("POST", "/v1/agents/home/feedback", {"event": "nobody", "feedback": {"1": 1}})[0] == 404
        assert peak(server) < 600e6, peak(server)
        assert server.stop() == 0


def one_address_leaves_the_others_their_turn():
    """Forty slow requests of one address: it gets half of the places, and the next turn is another's, who need not wait for all of them."""
    large = json.dumps({"contexts": [[i % 7 / 7, i % 11 / 11] for i in range(10000)], "slate": 10000})
    answers = []

    def hostile(port):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=("127.0.0.2", 0))
        client.request("POST", "/v1/agents/home/decide", large, {"Content-Type": "application/json"})
        answer = client.getresponse()
        answers.append((answer.status, answer.read()))
        client.close()

    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", agent(None))[0] == 201
        crowd = [threading.Thread(target=hostile, args=(server.port,)) for _ in range(40)]
        for one in crowd:
            one.start()
        until(lambda: any(status == 503 for status, _ in answers))
        before = sum(status == 201 for status, _ in answers)
        assert server.call("POST", "/v1/agents/home/decide", large, timeout=60)[0] == 201
        between = sum(status == 201 for status, _ in answers) - before
        for one in crowd:
            one.join()
        assert between < 15, between  # all that waited, about 30, when the first came first
        refused = [body for status, body in answers if status == 503]
        assert refused and all(b"of this address" in body for body in refused) and {status for status, _ in answers} == {201, 503}


if __name__ == "__main__":
    main(wild_numbers_are_refused, nodes_have_any_number, long_searches_end, a_solver_that_breaks_is_replaced, ten_thousand_arms_are_answered,
         one_address_leaves_the_others_their_turn)
