#!/usr/bin/env python3
"""serve_metrics.py PROGRAM: what /metrics says is so, also right after a start, and the alarms of examples/service/alerts.yaml ring when they should (promtool)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from service import databases, home, main, until

PROGRAM = sys.argv[1]
ALERTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "service", "alerts.yaml")
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}


def check(got, status):
    assert got[0] == status, got
    return got[1]


def metrics(server):
    """{'name{labels}': value}"""
    text = check(server.call("GET", "/metrics"), 200).decode()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}


def of(server, name, agent=None):
    return metrics(server)["superarm_" + name + ('{agent="%s"}' % agent if agent else "")]


def promtool(*words, **options):
    if not shutil.which("promtool"):
        if os.environ.get("CI"):
            raise AssertionError("promtool (package prometheus) is missing, and CI is set")
        print("promtool is missing: alarms are not checked")
        sys.exit(0)
    return subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=100, **options)


def numbers_are_true():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        check(server.call("PUT", "/v1/agents/idle", AGENT), 201)
        for i in range(8):
            check(server.call("POST", "/v1/agents/home/decide", {**ASK, "event": f"e{i}"}), 201)
        for i in range(5):
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "id": "a", "feedback": [i, 0.5]}), 204)
        check(server.call("POST", "/v1/agents/home/feedback", {"event": "e0", "id": "b", "feedback": [1, 1]}), 204)  # late
        until(lambda: of(server, "rows_behind", "home") == 0)
        now = metrics(server)
        mine = lambda name: now[f'superarm_{name}{{agent="home"}}']
        assert mine("reward_sum") == 0 + 1 + 2 + 3 + 4 + 5 * 0.5 and mine("reward_count") == 5, now
        assert mine("feedback_rate") == 6 / 8 and mine("late_feedback_total") == 1 and mine("seconds_behind") == 0
        assert now['superarm_feedback_rate{agent="idle"}'] == 0
        if databases:  # policies are the checkpoints
            until(lambda: of(server, "checkpoint_rows", "home") == 0)
        else:
            assert mine("checkpoint_rows") == 6, "no checkpoint yet: rows from the first on"
        assert 0 <= of(server, "checkpoint_age_seconds", "home") < 100
        pid, folder = server.process.pid, server.folder
        near = lambda one, other, share: abs(one - other) <= share * other
        resident = int(open(f"/proc/{pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert near(now["superarm_resident_bytes"], resident, 0.3), (now["superarm_resident_bytes"], resident)
        assert near(now["superarm_descriptors"], len(os.listdir(f"/proc/{pid}/fd")), 0.2) and now["superarm_descriptors_limit"] >= 256
        if not databases:
            disk = os.statvfs(folder)
            assert now["superarm_journal_bytes"] == os.path.getsize(folder + "/journal.db") > 0
            assert near(now["superarm_log_bytes"], os.path.getsize(folder + "/journal.db-wal"), 0.5)
            assert now["superarm_folder_bytes"] >= now["superarm_journal_bytes"]
            assert now["superarm_disk_bytes"] == disk.f_blocks * disk.f_frsize and near(now["superarm_disk_free_bytes"], disk.f_bavail * disk.f_frsize, 0.2)
        if databases:  # a server that shares its journal counts from its start
            return
        server.kill()
        server.start()
        rates = []  # all that it says until it says the right one: none, while it is being counted

        def is_right():
            rates.append(metrics(server).get('superarm_feedback_rate{agent="home"}'))
            return rates[-1] == 6 / 8
        until(is_right)
        assert set(rates) <= {None, 6 / 8}, rates
        assert check(server.call("GET", "/v1/agents/home"), 200)["counts"]["feedback"] == 6 and check(server.call("GET", "/v1/agents/home"), 200)["counts"]["late"] == 1
        check(server.call("POST", "/v1/agents/home/feedback", {"event": "e6", "feedback": [1, 0]}), 204)
        assert of(server, "feedback_rate", "home") == 7 / 8, "and goes on"
        assert server.stop() == 0
        server.start()
        assert of(server, "checkpoint_rows", "home") == 0 and of(server, "checkpoint_age_seconds", "home") < 100


def seconds_behind_count_from_the_first_row_that_waits():
    slow = {**AGENT, "options": {**AGENT["options"], "companion": False, "train-every": 1, "train-steps": 200000}}
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", slow), 201)
        begin = time.monotonic()
        for i in range(4):
            check(server.call("POST", "/v1/agents/home/decide", {**ASK, "event": f"e{i}"}), 201)
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [1, 0]}), 204)
        most = 0
        while of(server, "rows_behind", "home") > 0:
            behind = of(server, "seconds_behind", "home")
            assert 0 <= behind <= time.monotonic() - begin + 0.1, behind
            most = max(most, behind)
        assert most > 0 and of(server, "seconds_behind", "home") == 0, most


def the_text_is_as_prometheus_wants_it():
    with home(PROGRAM) as server:
        about = {**AGENT, "options": {"hidden": 4}, "schema": {"item": {"price": "log"}}, "slate": 1}
        check(server.call("PUT", "/v1/agents/home", about), 201)
        check(server.call("POST", "/v1/agents/home/decide", {"items": [{"price": 1, "we\\ird\"\n{}": 2}, {"price": 2}]}), 201)
        text = check(server.call("GET", "/metrics"), 200).decode()
        said = promtool("check", "metrics", input=text)
        problems = [line for line in (said.stdout + said.stderr).splitlines() if line]
        assert said.returncode in (0, 3) and not [line for line in problems if "error" in line.lower()], problems
        there = set(re.findall(r"^(superarm_[a-z_]+)", text, re.M))
        used = set(re.findall(r"superarm_[a-z_]+", " ".join(line for line in open(ALERTS) if "summary" not in line)))
        assert used and used <= there, used - there
        for path in (ALERTS, "docs/SERVICE.md"):
            full = path if os.path.isabs(path) else os.path.join(os.path.dirname(ALERTS), "..", "..", path)
            named = set(re.findall(r"`(superarm_[a-z_]+)`", open(full).read()))
            there = there | ({"superarm_journal_bytes"} if databases else set())  # which a folder has
            assert named <= there | {name.rsplit("_", 1)[0] for name in there}, named - there


QUIET = {'superarm_disk_ready': "1x200", 'superarm_disk_free_bytes': "1e11x200", 'superarm_agent_broken{agent="a"}': "0x200", 'superarm_seconds_behind{agent="a"}': "1x200",
         'superarm_decisions_total{agent="a"}': "0+60x200", 'superarm_feedback_total{agent="a"}': "0+30x200", 'superarm_feedback_rate{agent="a"}': "0.5x200",
         'superarm_late_feedback_total{agent="a"}': "0+1x200", 'superarm_log_bytes': "4e6x200", 'superarm_descriptors': "40x200", 'superarm_descriptors_limit': "1024x200",
         'superarm_checkpoint_age_seconds{agent="a"}': "0+60x200", 'superarm_checkpoint_rows{agent="a"}': "0x200", 'superarm_events_skipped_total{agent="a"}': "0x200",
         'superarm_requests_total{route="decide",status="2xx"}': "0+60x200", 'superarm_requests_total{route="decide",status="5xx"}': "0x200",
         'superarm_unknown_fields_total{agent="a",field="items.x"}': "5x200"}
LOUD = {"SuperarmDiskFailed": {'superarm_disk_ready': "1x100 0x100"}, "SuperarmDiskFillsUp": {'superarm_disk_free_bytes': "1e11-5e8x200"},
        "SuperarmAgentBroken": {'superarm_agent_broken{agent="a"}': "0x100 1x100"}, "SuperarmBehind": {'superarm_seconds_behind{agent="a"}': "0+60x200"},
        "SuperarmFeedbackStopped": {'superarm_feedback_total{agent="a"}': "0+30x60 1800x140", 'superarm_late_feedback_total{agent="a"}': "0x200"}, "SuperarmFeedbackLate": {'superarm_late_feedback_total{agent="a"}': "0+10x200"},
        "SuperarmLogGrows": {'superarm_log_bytes': "4e8x200"}, "SuperarmDescriptors": {'superarm_descriptors': "1000x200"},
        "SuperarmCheckpointsFail": {'superarm_checkpoint_rows{agent="a"}': "0+1000x200"}, "SuperarmEventsSkipped": {'superarm_events_skipped_total{agent="a"}': "0x180 1x20"},
        "SuperarmErrors": {'superarm_requests_total{route="decide",status="5xx"}': "0+6x200"},
        "SuperarmUnknownFields": {'superarm_unknown_fields_total{agent="a",field="items.x"}': "5+1x200"}}


def alarms_ring_when_they_should():
    """The series of a healthy service ring none of them; with one series changed, the one that it is for rings."""
    checked = promtool("check", "rules", ALERTS)
    assert checked.returncode == 0, checked
    names = re.findall(r"alert: (\w+)", open(ALERTS).read())
    assert set(LOUD) <= set(names) and len(names) == len(set(names)) >= 12

    def case(changes, ringing):
        series = {**QUIET, **changes}
        lines = ["  - interval: 1m", "    input_series:"]
        for name, values in series.items():
            lines += [f"      - series: '{name}'", f"        values: '{values}'"]
        lines.append("    promql_expr_test:")
        for name in names:
            samples = "[{labels: '{}', value: 1}]" if name == ringing else "[]"
            lines += [f"      - expr: 'count(ALERTS{{alertname=\"{name}\",alertstate=\"firing\"}} == 1)'", "        eval_time: 190m", f"        exp_samples: {samples}"]
        return lines
    with tempfile.TemporaryDirectory() as folder:
        test = os.path.join(folder, "test.yaml")
        lines = [f"rule_files: ['{os.path.abspath(ALERTS)}']", "evaluation_interval: 1m", "tests:"]
        for ringing, changes in [(None, {}), *LOUD.items()]:
            lines += case(changes, ringing)
        open(test, "w").write("\n".join(lines) + "\n")
        done = promtool("test", "rules", test)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


if __name__ == "__main__":
    main(numbers_are_true, seconds_behind_count_from_the_first_row_that_waits, the_text_is_as_prometheus_wants_it, alarms_ring_when_they_should)
