#!/usr/bin/env python3
"""serve_insights.py PROGRAM: what the latest events say of an agent, against a ledger that the client keeps."""
import random
import sys
from collections import Counter

from service import home, main, until

PROGRAM = sys.argv[1]
SHOP = {"options": {"algorithm": "cn-ucb", "hidden": 8, "floor": 0.2, "confidence": "sketch"}, "slate": 3, "default_feedback": 0, "wait_seconds": 0,
        "schema": {"context": {"device": "category [phone, desktop]"}, "item": {"price": "log", "kind": "category [shoes, hats]", "noise": "number"}}}


def same(one, other):
    return abs(one - other) < 1e-9


def a_ledger_agrees():
    draw = random.Random(3)
    catalogue = [{"id": f"p{i}", "price": draw.uniform(5, 90), "kind": draw.choice(["shoes", "hats"]), "noise": draw.uniform(-1, 1)} for i in range(20)]
    for item in catalogue[:5]:
        del item["price"]
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/shop", SHOP)[0] == 201
        empty = server.call("GET", "/v1/agents/shop/insights")
        assert empty[0] == 200 and empty[1]["events"] == 0 and empty[1]["places"] == [] and empty[1]["features"] is None, empty
        shown, clicks, places, unlikely, chances = Counter(), Counter(), [0.0] * 3, 0, 0
        for i in range(700):
            device = draw.choice(["phone", "desktop"])
            items = draw.sample(catalogue, 10)
            status, answer, _ = server.call("POST", "/v1/agents/shop/decide", {"event": f"e{i}", "context": {"device": device}, "items": items})
            assert status == 201, answer
            kinds = {item["id"]: item["kind"] for item in items}
            values = [float(draw.random() < (0.7 if (kinds[name] == "hats") == (device == "phone") else 0.05)) for name in answer["slate"]]
            assert server.call("POST", "/v1/agents/shop/feedback", {"event": f"e{i}", "feedback": values})[0] == 204
            before = 1
            for k, (name, value, prefix) in enumerate(zip(answer["slate"], values, answer["prefix_propensities"])):
                shown[name] += 1
                clicks[name] += value
                places[k] += value
                chances += 1
                unlikely += prefix < 0.5 * before
                before = prefix
        until(lambda: server.call("GET", "/v1/agents/shop")[1]["model"] == 701)
        got = server.call("GET", "/v1/agents/shop/insights")[1]
        assert got["events"] == 700 and got["unread"] == 0
        assert [place["shown"] for place in got["places"]] == [700] * 3 and all(same(place["mean"], sum_ / 700) for place, sum_ in zip(got["places"], places)), got["places"]
        assert got["chance"] == {"places": chances, "unlikely": unlikely} and 0.1 < unlikely / chances < 0.25, (got["chance"], unlikely, chances)
        assert got["items"]["different"] == len(shown) and not got["items"]["more"]
        listed = [item["id"] for item in got["items"]["most_shown"]]
        assert listed == sorted(shown, key=lambda name: (-shown[name], name))[:20], listed
        for item in got["items"]["most_shown"]:
            assert item["shown"] == shown[item["id"]] and same(item["mean"], clicks[item["id"]] / shown[item["id"]]), item
        fields = {field["name"]: field for field in got["features"]["fields"]}
        assert list(fields) == ["context.device", "item.price", "item.kind", "item.noise"] and got["features"]["all"] is True
        assert fields["item.kind"]["increase"] > 5 * abs(fields["item.noise"]["increase"]) > 0, fields  # by the world above
        assert fields["item.kind"]["missing"] == 0
        share = sum(shown[item["id"]] for item in catalogue[:5]) / sum(shown.values())
        assert abs(fields["item.price"]["missing"] - share) < 0.15, (fields["item.price"], share)  # 300 of 2100: 0.15 is more than five deviations
        assert server.call("GET", "/v1/agents/shop/insights")[1] == got, "it changes from look to look"


def vectors_and_places_and_many_rows():
    with home(PROGRAM) as server:
        for name, more in (("plain", {"floor": 0.8}), ("by-place", {"feedback": "position"})):
            agent = {"options": {"algorithm": "comblin-ucb", "dim": 3, **more}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
            assert server.call("PUT", "/v1/agents/" + name, agent)[0] == 201
            for i in range(1010 if name == "plain" else 60):
                contexts = [[i % 2, j % 2, (i * j) % 5] for j in range(4)]
                answer = server.call("POST", f"/v1/agents/{name}/decide", {"contexts": contexts})[1]
                server.call("POST", f"/v1/agents/{name}/feedback", {"event": answer["event"], "feedback": [arm % 2 for arm in answer["slate"]]})
        got = server.call("GET", "/v1/agents/plain/insights")[1]
        assert got["events"] == 1000 and got["items"]["different"] == 0, got
        assert [field["name"] for field in got["features"]["fields"]] == ["feature 0", "feature 1", "feature 2"], got["features"]
        assert got["features"]["fields"][1]["increase"] > 0.05 and abs(got["features"]["fields"][0]["increase"]) < 0.01, got["features"]
        got = server.call("GET", "/v1/agents/by-place/insights")[1]
        assert got["events"] == 60 and all(field["increase"] is None for field in got["features"]["fields"]), got
        assert server.call("GET", "/v1/agents/nobody/insights")[0] == 404


def a_total_is_of_no_place():
    with home(PROGRAM) as server:
        shop = {**SHOP, "options": {"algorithm": "comblin-ucb", "floor": 0.2, "feedback": "total"}}
        assert server.call("PUT", "/v1/agents/shop", shop)[0] == 201
        for i in range(60):
            items = [{"id": f"p{j}", "price": j, "kind": "hats", "noise": 0} for j in range(5)]
            answer = server.call("POST", "/v1/agents/shop/decide", {"event": f"e{i}", "context": {"device": "phone"}, "items": items})[1]
            assert server.call("POST", "/v1/agents/shop/feedback", {"event": answer["event"], "feedback": 2})[0] == 204
        got = server.call("GET", "/v1/agents/shop/insights")[1]
        assert got["events"] == 60 and got["unread"] == 0 and got["places"] == [] and got["features"] is None, got
        assert sum(item["shown"] for item in got["items"]["most_shown"]) == 180 and all(item["mean"] is None for item in got["items"]["most_shown"]), got["items"]
        # its evaluations are of whole slates
        number = server.call("POST", "/v1/agents/shop/evaluations", {})[1]["id"]
        until(lambda: server.call("GET", f"/v1/agents/shop/evaluations/{number}")[1]["state"] in ("done", "failed"), 60)
        done = server.call("GET", f"/v1/agents/shop/evaluations/{number}")[1]
        assert done["state"] == "done" and done["logged"]["value"] == 2 and set(done["evaluation"]["estimators"]) <= {"ips", "snips"}, done


if __name__ == "__main__":
    main(a_ledger_agrees, vectors_and_places_and_many_rows, a_total_is_of_no_place)
