"""Agents as policies in question: their probabilities in decisions, in logs and in evaluations."""

import itertools
import json
import math

import numpy as np
import pytest

import superarm

ARMS, SLATE, DIM = 5, 2, 3


def learnt(algorithm, floor, seed=1, rounds=20, **options):
    """An agent that has learnt a little, and a generator for what comes next."""
    rng = np.random.default_rng(seed)
    agent = superarm.Agent(algorithm, dim=DIM, slate=SLATE, floor=floor, random_state=seed, **options)
    for _ in range(rounds):
        contexts = rng.normal(size=(ARMS, DIM))
        decision = agent.select(contexts)
        agent.update(decision, contexts[decision.arms, 0] + 0.1 * rng.normal(size=SLATE))
    return agent, rng


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            print(json.dumps(line), file=file)
    return path


def log_of(agent, rng, n):
    lines = []
    for _ in range(n):
        contexts = rng.normal(size=(ARMS, DIM))
        decision = agent.select(contexts, propensities=True)
        lines.append({"contexts": contexts.tolist(), "slate": decision.arms.tolist(), "propensity": decision.propensity,
                      "prefix_propensities": decision.prefix_propensities.tolist(),
                      "position_propensities": decision.position_propensities.tolist(),
                      "feedback": (contexts[decision.arms, 0] + rng.normal(size=SLATE)).tolist()})
    return lines


@pytest.mark.parametrize("algorithm", ["cn-ucb", "cn-ts", "comblin-ucb", "comblin-ts", "greedy"])
def test_agent_is_as_given(tmp_path, algorithm):
    """What evaluate computes of an agent is what its policy says, line by line."""
    logging, rng = learnt("cn-ucb", 0.4)
    lines = log_of(logging, rng, 60)
    target, _ = learnt(algorithm, 0.1, seed=2)
    target.save(tmp_path / "agent.npz")
    policy = target.policy()
    for line in lines:
        joint, prefix, position = policy.propensities(line["contexts"], line["slate"])
        line.update(target_propensity=joint, target_prefix_propensities=prefix.tolist(), target_position_propensities=position.tolist())
    path = write(tmp_path / "log.jsonl", lines)
    got = superarm.evaluate(path, ["given", str(tmp_path / "agent.npz")])
    given, agent = got.policies.values()
    assert set(given) == {"ips", "snips", "iips", "sniips", "rips", "snrips"}
    for name, found in given.items():
        assert agent[name]["value"] == pytest.approx(found["value"], rel=1e-12)


def test_places():
    """Each place's share is E / left, or that and 1 - E."""
    agent, rng = learnt("cn-ucb", 0.3)
    contexts = rng.normal(size=(ARMS, DIM))
    for _ in range(20):
        decision = agent.select(contexts, propensities=True)
        before = 1.0
        for k, prefix in enumerate(decision.prefix_propensities):
            floor = 0.3 / (ARMS - k)
            assert prefix / before == pytest.approx(floor) or prefix / before == pytest.approx(floor + 0.7)
            before = prefix
        assert before == decision.propensity
    with pytest.raises(superarm.InputError, match="--floor is not given"):
        superarm.Agent("cn-ucb", dim=3, floor_by="page")


def test_decisions(tmp_path):
    agent, rng = learnt("cn-ucb", 0.3, floor_by="page")
    contexts = rng.normal(size=(ARMS, DIM))
    decision = agent.select(contexts)
    assert math.isnan(decision.propensity) and np.isnan(decision.position_propensities).all()
    for _ in range(20):
        decision = agent.select(contexts, propensities=True)
        assert decision.propensity == pytest.approx(0.3 / 20) or decision.propensity == pytest.approx(0.3 / 20 + 0.7)
        assert decision.prefix_propensities[-1] == decision.propensity


def uniform_slates(contexts, feedback):
    """Every ordered slate once, as a uniform policy logs them."""
    return [{"contexts": contexts.tolist(), "slate": list(slate), "propensity": 1 / math.perm(ARMS, SLATE),
             "prefix_propensities": [1 / math.perm(ARMS, k + 1) for k in range(SLATE)], "position_propensities": [1 / ARMS] * SLATE,
             "feedback": feedback(slate)} for slate in itertools.permutations(range(ARMS), SLATE)]


@pytest.mark.parametrize("algorithm", ["cn-ucb", "cn-ts"])
def test_unbiased(tmp_path, algorithm):
    """By enumeration: the mean over all slates is the policy's true value. pi and iips where rewards are sums over positions, the others
    also where the second position depends on the first."""
    agent, rng = learnt(algorithm, 0.2, seed=3)
    agent.save(tmp_path / "agent.npz")
    contexts, gains, together = rng.normal(size=(ARMS, DIM)), rng.uniform(size=(SLATE, ARMS)), rng.uniform(size=(ARMS, ARMS))
    policy = agent.policy()
    for additive in (True, False):
        def feedback(slate, additive=additive):
            second = gains[1, slate[1]] if additive else together[slate[0], slate[1]]
            return [float(gains[0, slate[0]]), float(second)]

        lines = uniform_slates(contexts, feedback)
        true = sum(policy.propensities(contexts, line["slate"])[0] * sum(line["feedback"]) for line in lines)
        names = ["ips", "rips"] + (["iips", "pi"] if additive else [])
        got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), str(tmp_path / "agent.npz"), names).estimators
        for name in names:
            assert got[name]["value"] == pytest.approx(true, rel=1e-9), name


def every_slate(rng, policy, name, length):
    """A visitor to whom a logging policy shows each slate of `length` of 4 arms as often as it is likely to, and the true value of
    `policy`. Feedback depends on all arms of the slate, for cascade-dr on those above."""
    slates = list(itertools.permutations(range(4), length))
    times = {slate: int(rng.integers(1, 6)) for slate in slates}
    times[slates[0]] += 100 - sum(times.values())
    contexts, gains, lines, true = rng.normal(size=(4, DIM)), {}, [], 0.0
    for slate in slates:
        seen = [slate[:k + 1] if name == "cascade-dr" else (slate, k) for k in range(length)]
        feedback = [gains.setdefault(key, float(rng.normal(1, 2))) for key in seen]
        prefix = [sum(many for other, many in times.items() if other[:k + 1] == slate[:k + 1]) / 100 for k in range(length)]
        line = {"contexts": contexts.tolist(), "slate": list(slate), "propensity": prefix[-1], "prefix_propensities": prefix,
                "feedback": feedback}
        lines += [line] * times[slate]
        true += policy.propensities(contexts, slate)[0] * sum(feedback)
    return lines, true


@pytest.mark.parametrize("length", [2, 3])
@pytest.mark.parametrize("model", ["network", "ridge"])
@pytest.mark.parametrize("name", ["dr", "cascade-dr"])
@pytest.mark.parametrize("algorithm", ["cn-ucb", "cn-ts"])
def test_doubly_robust_is_unbiased(tmp_path, algorithm, name, model, length):
    """By enumeration, for any fixed reward model. Of two folds the even decisions are every slate for one visitor, the odd ones for another
    with other feedback: each half's model is fitted on the other half, and so it is fixed, and wrong."""
    agent, rng = learnt(algorithm, 0.2, seed=3)
    agent.save(tmp_path / "agent.npz")
    (even, one), (odd, other) = (every_slate(rng, agent.policy(), name, length) for _ in range(2))
    log = write(tmp_path / "log.jsonl", [line for pair in zip(even, odd) for line in pair])
    got = superarm.evaluate(log, str(tmp_path / "agent.npz"), [name, "dm"], folds=2, model=model).estimators
    assert got[name]["value"] == pytest.approx((one + other) / 2, rel=1e-9)
    assert abs(got["dm"]["value"] - (one + other) / 2) > 1e-3


@pytest.mark.parametrize("model", ["network", "ridge"])
def test_models_of_a_known_reward(tmp_path, model):
    """Rewards that the reward model can fit: dm, dr and cascade-dr then know the value, whatever was drawn."""
    agent, rng = learnt("cn-ucb", 0.2, seed=4)
    agent.save(tmp_path / "agent.npz")
    logging, _ = learnt("greedy", 0.5, seed=5)
    lines, true, policy = [], 0.0, agent.policy()
    for _ in range(400):
        contexts = rng.normal(size=(ARMS, DIM))
        decision = logging.select(contexts, propensities=True)
        gain = contexts @ [1.0, -0.5, 0.2]
        lines.append({"contexts": contexts.tolist(), "slate": decision.arms.tolist(), "propensity": decision.propensity,
                      "prefix_propensities": decision.prefix_propensities.tolist(),
                      "position_propensities": decision.position_propensities.tolist(), "feedback": gain[decision.arms].tolist()})
        for slate in itertools.permutations(range(ARMS), SLATE):
            true += policy.propensities(contexts, slate)[0] * gain[list(slate)].sum() / 400
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), str(tmp_path / "agent.npz"), ["ips", "dm", "dr", "cascade-dr"],
                            model=model).estimators
    for name in ("dm", "dr"):
        assert got[name]["value"] == pytest.approx(true, abs=0.02), name
    assert got["cascade-dr"]["value"] == pytest.approx(true, abs=4 * got["cascade-dr"]["standard_error"] + 0.02)
    assert got["dr"]["standard_error"] < 0.7 * got["ips"]["standard_error"]


def squares(tmp_path, n, positions=2):
    """A log of uniform slates whose feedback is no sum of what is in the contexts: squares, of which the second half as much once the
    first was large. With the true value of each arm at each position under the uniform policy."""
    rng = np.random.default_rng(8)
    lines = []
    for _ in range(n):
        contexts = rng.normal(size=(3, 2))
        slate = rng.permutation(3)[:positions]
        gain = contexts[slate, 0] ** 2
        gain[1:] *= np.where(gain[:1] > 1, 0.5, 1)
        prefix = [1 / math.perm(3, k + 1) for k in range(positions)]
        lines.append({"contexts": contexts.tolist(), "slate": slate.tolist(), "propensity": prefix[-1], "prefix_propensities": prefix,
                      "feedback": gain.tolist()})
    return write(tmp_path / "log.jsonl", lines)


def test_network_fits_what_ridge_cannot(tmp_path):
    log = squares(tmp_path, 3000)
    network, again, other, ridge = (superarm.evaluate(log, "uniform", ["rips", "cascade-dr", "dr"], **options).estimators for options in (
        {}, {"model": "network", "seed": 1}, {"seed": 2}, {"model": "ridge"}))
    assert network == again and network["dr"] != other["dr"] and network["rips"] == other["rips"]
    # each value is of the visitors who came: what is left of the error is what varies between them
    for name in ("cascade-dr", "dr"):
        assert network[name]["standard_error"] < 0.9 * ridge[name]["standard_error"], name
        assert abs(network[name]["value"] - ridge[name]["value"]) < 4 * ridge[name]["standard_error"]


def test_network_keeps_a_part_of_a_long_log(tmp_path):
    """From 50,000 decisions on it learns from every second, also where every second is of the same fold."""
    log = squares(tmp_path, 50_010, positions=1)
    assert superarm.evaluate(log, "uniform", "dm", folds=2).estimators["dm"]["value"] == pytest.approx(1, abs=0.05)


def test_constant_rewards(tmp_path):
    lines = [{"contexts": [[1.0], [2.0]], "slate": [i % 2], "propensity": 0.5, "feedback": [3]} for i in range(10)]
    for model in ("network", "ridge"):
        got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), "uniform", ["dm", "dr"], model=model).estimators
        assert got["dr"]["value"] == pytest.approx(3, abs=0.5)
    assert superarm.evaluate(tmp_path / "log.jsonl", "uniform", "dm").estimators["dm"]["value"] == pytest.approx(3, rel=1e-12)
    with pytest.raises(superarm.InputError, match="--model nets is not network, ridge or zero"):
        superarm.evaluate(tmp_path / "log.jsonl", "uniform", "dm", model="nets")


def test_run_writes_them(tmp_path):
    """The log of a run has its propensities; without a floor, what draws its parameters has none."""
    log = tmp_path / "log.jsonl"
    superarm.run(environment="h1", algorithm="cn-ts", rounds=30, arms=6, slate=3, dim=4, hidden=8, runs=1, floor=0.2, log=str(log))
    lines = [json.loads(line) for line in open(log, encoding="utf-8")]
    assert all(0.2 ** 3 / 120 <= line["propensity"] <= 1 for line in lines)
    assert all(line["prefix_propensities"][-1] == line["propensity"] and len(line["position_propensities"]) == 3 for line in lines)
    got = superarm.evaluate(log, "uniform", "ips")
    assert got.events == 30
    superarm.run(environment="h1", algorithm="comblin-ts", rounds=5, arms=6, slate=3, dim=4, runs=1, log=str(log))
    assert all(json.loads(line)["propensity"] is None for line in open(log, encoding="utf-8"))


def test_refused(tmp_path):
    lines = log_of(learnt("cn-ucb", 0.4)[0], np.random.default_rng(1), 4)
    log = write(tmp_path / "log.jsonl", lines)
    drawing, _ = learnt("comblin-ts", 0)
    drawing.save(tmp_path / "drawing.npz")
    with pytest.raises(superarm.InputError, match="log.jsonl:1: the agent cannot say how likely"):
        superarm.evaluate(log, str(tmp_path / "drawing.npz"), "ips")
    other = superarm.Agent("cn-ucb", dim=7, slate=2)
    other.save(tmp_path / "other.npz")
    with pytest.raises(superarm.InputError, match="log.jsonl:1: the contexts have 3 numbers, and the agent .* takes 7"):
        superarm.evaluate(log, str(tmp_path / "other.npz"), "ips")
    pack = superarm.Agent("cn-ucb", dim=3, slate=2, oracle="knapsack")
    pack.save(tmp_path / "pack.npz")
    with pytest.raises(superarm.Error, match="log.jsonl:1: "):
        superarm.evaluate(log, str(tmp_path / "pack.npz"), "iips")
    with pytest.raises(superarm.Error, match="absent.npz"):
        superarm.evaluate(log, str(tmp_path / "absent.npz"))
    with pytest.raises(superarm.InputError, match="--floor is for oracles"):
        superarm.Agent("cn-ucb", dim=3, oracle="knapsack", floor=0.1)
    with pytest.raises(superarm.InputError, match="floor"):
        superarm.Agent("cn-ucb", dim=3, floor=1.5)


def test_replay(tmp_path):
    """Against an agent that is walked through the log in Python, learning where it agrees."""
    rng = np.random.default_rng(6)
    agent = superarm.Agent("cn-ts", dim=DIM, slate=SLATE, random_state=3)
    agent.save(tmp_path / "agent.npz")
    lines, agreed = [], []
    for i in range(600):
        contexts = rng.normal(size=(ARMS, DIM))
        slate = rng.permutation(ARMS)[:SLATE].tolist()
        feedback = [float(x) if rng.uniform() < 0.9 else None for x in contexts[slate, 0]]
        lines.append({"contexts": contexts.tolist(), "slate": slate, "propensity": 1 / math.perm(ARMS, SLATE), "feedback": feedback})
        decision = agent.policy().select(contexts, draw=i)
        if decision.arms.tolist() == slate:
            agent.record(decision)
            agent.update(decision, [x or 0 for x in feedback], observed=[x is not None for x in feedback])
            agreed.append(sum(x or 0 for x in feedback))
    log = write(tmp_path / "log.jsonl", lines)
    found = superarm.evaluate(log, str(tmp_path / "agent.npz"), "replay").estimators["replay"]
    assert len(agreed) > 10 and found["effective_sample_size"] == len(agreed)
    assert found["value"] == pytest.approx(np.mean(agreed), rel=1e-12)
    assert found["standard_error"] == pytest.approx(np.std(agreed, ddof=1) / math.sqrt(len(agreed)), rel=1e-9)
    assert found["no_overlap"] == pytest.approx(1 - len(agreed) / 600)
    with pytest.raises(superarm.InputError, match="replay is for an agent"):
        superarm.evaluate(log, "uniform", "replay")
    lines[3]["propensity"] = 0.2
    with pytest.raises(superarm.InputError, match="log.jsonl:4: replay needs slates that were drawn uniformly"):
        superarm.evaluate(write(log, lines), str(tmp_path / "agent.npz"), "replay")


def test_pending_decisions_keep_them(tmp_path):
    """With the agent, and saved with it; also those that a policy made and the agent recorded."""
    agent, rng = learnt("cn-ts", 0.3)
    contexts = rng.normal(size=(ARMS, DIM))
    plain, asked = agent.select(contexts), agent.select(contexts, propensities=True)
    recorded = agent.policy().select(contexts, propensities=True)
    agent.record(recorded)
    agent.save(tmp_path / "agent.npz")
    for one in (agent, superarm.Agent.load(tmp_path / "agent.npz")):
        joint, prefix, position = one.propensities(plain.id)
        assert math.isnan(joint) and prefix is None and position is None
        for decision in (asked, recorded):
            joint, prefix, position = one.propensities(decision.id)
            assert joint == decision.propensity > 0
            assert np.array_equal(prefix, decision.prefix_propensities) and np.array_equal(position, decision.position_propensities)
    with pytest.raises(superarm.UnknownDecision):
        agent.propensities(12345)


def test_named_fields(tmp_path):
    """A log of items with named fields is read by the agent's own schema, by weights and by reward models."""
    rng = np.random.default_rng(7)
    schema = superarm.Schema({"context": {"hour": "cyclic 24"}, "item": {"price": "number", "kind": "category [a, b]"}})
    agent = superarm.Agent("cn-ucb", schema=schema, slate=2, floor=0.3, random_state=1)
    lines = []
    for _ in range(60):
        items = [{"id": f"p{i}", "price": float(rng.normal()), "kind": "ab"[i % 2]} for i in range(4)]
        context = {"hour": int(rng.integers(24))}
        decision = agent.select(items=items, context=context, slate=2, propensities=True)
        seen = [items[arm]["price"] for arm in decision.arms]
        agent.update(decision, seen)
        lines.append({"items": items, "context": context, "slate": [items[arm]["id"] for arm in decision.arms], "feedback": seen,
                      "propensity": decision.propensity, "prefix_propensities": decision.prefix_propensities.tolist(),
                      "position_propensities": decision.position_propensities.tolist()})
    agent.save(tmp_path / "agent.npz")
    log = write(tmp_path / "log.jsonl", lines)
    got = superarm.evaluate(log, str(tmp_path / "agent.npz"), ["ips", "iips", "cascade-dr", "dm"]).estimators
    assert got["ips"]["value"] > 0 and got["ips"]["no_overlap"] == 0
    with pytest.raises(superarm.InputError, match="log.jsonl:1: items have named fields"):
        superarm.evaluate(log, "uniform", "dm")


def test_what_is_excluded_stays_so(tmp_path):
    """`random` is uniform over what may be chosen: the probabilities are counted by hand."""
    agent = superarm.Agent("random", dim=DIM, slate=SLATE, random_state=1)
    agent.save(tmp_path / "agent.npz")
    rng, lines, weights = np.random.default_rng(4), [], []
    for i in range(200):
        excluded = rng.permutation(ARMS)[: int(rng.integers(0, 3))].tolist()
        left = [arm for arm in range(ARMS) if arm not in excluded]
        slate = rng.permutation(left)[:SLATE].tolist()
        line = {"contexts": rng.normal(size=(ARMS, DIM)).tolist(), "slate": slate, "propensity": 0.05, "prefix_propensities": [0.2, 0.05], "feedback": [1.0, float(i % 2)]}
        if excluded or i % 2:
            line["exclude"] = excluded
        lines.append(line)
        weights.append(1 / math.perm(len(left), SLATE) / 0.05)
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), str(tmp_path / "agent.npz"), "ips")
    expected = np.mean([w * sum(line["feedback"]) for w, line in zip(weights, lines)])
    assert got.estimators["ips"]["value"] == pytest.approx(expected, rel=1e-12)
    assert not any("rules" in warning for warning in got.warnings)
    for line in lines[:7]:
        line["pin"] = {"0": "p7"}
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), str(tmp_path / "agent.npz"), "ips")
    assert any("7 decisions had rules" in warning for warning in got.warnings)
    for wrong in ([ARMS], ["p1"], [0.5]):
        with pytest.raises(superarm.FormatError, match="log.jsonl:3: exclude.0. is none of the 5 candidates"):
            superarm.evaluate(write(tmp_path / "log.jsonl", [*lines[:2], {**lines[2], "exclude": wrong}]), str(tmp_path / "agent.npz"), "ips")
