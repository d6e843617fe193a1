"""Wild values: feedback outside reward_range and features outside feature_range are refused, and nothing of them is kept: an agent
whose first events were hostile learns as one that never saw them."""
import random
import sys

from service import home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 2}, "slate": 1, "default_feedback": 0, "wait_seconds": 0}


def decide(server, name, event, contexts):
    return server.call("POST", f"/v1/agents/{name}/decide", {"event": event, "contexts": contexts})


def feedback(server, name, event, values):
    return server.call("POST", f"/v1/agents/{name}/feedback", {"event": event, "feedback": values})


def wild_values_are_refused_by_default():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        status, body, _ = decide(server, "home", "far", [[1e18, 0], [0, 1]])
        assert status == 400 and "feature 0 of arm 0 is 1e+18, outside the agent's feature_range" in body["error"]["message"], body
        assert decide(server, "home", "first", [[1, 0], [0, 1]])[0] == 201
        for values in ([1e300], {"0": 1e300, "1": 1e300}, [-2e9]):
            status, body, _ = feedback(server, "home", "first", values)
            assert status == 400 and "outside the agent's reward_range, -1e+09 to 1e+09" in body["error"]["message"], (values, body)
        about = server.call("GET", "/v1/agents/home")[1]
        assert about["counts"]["learnt"] == 0 and about["counts"]["waiting"] == 1, about
        assert feedback(server, "home", "first", [1])[0] == 204


def three_hundred_events_are_learnt_after_hostile_ones():
    with home(PROGRAM) as server:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        draw, right = random.Random(1), 0
        decide(server, "home", "h1", [[1e18, 1e18], [-1e18, 0]])
        decide(server, "home", "h2", [[1, 0], [0, 1]])
        feedback(server, "home", "h2", [1e300])
        for i in range(300):
            contexts = [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(4)]
            status, answer, _ = decide(server, "home", f"e{i}", contexts)
            assert status == 201, answer
            chosen = contexts[answer["slate"][0]]
            if i >= 250:
                right += chosen == max(contexts, key=lambda x: x[0] - x[1])
            assert feedback(server, "home", f"e{i}", [chosen[0] - chosen[1]])[0] == 204
            if i % 50 == 49:
                until(lambda: server.call("GET", "/v1/agents/home")[1]["model"] == i + 2)
        assert right >= 40, right  # of 50; chance is 12.5


def hostile_values_inside_the_ranges_are_healed():
    """Far from all that comes, and not outside: three hundred events later the agent has forgotten them."""
    with home(PROGRAM) as server:
        for name, options in (("linear", AGENT["options"]), ("network", {"dim": 2, "hidden": 16})):
            assert server.call("PUT", f"/v1/agents/{name}", {**AGENT, "options": options})[0] == 201
            draw, right = random.Random(2), 0
            for event in ("h1", "h2"):
                status, answer, _ = decide(server, name, event, [[1e12, 1], [-1e12, 0], [1, 1e12], [0.5, 1]])
                assert status == 201, answer
                assert feedback(server, name, event, [1e9 if event == "h1" else -1e9])[0] == 204
            for i in range(350):
                contexts = [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(4)]
                status, answer, _ = decide(server, name, f"e{i}", contexts)
                assert status == 201, answer
                chosen = contexts[answer["slate"][0]]
                if i >= 300:
                    right += chosen == max(contexts, key=lambda x: x[0] - x[1])
                assert feedback(server, name, f"e{i}", [chosen[0] - chosen[1]])[0] == 204
                if i % 25 == 24:
                    until(lambda: server.call("GET", f"/v1/agents/{name}")[1]["model"] == i + 4)
            assert right >= 40, (name, right)  # of 50; chance is 12.5


def an_agent_has_ranges_of_its_own():
    with home(PROGRAM) as server:
        status, body, _ = server.call("PUT", "/v1/agents/home", {**AGENT, "reward_range": [0, 1], "feature_range": [-5, 5]})
        assert status == 201 and body["settings"]["reward_range"] == [0, 1] and body["settings"]["feature_range"] == [-5, 5], body
        assert server.call("PUT", "/v1/agents/home", body["settings"])[0] == 200
        assert decide(server, "home", "a", [[5.5, 0], [0, 1]])[0] == 400
        assert decide(server, "home", "b", [[5, 0], [0, 1]])[0] == 201
        assert feedback(server, "home", "b", [1.5])[0] == 400
        assert feedback(server, "home", "b", [1])[0] == 204
        for wrong in ([1, 0], [0], "0..1", [0, None], [0, "1"]):
            status, body, _ = server.call("PUT", "/v1/agents/other", {**AGENT, "reward_range": wrong})
            assert status == 400 and "reward_range" in body["error"]["message"], (wrong, body)


main(wild_values_are_refused_by_default, three_hundred_events_are_learnt_after_hostile_ones,
     hostile_values_inside_the_ranges_are_healed, an_agent_has_ranges_of_its_own)
