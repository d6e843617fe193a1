"""How often do 95% intervals cover the true value? python3 bench/python_coverage.py h2|cascade [REPETITIONS]

Logged by a frozen agent with floor 0.3; in question is another frozen agent, with floor 0.05. N 6, K 3, T 10,000. Prints for each
estimator the bias, the root mean squared error, the coverage, and the smallest effective sample size."""

import itertools
import json
import os
import sys
import tempfile

import numpy as np

import superarm

ARMS, SLATE, DIM, ROUNDS = 6, 3, 5, 10_000
NAMES = ["ips", "snips", "iips", "rips", "cascade-dr", "dr"]
WEIGHTS = np.array([0.6, -0.5, 0.4, -0.3, 0.37])
WEIGHTS = WEIGHTS / np.linalg.norm(WEIGHTS)
SLATES = np.array(list(itertools.permutations(range(ARMS), SLATE)))


def draw(rng, count):
    x = rng.normal(size=(count, ARMS, DIM))
    return x / np.linalg.norm(x, axis=2, keepdims=True)


def scores(contexts):
    return (contexts @ WEIGHTS) ** 2


def feedback(kind, rng, expected, slates):
    """(n, K) of each slate: scores and noise, or clicks of users who stop at the first."""
    shown = np.take_along_axis(expected, slates, 1)
    if kind == "h2":
        return shown + 0.01 * rng.normal(size=shown.shape)
    clicks = rng.uniform(size=shown.shape) < shown
    return (clicks & (np.cumsum(clicks, 1) - clicks == 0)).astype(float)


def value(kind, expected, slates):
    shown = np.take_along_axis(expected, slates, 1)
    return shown.sum(1) if kind == "h2" else 1 - np.prod(1 - shown, 1)


def agents(kind, folder):
    """Two agents of the same life, at two moments: they agree often, so that there is something to compare."""
    rng = np.random.default_rng(0)
    agent = superarm.Agent("cn-ucb", dim=DIM, slate=SLATE, hidden=32, gamma=0.1, random_state=1)
    paths = [os.path.join(folder, name) for name in ("logging.npz", "target.npz")]
    contexts = draw(rng, 1500)
    for t, one in enumerate(contexts):
        decision = agent.select(one)
        agent.update(decision, feedback("h2", rng, scores(one)[None], decision.arms[None])[0])
        if t == 999:
            agent.save(paths[0])
    agent.save(paths[1])
    superarm.Agent.load(paths[1], floor=0.05).save(paths[1])
    return superarm.Agent.load(paths[0], floor=0.3).policy(), superarm.Agent.load(paths[1], floor=0).policy(), paths[1]


def true_value(kind, policy):
    contexts = draw(np.random.default_rng(1), 100_000)
    expected = scores(contexts)
    own = np.array([policy.select(one).arms for one in contexts])
    uniform = np.mean([value(kind, expected, np.tile(slate, (len(expected), 1))) for slate in SLATES])
    return 0.95 * value(kind, expected, own).mean() + 0.05 * uniform


def repetition(kind, seed, logging, target, path):
    rng = np.random.default_rng(1000 + seed)
    contexts = draw(rng, ROUNDS)
    decisions = [logging.select(one, draw=seed * ROUNDS + i, propensities=True) for i, one in enumerate(contexts)]
    seen = feedback(kind, rng, scores(contexts), np.array([decision.arms for decision in decisions]))
    with open(path, "w", encoding="utf-8") as file:
        for one, decision, r in zip(contexts, decisions, seen):
            file.write(json.dumps({"contexts": one.tolist(), "slate": decision.arms.tolist(), "propensity": decision.propensity,
                                   "prefix_propensities": decision.prefix_propensities.tolist(),
                                   "position_propensities": decision.position_propensities.tolist(), "feedback": r.tolist()}) + "\n")
    return superarm.evaluate(path, target, NAMES).estimators


def main():
    kind, repetitions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        logging, own, target = agents(kind, folder)
        true = true_value(kind, own)
        found = [repetition(kind, seed, logging, target, os.path.join(folder, "log.jsonl")) for seed in range(repetitions)]
    print(f"{kind}: the true value is {true:.5f}; {repetitions} repetitions")
    print(f"{'':12}{'bias':>10}{'RMSE':>10}{'coverage':>10}{'smallest effective sample':>28}")
    for name in NAMES:
        values = np.array([one[name]["value"] for one in found])
        inside = np.mean([one[name]["ci95"][0] <= true <= one[name]["ci95"][1] for one in found])
        least = min(one[name]["effective_sample_size"] for one in found)
        print(f"{name:12}{values.mean() - true:10.5f}{np.sqrt(np.mean((values - true) ** 2)):10.5f}{100 * inside:9.1f}%{least:28.0f}")


if __name__ == "__main__":
    main()
