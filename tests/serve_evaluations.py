#!/usr/bin/env python3
"""serve_evaluations.py PROGRAM: what a candidate would have earned, in the background; the witness is the log, learnt and judged by hand."""
import glob
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from service import home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ts", "dim": 3, "hidden": 8, "floor": 0.3}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
CANDIDATE = {"algorithm": "comblin-ucb", "floor": 0.1}
PATH = "/v1/agents/home/evaluations"


def traffic(server, rounds, name="home", dim=3, arms=6):
    """A ledger: event, slate, feedback, propensities."""
    draw, ledger = random.Random(5), []
    for i in range(rounds):
        contexts = [[draw.uniform(-1, 1) for _ in range(dim)] for _ in range(arms)]
        status, answer, _ = server.call("POST", f"/v1/agents/{name}/decide", {"event": f"e{i}", "contexts": contexts})
        assert status == 201, answer
        clicks = [float(draw.random() < 0.5 + 0.4 * contexts[arm][0]) for arm in answer["slate"]]
        assert server.call("POST", f"/v1/agents/{name}/feedback", {"event": f"e{i}", "feedback": clicks})[0] == 204
        ledger.append((answer["event"], answer["slate"], clicks))
    return ledger


def ended(server, number, name="home"):
    def look():
        """an evaluation that has ended"""
        got = server.call("GET", f"/v1/agents/{name}/evaluations/{number}")
        assert got[0] == 200, got
        return got[1] if got[1]["state"] in ("done", "failed", "interrupted") else None
    return until(look, 120)


def whole_log(server, name="home"):
    lines, start = [], 1
    while True:
        page = server.call("GET", f"/v1/agents/{name}/log?from={start}&limit=500")[1].decode().splitlines()
        page = [line for line in page if json.loads(line)["final"]]
        if not page:
            return lines
        lines += page
        start = json.loads(page[-1])["seq"] + 1


def by_hand(lines, split, *policies):
    """The same with the program's other commands: {policy: options} learnt from the first part, judged by the rest."""
    with tempfile.TemporaryDirectory() as folder:
        past, later = folder + "/past.jsonl", folder + "/later.jsonl"
        count = int(len(lines) * split + 0.5)
        for path, part in ((past, lines[:count]), (later, lines[count:])):
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in part)
        names = []
        for name, options in policies:
            words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
            subprocess.run([PROGRAM, "learn", past, "--out", f"{folder}/{name}.npz", "--quiet", *words], check=True)
            names.append(f"{name}={folder}/{name}.npz")
        subprocess.run([PROGRAM, "evaluate", later, "--policy", ",".join(names), "--estimators", "cascade-dr,rips,snrips,snips", "--json", folder + "/out.json"],
                       check=True, capture_output=True)
        return json.load(open(folder + "/out.json", encoding="utf-8"))


def files(server):
    return [path for path in glob.glob(server.folder + "/*") if "evaluation" in path]


def an_evaluation_is_what_the_commands_give():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        ledger = traffic(server, 600)
        until(lambda: server.call("GET", "/v1/agents/home")[1]["counts"]["learnt"] == 600)
        status, made, _ = server.call("POST", PATH, {"options": CANDIDATE, "split": 0.4})
        assert status == 202 and made["id"] == 1, made
        got = ended(server, 1)
        assert got["state"] == "done", got
        assert got["events"] == {"learnt_from": 240, "judged_by": 360}, got["events"]
        assert got["request"]["options"]["algorithm"] == "comblin-ucb" and got["request"]["split"] == 0.4
        rewards = [sum(clicks) for _, _, clicks in ledger[240:]]
        mean = sum(rewards) / 360
        error = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / 359 / 360)
        assert abs(got["logged"]["value"] - mean) < 1e-9 and abs(got["logged"]["standard_error"] - error) < 1e-9, got["logged"]
        expected = by_hand(whole_log(server), 0.4, ("present", {**AGENT["options"], "slate": 2, "pending-limit": 1000}),
                           ("candidate", {**CANDIDATE, "dim": 3, "slate": 2, "pending-limit": 1000}))
        found = got["evaluation"]
        for policy in ("present", "candidate"):
            for name in ("cascade-dr", "rips", "snrips", "snips"):
                one, other = (part["policies"][policy]["estimators"][name] for part in (found, expected))
                assert one["value"] == other["value"] and one["standard_error"] == other["standard_error"], (policy, name, one, other)
        assert found["policies"]["candidate"]["difference"]["rips"] == expected["policies"]["candidate"]["difference"]["rips"]
        assert got["learnt"]["candidate"]["decisions"] == 240
        assert not files(server), files(server)
        assert "scratch" not in json.dumps(got), "a file that nobody will find is named"
        # in the list, and after a restart
        assert [one["id"] for one in server.call("GET", PATH)[1]["evaluations"]] == [1]
        server.kill()
        server.start()
        assert server.call("GET", PATH + "/1")[1] == got
        # without options: the agent as it is, taught by the first part
        assert server.call("POST", PATH, {"estimators": ["snips"]})[1]["id"] == 2
        got = ended(server, 2)
        assert got["state"] == "done" and list(got["evaluation"]["estimators"]) == ["snips"] and "candidate" not in got["learnt"], got
        assert server.call("DELETE", PATH + "/1")[0] == 204 and server.call("GET", PATH + "/1")[0] == 404
        assert [one["id"] for one in server.call("GET", PATH)[1]["evaluations"]] == [2]
        assert server.stop() == 0
        server.check()


def the_control_is_measured():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", {**AGENT, "control": 0.3})[0] == 201
        draw, ledger = random.Random(9), []
        for i in range(400):
            contexts = [[draw.uniform(-1, 1) for _ in range(3)] for _ in range(6)]
            status, answer, _ = server.call("POST", "/v1/agents/home/decide", {"event": f"e{i}", "contexts": contexts, "baseline": [0, 1]})
            assert status == 201, answer
            clicks = [float(draw.random() < 0.5 + 0.4 * contexts[arm][0]) for arm in answer["slate"]]
            assert server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": clicks})[0] == 204
            ledger.append((answer["side"], sum(clicks)))
        got = ended(server, server.call("POST", PATH, {"options": CANDIDATE})[1]["id"])
        assert got["state"] == "done" and got["events"] == {"learnt_from": 200, "judged_by": 200}, got
        own, control = ([reward for side, reward in ledger[200:] if side == name] for name in ("agent", "control"))
        assert len(own) + len(control) == 200 and 30 < len(control) < 90, len(control)
        found = got["evaluation"]
        assert found["events"] == len(own) and found["control"]["events"] == len(control)
        assert abs(found["control"]["value"] - sum(control) / len(control)) < 1e-9
        assert abs(got["logged"]["value"] - sum(own) / len(own)) < 1e-9
        minus = found["policies"]["candidate"]["estimators"]["rips"]
        assert abs(minus["minus_control"]["value"] - (minus["value"] - sum(control) / len(control))) < 1e-9


def a_span_is_kept_to():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        traffic(server, 40)
        time.sleep(1.1)
        middle = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        time.sleep(1.1)
        for i in range(60):
            answer = server.call("POST", "/v1/agents/home/decide", {"event": f"late{i}", "contexts": [[i % 3, 1, 0], [0, 1, i % 2], [1, 0, 1]]})[1]
            assert server.call("POST", "/v1/agents/home/feedback", {"event": answer["event"], "feedback": [1, 0]})[0] == 204
        for span, count in (({"from": middle}, 60), ({"to": middle}, 40), ({"from": "2020-01-01"}, 100)):
            number = server.call("POST", PATH, span)[1]["id"]
            got = ended(server, number)
            assert sum(got["events"].values()) == count, (span, got)
        got = ended(server, server.call("POST", PATH, {"from": "2020-01-01", "to": "2020-01-02"})[1]["id"])
        assert got["state"] == "failed" and "has 0 events" in got["error"], got
        # a reset makes another agent: what came before it has other features
        reset = {**AGENT, "options": {"algorithm": "cn-ts", "dim": 2, "hidden": 8, "floor": 0.3}, "reset": True}
        assert server.call("PUT", "/v1/agents/home", reset)[0] == 200
        for i in range(30):
            answer = server.call("POST", "/v1/agents/home/decide", {"event": f"two{i}", "contexts": [[i % 3, 1], [0, 1], [1, 0]]})[1]
            assert server.call("POST", "/v1/agents/home/feedback", {"event": answer["event"], "feedback": [1, 0]})[0] == 204
        got = ended(server, server.call("POST", PATH, {})[1]["id"])
        assert got["state"] == "done" and sum(got["events"].values()) == 30, got


def what_is_wrong_is_refused_and_changes_nothing():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        before = server.call("GET", "/v1/agents/home")[1]["settings"]
        for body, words in (({"options": {"dim": 4}}, "dim is 4, and the events of this agent have 3 features"),
                            ({"schema": {"item": {"price": "log"}}}, "own features"),
                            ({"options": {"algorithm": "nobody"}}, "nobody"),
                            ({"options": {"hidden": -1}}, "hidden"),
                            ({"options": {"algorithm": "best"}}, "best"),
                            ({"options": [1]}, "options is no object"),
                            ({"from": "yesterday"}, "from is no time"),
                            ({"from": "2026-13-01"}, "from is no time"),
                            ({"to": "2026-01-01T25:00:00Z"}, "to is no time"),
                            ({"to": 5}, "to"),
                            ({"from": "2026-01-02", "to": "2026-01-01"}, "from is not before to"),
                            ({"split": 1}, "split 1 is not between"), ({"split": "half"}, "split"),
                            ({"estimators": []}, "estimators"), ({"estimators": "ips"}, "estimators"),
                            ({"estimators": ["ibs"]}, "ibs is none of"), ({"estimators": ["replay"]}, "replay is none of"),
                            ({"estimators": ["ips"] * 100}, "too many"),
                            ({"wanted": 1}, "wanted")):
            status, answer, _ = server.call("POST", PATH, body)
            assert status == 400 and words in answer["error"]["message"], (body, status, answer)
        assert server.call("POST", PATH, "{")[0] == 400
        assert server.call("POST", "/v1/agents/nobody/evaluations", {})[0] == 404
        for number in ("1", "0", "-1", "x", "99999999999999999999"):
            assert server.call("GET", f"{PATH}/{number}")[0] == 404 and server.call("DELETE", f"{PATH}/{number}")[0] == 404, number
        assert server.call("PUT", PATH, {})[0] == 405
        assert server.call("GET", PATH)[1] == {"evaluations": []} and server.call("GET", "/v1/agents/home")[1]["settings"] == before
        # too few events: an answer, in words
        got = ended(server, server.call("POST", PATH, {})[1]["id"])
        assert got["state"] == "failed" and "too few" in got["error"], got


def children(server):
    """Processes of evaluations that the server has started."""
    listed = subprocess.run(["ps", "--ppid", str(server.process.pid), "-o", "pid=,args="], capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "--evaluator" in line]


SLOW = {"options": {"algorithm": "cn-ucb", "hidden": 256, "train-every": 1, "train-steps": 10000}}  # minutes


def one_runs_and_can_be_ended():
    with home(PROGRAM, "--stop-seconds", 10) as server:
        assert server.call("PUT", "/v1/agents/home", {**AGENT, "options": {"algorithm": "comblin-ucb", "dim": 3, "floor": 0.3}})[0] == 201
        assert server.call("PUT", "/v1/agents/other", AGENT)[0] == 201
        traffic(server, 1500)
        numbers = [server.call("POST", PATH, SLOW)[1]["id"] for _ in range(5)]
        status, answer, headers = server.call("POST", PATH, SLOW)
        assert status == 429 and headers["Retry-After"], (status, answer)
        (process,) = until(lambda: children(server))
        states = {one["id"]: one["state"] for one in server.call("GET", PATH)[1]["evaluations"]}
        assert [states[number] for number in numbers] == ["running"] + ["waiting"] * 4, states
        until(lambda: int(open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[16]) == 19)  # the lowest priority
        limit = until(lambda: re.search(r"Max address space +(\w+)", open(f"/proc/{process}/limits").read()))
        assert os.environ.get("SUPERARM_SANITIZED") or int(limit[1]) < 4 << 30, limit
        # decisions go on
        assert server.call("POST", "/v1/agents/home/decide", {"contexts": [[0, 1, 0]] * 3})[0] == 201
        # another agent's route does not end it
        assert server.call("DELETE", f"/v1/agents/other/evaluations/{numbers[0]}")[0] == 404
        # one that waits, and the one that runs
        assert server.call("DELETE", f"{PATH}/{numbers[1]}")[0] == 204
        begin = time.monotonic()
        assert server.call("DELETE", f"{PATH}/{numbers[0]}")[0] == 204
        until(lambda: not os.path.exists(f"/proc/{process}"))
        assert time.monotonic() - begin < 3
        until(lambda: children(server) and children(server) != [process])
        assert server.call("GET", f"{PATH}/{numbers[2]}")[1]["state"] == "running"
        # an event that is not there ends nothing; an erased one is in no file: the run that may have it ends
        assert server.call("DELETE", "/v1/agents/home/events/no-such-event")[0] == 404
        time.sleep(0.5)
        assert server.call("GET", f"{PATH}/{numbers[2]}")[1]["state"] == "running"
        assert server.call("DELETE", "/v1/agents/home/events/e7")[0] == 204
        got = ended(server, numbers[2])
        assert got["state"] == "failed" and "erased" in got["error"], got
        until(lambda: server.call("GET", f"{PATH}/{numbers[3]}")[1]["state"] == "running")
        for path in files(server):
            assert b'"e7"' not in open(path, "rb").read(), path
        (process,) = until(lambda: children(server))
        # a killed helper is a failure of that evaluation alone
        os.kill(process, signal.SIGKILL)
        got = ended(server, numbers[3])
        assert got["state"] == "failed" and "process ended" in got["error"], got
        (process,) = until(lambda: children(server))
        # a stop ends it at once
        begin = time.monotonic()
        assert server.stop() == 0 and time.monotonic() - begin < 8
        assert not os.path.exists(f"/proc/{process}"), "its process is gone"
        assert not files(server), files(server)
        server.start()
        assert server.call("GET", f"{PATH}/{numbers[4]}")[1]["state"] == "interrupted"
        # an agent that is deleted takes its evaluations along
        number = server.call("POST", PATH, SLOW)[1]["id"]
        until(lambda: children(server))
        assert server.call("DELETE", "/v1/agents/home")[0] == 204
        until(lambda: not children(server) and not files(server))
        assert server.call("GET", f"{PATH}/{number}")[0] == 404


def the_last_hundred_stay_and_memory_is_bounded():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        for i in range(103):
            until(lambda: server.call("POST", PATH, {})[0] == 202)
        ended(server, 103)
        numbers = [one["id"] for one in server.call("GET", PATH)[1]["evaluations"]]
        assert numbers == list(range(103, 3, -1)), numbers
    with home(PROGRAM, "--memory", 40) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        got = ended(server, server.call("POST", PATH, {})[1]["id"])
        assert got["state"] == "failed" and "64 MB of --memory" in got["error"], got


if __name__ == "__main__":
    main(an_evaluation_is_what_the_commands_give, the_control_is_measured, a_span_is_kept_to, what_is_wrong_is_refused_and_changes_nothing, one_runs_and_can_be_ended,
         the_last_hundred_stay_and_memory_is_bounded)
