"""How often do 95% intervals cover the true value? python3 bench/python_coverage.py draws|fixed [REPETITIONS] [FIRST] [WORLDS]

Logged by a frozen agent with floor 0.3, a cn-ts that draws its slates or a cn-ucb, whose slate is fixed; in question is another frozen
agent, a cn-ucb with floor 0.05 that has lived longer. N 6, K 3, T 10,000. WORLDS, with commas, are kinds of users: h2 (scores with
noise), cascade (who leave at their first click, attracted with the score as probability) and eager (the same, attracted twice as
easily). Prints for each the bias, the root mean squared error and its ratio to that of rips, the coverage, and the smallest effective
sample. FIRST is the first repetition's seed: the set-up was chosen on 5000 and above, and is judged from 0."""

import itertools
import json
import multiprocessing
import os
import sys
import tempfile

import numpy as np

import superarm

ARMS, SLATE, DIM, ROUNDS = 6, 3, 5, 10_000
NAMES = ["ips", "snips", "iips", "rips", "cascade-dr"]
WEIGHTS = np.array([0.6, -0.5, 0.4, -0.3, 0.37])
WEIGHTS = WEIGHTS / np.linalg.norm(WEIGHTS)
SLATES = np.array(list(itertools.permutations(range(ARMS), SLATE)))


def draw(rng, count):
    x = rng.normal(size=(count, ARMS, DIM))
    return x / np.linalg.norm(x, axis=2, keepdims=True)


def scores(world, contexts):
    h2 = (contexts @ WEIGHTS) ** 2
    return np.minimum(1, 2 * h2) if world == "eager" else h2


def feedback(world, rng, expected, slates):
    """(n, K) of each slate: scores and noise, or clicks of users who stop at the first."""
    shown = np.take_along_axis(expected, slates, 1)
    if world == "h2":
        return shown + 0.01 * rng.normal(size=shown.shape)
    clicks = rng.uniform(size=shown.shape) < shown
    return (clicks & (np.cumsum(clicks, 1) - clicks == 0)).astype(float)


def value(world, expected, slates):
    shown = np.take_along_axis(expected, slates, 1)
    return shown.sum(1) if world == "h2" else 1 - np.prod(1 - shown, 1)


def live(path, algorithm, rounds, floor, seed, **options):
    """An agent that has learnt from so many decisions on h2, saved with a floor."""
    rng = np.random.default_rng(seed)
    agent = superarm.Agent(algorithm, dim=DIM, slate=SLATE, hidden=32, random_state=seed, **options)
    for one in draw(rng, rounds):
        decision = agent.select(one)
        agent.update(decision, feedback("h2", rng, scores("h2", one)[None], decision.arms[None])[0])
    agent.save(path)
    superarm.Agent.load(path, floor=floor).save(path)


def make_agents(how, folder):
    logging, target = os.path.join(folder, "logging.npz"), os.path.join(folder, "target.npz")
    if how == "draws":
        live(logging, "cn-ts", 300, 0.3, 1, nu=1)
    else:
        live(logging, "cn-ucb", 300, 0.3, 1, gamma=0.1)
    live(target, "cn-ucb", 600, 0.05, 2, gamma=0.1)
    return target


def true_values(path, worlds):
    """The floor's part in full, and the agent's own slates as the best slate's value, known from many contexts, plus a difference
    that varies little."""
    policy = superarm.Agent.load(path, floor=0).policy()
    rng, values = np.random.default_rng(1), {}
    few, many = draw(rng, 50_000), draw(rng, 2_000_000)
    own = np.array([policy.select(one).arms for one in few])
    for world in worlds:
        some, all_ = scores(world, few), scores(world, many)
        best = value(world, all_, np.argsort(-scores("h2", many), 1)[:, :SLATE]).mean()
        lost = value(world, some, np.argsort(-scores("h2", few), 1)[:, :SLATE]) - value(world, some, own)
        uniform = np.mean([value(world, all_[:200_000], np.tile(slate, (200_000, 1))) for slate in SLATES])
        values[world] = 0.95 * (best - lost.mean()) + 0.05 * uniform
    return values


def write(path, contexts, decisions, seen):
    with open(path, "w", encoding="utf-8") as file:
        for one, decision, r in zip(contexts, decisions, seen):
            file.write(json.dumps({"contexts": one.tolist(), "slate": decision.arms.tolist(), "propensity": decision.propensity,
                                   "prefix_propensities": decision.prefix_propensities.tolist(),
                                   "position_propensities": decision.position_propensities.tolist(), "feedback": r.tolist()}) + "\n")


def repetition(work):
    """What is found in each world: {world: {estimator: estimate}}."""
    folder, seed, worlds = work
    logging = superarm.Agent.load(os.path.join(folder, "logging.npz")).policy()
    target, path = os.path.join(folder, "target.npz"), os.path.join(folder, f"log{seed}.jsonl")
    contexts = draw(np.random.default_rng(1000 + seed), ROUNDS)
    decisions = [logging.select(one, draw=seed * ROUNDS + i, propensities=True) for i, one in enumerate(contexts)]
    slates, found = np.array([decision.arms for decision in decisions]), {}
    for world in worlds:
        rng = np.random.default_rng([seed, len(world)])
        write(path, contexts, decisions, feedback(world, rng, scores(world, contexts), slates))
        found[world] = superarm.evaluate(path, target, NAMES).estimators
    os.remove(path)
    return found


def report(world, true, found):
    print(f"\n{world}: the true value is {true:.5f}; {len(found)} repetitions")
    print(f"{'':12}{'bias':>10}{'RMSE':>10}{'of rips':>10}{'coverage':>10}{'smallest effective sample':>28}")
    errors = {name: np.array([one[world][name]["value"] for one in found]) - true for name in found[0][world]}
    of_rips = np.sqrt(np.mean(errors["rips"] ** 2))
    for name, error in errors.items():
        own = [one[world][name] for one in found]
        inside = np.mean([one["ci95"][0] <= true <= one["ci95"][1] for one in own])
        rmse, least = np.sqrt(np.mean(error**2)), min(one["effective_sample_size"] for one in own)
        print(f"{name:12}{error.mean():10.5f}{rmse:10.5f}{rmse / of_rips:10.2f}{100 * inside:9.1f}%{least:28.0f}")


def main():
    how, repetitions, first, worlds = sys.argv[1:] + ["200", "0", "h2,eager"][len(sys.argv) - 2:]
    worlds = worlds.split(",")
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool(2) as pool:
        target = make_agents(how, folder)
        true = true_values(target, worlds)
        found = pool.map(repetition, [(folder, int(first) + i, worlds) for i in range(int(repetitions))], chunksize=1)
    for world in worlds:
        report(world, true[world], found)


if __name__ == "__main__":
    main()
