#!/usr/bin/env python3
"""serve_sums.py PROGRAM: sums by side and hour equal a ledger that the client keeps, whatever is killed; and they say what the journal's rows say."""
import json
import math
import os
import random
import sys
import threading
import time

from service import databases, home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0, "control": 0.4}
ROWS = [[0, 1], [1, 0], [0.5, 0.5], [0.2, 0.8]]


def check(got, status):
    assert got[0] == status, got
    return got[1]


def put(server, status=201, **more):
    return check(server.call("PUT", "/v1/agents/home", {**AGENT, **more}), status)


def history(server):
    """All rows added up, as an owner would."""
    total = {"sides": {}, "feedback": 0, "late": 0, "explored": 0, "places": {}, "items": {}, "revised": 0}
    for row in check(server.call("GET", "/v1/agents/home/history?from=0"), 200)["history"]:
        sums = row["sums"]
        for side, got in sums["sides"].items():
            into = total["sides"].setdefault(side, {"decisions": 0, "learnt": 0, "reward": 0})
            for name in into:
                into[name] += got[name]
        for name in ("feedback", "late", "explored", "revised"):
            total[name] += sums[name]
        for k, (seen, reward) in enumerate(sums["places"]):
            before = total["places"].get(k, (0, 0))
            total["places"][k] = (before[0] + seen, before[1] + reward)
        for name, shown, error in sums["items"]:
            assert error == 0
            total["items"][name] = total["items"].get(name, 0) + shown
    return total


def again(server, method, path, body):
    """Until it is answered, as a client does whose server was killed."""
    for _ in range(600):
        try:
            got = server.call(method, path, body, timeout=5)
            if got[0] in (200, 201, 204):
                return got
            assert got[0] in (503, 429), got
        except (OSError, ValueError, __import__("http.client").client.HTTPException):
            pass
        time.sleep(0.02)
    raise AssertionError("never answered")


def kills_change_no_sum():
    with home(PROGRAM) as server:
        put(server)
        server.settles = False
        ledger, lock, done = {}, threading.Lock(), threading.Event()

        def client(number):
            draw = random.Random(number)
            for i in range(120):
                event = f"c{number}-{i}"
                answer = again(server, "POST", "/v1/agents/home/decide", {"event": event, "contexts": ROWS, "baseline": [3, 1]})[1]
                values = [draw.randrange(3), draw.randrange(2)]
                again(server, "POST", "/v1/agents/home/feedback", {"event": event, "id": "f", "feedback": values})
                late = draw.random() < 0.2
                if late:
                    again(server, "POST", "/v1/agents/home/feedback", {"event": event, "id": "late", "feedback": [0, 0]})
                with lock:
                    ledger[event] = (answer["side"], answer["slate"], values, late)
        threads = [threading.Thread(target=client, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        kills = 0
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.6 if databases else 0.15)
            server.kill()
            server.start(ready=False)
            kills += 1
        for thread in threads:
            thread.join()
        assert kills >= 3 and len(ledger) == 480, (kills, len(ledger))
        for restart in range(2):
            server.settle()
            got = history(server)
            for side in ("agent", "control"):
                mine = [(slate, values) for s, slate, values, _ in ledger.values() if s == side]
                assert got["sides"][side] == {"decisions": len(mine), "learnt": len(mine), "reward": sum(sum(v) for _, v in mine)}, (got, side)
            assert set(got["sides"]) == {"agent", "control"}
            lates = sum(late for *_, late in ledger.values())
            assert (got["feedback"], got["late"]) == (480 + lates, lates), (got, lates)
            assert got["explored"] == sum(side == "control" for side, *_ in ledger.values())
            assert got["places"] == {k: (480, sum(values[k] for _, _, values, _ in ledger.values())) for k in (0, 1)}
            shown = {}
            for _, slate, _, _ in ledger.values():
                for arm in slate:
                    shown[str(arm)] = shown.get(str(arm), 0) + 1
            assert got["items"] == shown
            means(server, ledger)
            server.kill()
            server.start()
        assert server.stop() == 0
        server.check()
        server.start()


def means(server, ledger):
    """GET and /metrics: means and the difference, whose interval is computed here again, by the normal mixture of include/superarm/sides.h."""
    rewards = {side: [sum(v) for s, _, v, _ in ledger.values() if s == side] for side in ("agent", "control")}
    got = check(server.call("GET", "/v1/agents/home"), 200)["sides"]
    mean = {side: sum(all) / len(all) for side, all in rewards.items()}
    for side in mean:
        assert got[side]["events"] == len(rewards[side]) and abs(got[side]["reward"] - mean[side]) < 1e-9, (got, mean)
    m, n = len(rewards["agent"]), len(rewards["control"])
    squares = {side: sum((x - mean[side]) ** 2 for x in all) for side, all in rewards.items()}
    farthest = max(abs(x - mean[side]) for side, all in rewards.items() for x in all)
    shared = (sum(squares.values()) + farthest ** 2) / (m + n)
    variance = {side: (squares[side] + farthest ** 2 + 100 * shared) / (len(all) + 100) for side, all in rewards.items()}
    error = math.sqrt(variance["agent"] / m + variance["control"] / n)
    x = 1 / (1 / m + 1 / n) * (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / 1000
    half = error * math.sqrt(2 * (1 + 1 / x) * (0.5 * math.log1p(x) - math.log(0.05)))
    value = mean["agent"] - mean["control"]
    difference = got["difference"]
    assert abs(difference["value"] - value) < 1e-9 and abs(difference["low"] - value + half) < 1e-9 and abs(difference["high"] - value - half) < 1e-9, difference
    page = check(server.call("GET", "/metrics"), 200).decode()
    line = [each for each in page.splitlines() if each.startswith('superarm_side_difference{agent="home",bound="low"}')]
    assert abs(float(line[0].split()[-1]) - value + half) < 1e-9


def a_new_control_begins_again():
    with home(PROGRAM) as server:
        put(server)
        visit = lambda event, **more: (check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": ROWS, **more}), 201),
                                       check(server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": [1, 0]}), 204))
        for i in range(30):
            visit(f"a{i}")
        sides = lambda: check(server.call("GET", "/v1/agents/home"), 200)["sides"]
        before = sides()
        assert before["agent"]["events"] + before["control"]["events"] == 30 and before["since"] is None
        put(server, 200, retention_days=30)  # another setting changes nothing
        assert sides() == before
        put(server, 200, retention_days=30, control=0.1)
        assert sides()["agent"]["events"] == 0 and abs(sides()["since"] - time.time()) < 60
        for i in range(10):
            visit(f"b{i}")
        assert sides()["agent"]["events"] + sides()["control"]["events"] == 10
        server.kill()
        server.start()
        assert sides()["agent"]["events"] + sides()["control"]["events"] == 10
        assert sum(side["learnt"] for side in history(server)["sides"].values()) == 40


def hours_become_days():
    """The journal's rows are set back by weeks, by hand; with the next hour the oldest day is folded, and nothing of the sums changes."""
    with home(PROGRAM) as server:
        put(server)
        for i in range(12):
            check(server.call("POST", "/v1/agents/home/decide", {"event": f"e{i}", "contexts": ROWS}), 201)
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [1, 1]}), 204)
        server.settle()
        assert server.stop() == 0
        [(agent, hour, data)] = server.sql("SELECT agent, hour, data FROM hours")
        server.sql("DELETE FROM hours")
        begin = hour - hour % 24 - 40 * 24
        old = [begin + offset for offset in (3, 5, 23, 24, 30, 60, 15 * 24)] + [hour - 3 * 366 * 24]
        for each in old:
            server.sql(f"INSERT INTO hours VALUES (?, ?, ?{'' if databases else ', 0'})", agent, each, data)
        server.start()
        twelve = lambda rows: [row["sums"]["sides"]["agent"]["learnt"] + row["sums"]["sides"]["control"]["learnt"] for row in rows]
        rows = lambda: check(server.call("GET", "/v1/agents/home/history?from=0"), 200)["history"]
        assert len(rows()) == 8
        check(server.call("POST", "/v1/agents/home/decide", {"event": "later", "contexts": ROWS}), 201)
        server.settle()
        got = rows()
        assert [row["time"] // 3600 for row in got[:5]] == [begin, begin + 24, begin + 30, begin + 60, begin + 15 * 24], got
        assert [row["sums"]["hours"] for row in got[:3]] == [24, 1, 1]
        assert twelve(got[:5]) == [36, 12, 12, 12, 12]
        first, single = got[0]["sums"], got[1]["sums"]
        assert {name: count for name, count, _ in first["items"]} == {name: 3 * count for name, count, _ in single["items"]}
        assert first["places"] == [[3 * seen, 3 * reward] for seen, reward in single["places"]] and first["feedback"] == 3 * single["feedback"]
        sides = check(server.call("GET", "/v1/agents/home"), 200)["sides"]
        assert sides["agent"]["events"] + sides["control"]["events"] == 12  # since the control was set: taken over


def apprentices_are_compared():
    """How often the slates agree, and what was seen where they do and the model's estimate elsewhere, added up by the client from the answers."""
    with home(PROGRAM) as server:
        put(server, mode="apprentice", options={"algorithm": "comblin-ucb", "dim": 2})
        draw, whole, by_place, estimate, shown, events = random.Random(7), 0, [0, 0], 0, 0, 60
        for i in range(events):
            baseline = draw.sample(range(4), 2)
            answer = check(server.call("POST", "/v1/agents/home/decide", {"event": f"e{i}", "contexts": ROWS, "baseline": baseline}), 201)
            assert answer["slate"] == baseline
            values = [draw.randrange(2), draw.randrange(2)]
            same = [a == b for a, b in zip(answer["agent_slate"], baseline)]
            whole += all(same)
            by_place = [count + agrees for count, agrees in zip(by_place, same)]
            estimate += sum(value if agrees else guess for value, agrees, guess in zip(values, same, answer["agent_estimates"]))
            shown += sum(values)
            check(server.call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": values}), 204)
            seq = check(server.call("GET", "/v1/agents/home"), 200)["seq"]
            until(lambda: check(server.call("GET", "/v1/agents/home"), 200)["model"] == seq)
        assert 0 < whole < events
        got = check(server.call("GET", "/v1/agents/home"), 200)["sides"]
        assert got["shadow"]["events"] == events and abs(got["shadow"]["reward"] - shown / events) < 1e-9
        about = got["apprentice"]
        assert about["events"] == events and abs(about["agrees"] - whole / events) < 1e-12, about
        assert all(abs(share - count / events) < 1e-12 for share, count in zip(about["agrees_by_place"], by_place)), (about, by_place)
        assert abs(about["estimate"] - estimate / events) < 1e-9, (about, estimate / events)
        page = check(server.call("GET", "/metrics"), 200).decode()
        assert f'superarm_apprentice_agrees{{agent="home"}} {whole / events:.17g}' in page
        assert history(server)["sides"]["shadow"]["learnt"] == events


def bad_input():
    with home(PROGRAM) as server:
        put(server)
        for query in ("from=x", "to=-1", "from=1.5", "to=99999999999999999999"):

            check(server.call("GET", "/v1/agents/home/history?" + query), 400)
        check(server.call("GET", "/v1/agents/nobody/history"), 404)
        assert check(server.call("GET", "/v1/agents/home/history"), 200) == {"history": []}


main(kills_change_no_sum, a_new_control_begins_again, hours_become_days, apprentices_are_compared, bad_input)
