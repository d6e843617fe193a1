"""How often do 95% intervals cover the true value? python3 bench/python_coverage.py draws|fixed [REPETITIONS] [FIRST] [WORLDS]
[MODEL]

Logged by a frozen agent with floor 0.3, a cn-ts that draws its slates or a cn-ucb, whose slate is fixed; in question is another frozen
agent, a cn-ucb with floor 0.05 that has lived longer. N 6, K 3, T 10,000, each with a visitor drawn from 500, so that the true value is
known exactly. WORLDS, with commas, are kinds of users: h2 (scores with noise), cascade (who leave at their first click, attracted with
the score as probability) and eager (the same, attracted twice as easily). Prints for each the bias, the root mean squared error and
its ratio to that of rips, the mean standard error, the coverage, and the smallest effective sample. FIRST is the first repetition's seed: the set-up was chosen
on 5000 and above, and is judged from 0."""

import itertools
import json
import multiprocessing
import os
import sys
import tempfile

import numpy as np

import superarm

ARMS, SLATE, DIM, ROUNDS, VISITORS = 6, 3, 5, 10_000, 500
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
    superarm.Agent.load(path, floor=floor, floor_by="page").save(path)


def make_agents(how, folder):
    logging, target = os.path.join(folder, "logging.npz"), os.path.join(folder, "target.npz")
    if how == "draws":
        live(logging, "cn-ts", 300, 0.3, 1, nu=1)
    else:
        live(logging, "cn-ucb", 300, 0.3, 1, gamma=0.1)
    live(target, "cn-ucb", 600, 0.05, 2, gamma=0.1)
    return logging, target


class Visitors:
    """A population: contexts, the probability of every slate under the logging agent, and that of the agent in question."""

    def __init__(self, logging, target):
        self.contexts = np.round(draw(np.random.default_rng(1), VISITORS), 6)
        self.text = [json.dumps(one.tolist()) for one in self.contexts]
        logging, target = (superarm.Agent.load(path).policy() for path in (logging, target))
        self.logged = [[logging.propensities(one, slate) for slate in SLATES] for one in self.contexts]
        self.joint = np.array([[joint for joint, _, _ in one] for one in self.logged])
        self.wanted = np.array([[target.propensities(one, slate)[0] for slate in SLATES] for one in self.contexts])

    def true_value(self, world):
        expected = scores(world, self.contexts)
        values = np.stack([value(world, expected, np.tile(slate, (VISITORS, 1))) for slate in SLATES], 1)
        return float((self.wanted * values).sum(1).mean())

    def write(self, path, world, seed):
        """A log of ROUNDS decisions: a visitor, a slate, feedback."""
        rng = np.random.default_rng([seed, len(world)])
        who = rng.integers(VISITORS, size=ROUNDS)
        below = np.cumsum(self.joint, 1)[who]
        which = (rng.uniform(size=(ROUNDS, 1)) * below[:, -1:] > below).sum(1)
        seen = feedback(world, rng, scores(world, self.contexts)[who], SLATES[which])
        with open(path, "w", encoding="utf-8") as file:
            for i, s, r in zip(who, which, seen):
                joint, prefix, position = self.logged[i][s]
                file.write(f'{{"contexts": {self.text[i]}, "slate": {SLATES[s].tolist()}, "propensity": {joint!r}, "prefix_propensities": '
                           f'{prefix.tolist()}, "position_propensities": {position.tolist()}, "feedback": {r.tolist()}}}\n')


def repetition(seed):
    """What is found in each world: {world: {estimator: estimate}}."""
    found, path = {}, os.path.join(FOLDER, f"log{seed}.jsonl")
    for world in VALUES:
        POPULATION.write(path, world, seed)
        found[world] = superarm.evaluate(path, os.path.join(FOLDER, "target.npz"), NAMES, model=MODEL).estimators
    os.remove(path)
    return found


def report(world, true, found):
    print(f"\n{world}: the true value is {true:.5f}; {len(found)} repetitions")
    print(f"{'':12}{'bias':>10}{'RMSE':>10}{'of rips':>10}{'error':>10}{'coverage':>10}{'smallest effective sample':>28}")
    errors = {name: np.array([one[world][name]["value"] for one in found]) - true for name in found[0][world]}
    of_rips = np.sqrt(np.mean(errors["rips"] ** 2))
    for name, error in errors.items():
        own = [one[world][name] for one in found]
        inside = np.mean([one["ci95"][0] <= true <= one["ci95"][1] for one in own])
        standard_error = np.mean([one["standard_error"] for one in own])
        rmse, least = np.sqrt(np.mean(error**2)), min(one["effective_sample_size"] for one in own)
        print(f"{name:12}{error.mean():10.5f}{rmse:10.5f}{rmse / of_rips:10.2f}{standard_error:10.5f}{100 * inside:9.1f}%{least:28.0f}")


def main():
    global FOLDER, POPULATION, VALUES, MODEL  # for the processes that are forked
    how, repetitions, first, worlds, MODEL = sys.argv[1:] + ["200", "0", "h2,eager", "network"][len(sys.argv) - 2:]
    with tempfile.TemporaryDirectory() as FOLDER:
        POPULATION = Visitors(*make_agents(how, FOLDER))
        VALUES = {world: POPULATION.true_value(world) for world in worlds.split(",")}
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map(repetition, range(int(first), int(first) + int(repetitions)), chunksize=1)
    for world, true in VALUES.items():
        report(world, true, found)


if __name__ == "__main__":
    main()
