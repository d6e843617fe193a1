#!/usr/bin/env python3
"""serve_agents.py PROGRAM: what GET gives is what PUT takes, one broken agent leaves the others alone, and bounds hold when many ask at once."""
import json
import os
import subprocess
import sys
import tempfile
import threading

from service import Server, check as check_journal, databases, forget_checkpoints, home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
SCHEMA = {"context": {"device": "category [phone, desktop]"}, "item": {"price": "log"}}
ITEMS = [{"id": "a", "price": 3}, {"id": "b", "price": 10.5}, {"id": "c"}]
OCTETS = {"Content-Type": "application/octet-stream"}


def check(got, status):
    assert got[0] == status, got
    return got[1]


def agent(server, name):
    return check(server.call("GET", "/v1/agents/" + name), 200)


def warm_starts_change_nothing():
    """Of each kind of agent: settings and model go back as they came, and the PUT that made it is taken, also after a start."""
    kinds = {name: {"options": {"algorithm": name, "dim": 2}} for name in
             ("cn-ucb", "cn-ts", "cn-ucb-d", "comblin-ucb", "comblin-ts", "c2ucb", "neural-linear", "cc-mab", "acc-ucb", "greedy", "random")}
    kinds["fields"] = {"options": {"algorithm": "cn-ucb", "hidden": 4}, "schema": SCHEMA}
    kinds["linear-fields"] = {"options": {"algorithm": "comblin-ucb"}, "schema": SCHEMA}
    kinds["paper"] = {"options": {"preset": "paper", "dim": 2, "hidden": 4}}
    kinds["texts"] = {"options": {"dim": "2", "gamma": "0.25", "companion": "false", "lambda": 2}}
    kinds["pages"] = {"options": {"dim": 2, "hidden": 4, "feedback": "position"}}
    made, settings = {}, {}
    with home(PROGRAM) as server:
        for name, about in kinds.items():
            made[name] = {**AGENT, **about}
            ask = {"event": "e1", **({"items": ITEMS, "context": {"device": "phone"}} if "schema" in about else {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]})}
            check(server.call("PUT", "/v1/agents/" + name, made[name]), 201)
            check(server.call("POST", f"/v1/agents/{name}/decide", ask), 201)
            check(server.call("POST", f"/v1/agents/{name}/feedback", {"event": "e1", "feedback": [1, 0]}), 204)
            settings[name] = agent(server, name)["settings"]
            same = check(server.call("PUT", "/v1/agents/" + name, settings[name]), 200)
            assert same["seq"] == 2, (name, "its own settings change nothing", same)
            model = check(server.call("GET", f"/v1/agents/{name}/model"), 200)
            check(server.call("PUT", f"/v1/agents/{name}/model", model, OCTETS), 200)
            assert agent(server, name)["settings"] == settings[name], (name, agent(server, name)["settings"], settings[name])
            assert check(server.call("PUT", "/v1/agents/" + name, made[name]), 200)["seq"] == 3, (name, "nor does the PUT that made it")
        bolder = {**made["comblin-ucb"], "options": {**made["comblin-ucb"]["options"], "gamma": 3}}
        assert check(server.call("PUT", "/v1/agents/comblin-ucb", bolder), 200)["seq"] == 4, "a linear agent takes another gamma"
        check(server.call("PUT", "/v1/agents/comblin-ucb", made["comblin-ucb"]), 200)
        assert server.stop() == 0
        server.start()
        for name in kinds:
            now = agent(server, name)
            assert "broken" not in now and now["settings"] == settings[name], now
            check(server.call("PUT", "/v1/agents/" + name, made[name]), 200)
        server.kill()  # and from the journal alone
        forget_checkpoints(server.folder)
        server.start()
        for name in kinds:
            assert "broken" not in agent(server, name) and agent(server, name)["settings"] == settings[name]


def models_bring_their_options():
    """A model of other options makes the agent one of those; PUT of the settings that GET then gives changes nothing."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/plain", AGENT), 201)
        other = {"preset": "paper", "algorithm": "cn-ts", "dim": 2, "hidden": 6, "nu": 0.125, "floor": 0.1, "depth": 3}
        check(server.call("PUT", "/v1/agents/other", {**AGENT, "options": other}), 201)
        model = check(server.call("GET", "/v1/agents/other/model"), 200)
        check(server.call("PUT", "/v1/agents/plain/model", model, OCTETS), 200)
        now = agent(server, "plain")
        for name, value in other.items():
            assert now["settings"]["options"][name] == value, (name, now)
        assert check(server.call("PUT", "/v1/agents/plain", now["settings"]), 200)["seq"] == 2
        assert server.stop() == 0
        server.start()
        assert agent(server, "plain")["settings"] == now["settings"]


def models_that_a_start_would_refuse_are_refused():
    with home(PROGRAM) as server, tempfile.TemporaryDirectory() as folder:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        log = os.path.join(folder, "log.jsonl")
        with open(log, "w") as lines:
            lines.write(json.dumps({"event": "e", "contexts": [[0, 1], [1, 0]], "slate": [0], "feedback": [1]}) + "\n")
        for options, word in ((["--depth", "17", "--hidden", "4"], "depth"), (["--hidden", "10001"], "hidden")):
            out = os.path.join(folder, word + ".npz")
            done = subprocess.run([PROGRAM, "learn", log, "--out", out, "--quiet", *options], capture_output=True, text=True, timeout=100)
            assert done.returncode == 0, done
            refused = check(server.call("PUT", "/v1/agents/home/model", open(out, "rb").read(), OCTETS), 400)
            assert word in refused["error"]["message"], refused
        assert agent(server, "home")["seq"] == 1
        assert server.stop() == 0
        server.start()
        assert "broken" not in agent(server, "home")


def spoil(server, change, *values):
    """One row of the journal, whose name is another with PostgreSQL."""
    assert len(server.sql((change.replace("UPDATE rows", "UPDATE journal") if databases else change) + " RETURNING 1", *values)) == 1


def one_broken_agent_leaves_the_others_alone():
    ask = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}
    with home(PROGRAM) as server:
        for name in ("sound", "unread", "stuck", "gone"):
            check(server.call("PUT", "/v1/agents/" + name, AGENT), 201)
            check(server.call("POST", f"/v1/agents/{name}/decide", {**ASK_E1, **ask}), 201)
        for name in ("unread", "gone"):
            spoil(server, "UPDATE agents SET settings = ? WHERE name = ?", json.dumps({**AGENT, "options": {"dim": 2, "frobnicate": 1}}), name)
        spoil(server, "UPDATE rows SET kind = 99 WHERE seq = 1 AND agent = (SELECT id FROM agents WHERE name = ?)", "stuck")
        server.kill()
        forget_checkpoints(server.folder)
        server.start()
        until(lambda: check(server.call("GET", "/readyz"), 200).get("broken") == 3)  # a learner that is no folder's comes to them later
        ready = check(server.call("GET", "/readyz"), 200)
        assert ready["broken"] == 3 and sorted(ready["broken_agents"]) == ["gone", "stuck", "unread"], ready
        listed = {one["name"]: one for one in check(server.call("GET", "/v1/agents"), 200)["agents"]}
        assert sorted(listed) == ["gone", "sound", "stuck", "unread"] and "broken" not in listed["sound"]
        assert "frobnicate" in listed["unread"]["broken"] and "row 1" in listed["stuck"]["broken"], listed
        assert "frobnicate" in agent(server, "unread")["broken"]
        check(server.call("POST", "/v1/agents/sound/decide", ask), 201)
        check(server.call("POST", "/v1/agents/sound/feedback", {"event": "e1", "feedback": [1, 0]}), 204)
        until(lambda: agent(server, "sound")["model"] == 2)
        for name, word in (("unread", "frobnicate"), ("stuck", "row 1")):
            refused = check(server.call("POST", f"/v1/agents/{name}/decide", ask), 503)
            assert word in refused["error"]["message"], refused
            assert word in check(server.call("PUT", "/v1/agents/" + name, AGENT), 409)["error"]["message"]
            assert server.call("GET", f"/v1/agents/{name}/model")[0] == 503
        assert "superarm_agents_broken 3\n" in check(server.call("GET", "/metrics"), 200).decode()
        checked = check_journal(PROGRAM, server.folder)
        assert checked.returncode == 1 and "frobnicate" in checked.stdout, checked
        if not databases:
            copied = subprocess.run([PROGRAM, "serve", "--dir", server.folder, "--backup", server.folder + "-copy"], capture_output=True, text=True, timeout=60)
            assert copied.returncode == 1 and "frobnicate" in copied.stdout and "--check" in copied.stderr, copied
            assert os.path.exists(server.folder + "-copy/journal.db"), "it is copied all the same"
        check(server.call("DELETE", "/v1/agents/gone"), 204)
        for name in ("unread", "stuck"):
            check(server.call("PUT", "/v1/agents/" + name, {**AGENT, "reset": True}), 200)
            check(server.call("POST", f"/v1/agents/{name}/decide", {**ask, "event": "again"}), 201)
        assert "broken" not in check(server.call("GET", "/readyz"), 200)
        server.kill()
        server.start()
        assert "broken" not in check(server.call("GET", "/readyz"), 200), "what was mended stays so"
        for name in ("unread", "stuck"):
            check(server.call("POST", f"/v1/agents/{name}/feedback", {"event": "again", "feedback": [1, 0]}), 204)
            until(lambda: agent(server, name)["counts"]["observations"] == 2)


ASK_E1 = {"event": "e1"}


def names_of_broken_agents_need_a_key():
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([PROGRAM, "serve", "--new-keys", folder + "/keys"], capture_output=True, text=True, timeout=20)
        keys = [word for word in made.stdout.split() if len(word) > 30]
        assert made.returncode == 0 and len(keys) >= 2, made
        server = Server(PROGRAM, folder + "/shop", "--keys", folder + "/keys").start()
        try:
            admin = next(key for key in keys if server.call("GET", "/v1/agents", headers={"Authorization": "Bearer " + key})[0] == 200)
            bearer = {"Authorization": "Bearer " + admin}
            check(server.call("PUT", "/v1/agents/secret", AGENT, bearer), 201)
            spoil(server, "UPDATE agents SET settings = '{}' WHERE name = ?", "secret")
            server.kill()
            server.start()
            status, said, _ = server.call("GET", "/readyz")
            assert status == 200 and said["broken"] == 1 and "secret" not in json.dumps(said), said
            assert check(server.call("GET", "/readyz", headers=bearer), 200)["broken_agents"] == ["secret"]
        finally:
            server.kill()


def keep_rows_is_a_setting():
    """Beside the options, as they name it or as itself; what GET gives is taken back, and two numbers are not."""
    with home(PROGRAM) as server:
        for name, about in (("a", {"keep_rows": 2000}), ("b", {"options": {**AGENT["options"], "keep-rows": 2000}})):
            settings = check(server.call("PUT", "/v1/agents/" + name, {**AGENT, **about}), 201)["settings"]
            assert settings["keep_rows"] == 2000 and "keep-rows" not in settings["options"], settings
            assert check(server.call("PUT", "/v1/agents/" + name, settings), 200)["settings"] == settings
            assert check(server.call("PUT", "/v1/agents/" + name, {**settings, "keep_rows": 3000}), 200)["settings"]["keep_rows"] == 3000
        assert check(server.call("PUT", "/v1/agents/c", AGENT), 201)["settings"]["keep_rows"] is None
        for wrong in (999, -1, 1.5, "2000", True):
            check(server.call("PUT", "/v1/agents/d", {**AGENT, "keep_rows": wrong}), 400)
        body = check(server.call("PUT", "/v1/agents/d", {**AGENT, "keep_rows": 4000, "options": {**AGENT["options"], "keep-rows": 2000}}), 400)
        assert "leave one out" in body["error"]["message"], body


def bounds_hold_when_many_ask():
    """32 PUTs at once at 992 agents: 8 of them are taken, and the service starts again."""
    about = {**AGENT, "options": {"algorithm": "random", "dim": 1}}

    def put(server, names, statuses):
        for name in names:
            statuses.append(server.call("PUT", "/v1/agents/" + name, about)[0])

    def all_at_once(server, names, threads):
        statuses = []
        crew = [threading.Thread(target=put, args=(server, names[i::threads], statuses)) for i in range(threads)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        return statuses
    with home(PROGRAM) as server:
        assert all_at_once(server, [f"a{i}" for i in range(992)], 16) == [201] * 992
        statuses = all_at_once(server, [f"b{i}" for i in range(32)], 32)
        assert statuses.count(201) == 8 and statuses.count(409) == 24, statuses
        check(server.call("DELETE", "/v1/agents/a0"), 204)
        check(server.call("PUT", "/v1/agents/c", about), 201)
        check(server.call("PUT", "/v1/agents/d", about), 409)
        server.kill()
        server.start()
        assert len(check(server.call("GET", "/v1/agents"), 200)["agents"]) == 1000


def options_that_are_written_oddly_are_kept_as_json():
    """Numbers as strings, and options of earlier versions at the value that they had, come through a start."""
    with home(PROGRAM) as server:
        odd = {**AGENT, "options": {**AGENT["options"], "seed": "007", "gamma": "-0", "shared-scores": False, "epoch-hidden-growth": 1}}
        check(server.call("PUT", "/v1/agents/odd", odd), 201)
        paper = {**AGENT, "options": {**AGENT["options"], "epoch-hidden-growth": "1.2", "preset": "paper"}}
        check(server.call("PUT", "/v1/agents/paper", paper), 201)
        for wrong in ({"shared-scores": True}, {"epoch-hidden-growth": 1.2}, {"preset": "paper", "epoch-hidden-growth": 1}):
            answer = check(server.call("PUT", "/v1/agents/wrong", {**AGENT, "options": {**AGENT["options"], **wrong}}), 400)
            assert "is gone: it is always" in answer["error"]["message"], answer
        server.kill()
        server.start()
        assert agent(server, "odd")["settings"]["options"]["seed"] == 7 and "shared-scores" not in agent(server, "odd")["settings"]["options"]
        check(server.call("PUT", "/v1/agents/odd", odd), 200)
        check(server.call("POST", "/v1/agents/odd/decide", {"contexts": [[0, 1], [1, 0]]}), 201)
        check(server.call("POST", "/v1/agents/paper/decide", {"contexts": [[0, 1], [1, 0]]}), 201)


def large_models_are_sent_whole():
    with home(PROGRAM) as server:
        large = {"options": {"algorithm": "comblin-ucb", "dim": 600}, "default_feedback": 0}
        check(server.call("PUT", "/v1/agents/large", large), 201)
        model = check(server.call("GET", "/v1/agents/large/model"), 200)
        assert len(model) > 2 << 20, len(model)  # it is sent a megabyte at a time
        check(server.call("PUT", "/v1/agents/large/model", model, OCTETS), 200)


if __name__ == "__main__":
    slow = [] if os.environ.get("SUPERARM_TEST_STORE") else [bounds_hold_when_many_ask]  # half a minute there, of the same code
    main(options_that_are_written_oddly_are_kept_as_json, warm_starts_change_nothing, models_bring_their_options, models_that_a_start_would_refuse_are_refused, one_broken_agent_leaves_the_others_alone,
         names_of_broken_agents_need_a_key, keep_rows_is_a_setting, *slow, large_models_are_sent_whole)
