"""What is left of a log with a floor by place? python3 bench/python_places.py coverage|overlap [--trials 100] [--pairs 5]

Logged by a frozen cn-ts with --floor 0.2 and --nu 10; in question is a frozen comblin-ucb without a floor, which has learnt from the other's log. Clicks are
independent, with probability 1 / (1 + exp(-2 x'w)); visitors come from a pool, so that what serving it gives is known exactly.

coverage: N 20, K 4, 20,000 events a log; how often rips and cascade-dr are within two standard errors of the value, and how large these are.
Each pair of agents has its own world. The set-up was chosen with --seed 100 and above, and is judged from 0.
overlap: N 200, K 5; which part of a log is left, effective sample size over events, under floors by place and by page, and where both agents choose
from a shortlist of 20."""

import argparse
import json
import multiprocessing
import os
import tempfile

import numpy as np

import superarm

EVENTS, DIM = 20_000, 5


def draw(rng, arms, count):
    x = rng.normal(size=(count, arms, DIM))
    return np.round(x / np.linalg.norm(x, axis=2, keepdims=True), 6)


class World:
    """A population of visitors, a logging agent and one in question."""

    def __init__(self, seed, arms, slate, visitors=40, rounds=3000, nu=10):
        rng = np.random.default_rng([seed, arms])
        self.nu = nu
        self.arms, self.slate, self.weights = arms, slate, rng.normal(size=DIM) / np.sqrt(DIM)
        self.logging = superarm.Agent("cn-ts", dim=DIM, slate=slate, random_state=seed, hidden=8)
        self.target = superarm.Agent("comblin-ucb", dim=DIM, slate=slate, random_state=seed)
        self.live(rng, rounds)
        self.contexts = draw(rng, arms, visitors)
        self.text = [json.dumps(one.tolist()) for one in self.contexts]
        wanted = self.target.policy()
        self.wanted = np.array([wanted.select(one, slate=slate).arms for one in self.contexts])
        self.value = float(np.mean([self.clicks(one)[own].sum() for one, own in zip(self.contexts, self.wanted)]))

    def clicks(self, contexts):
        return 1 / (1 + np.exp(-2 * contexts @ self.weights))

    def live(self, rng, rounds):
        """One lives, and the other learns from its log."""
        for contexts in draw(rng, self.arms, rounds):
            decision = self.logging.select(contexts)
            seen = (rng.uniform(size=self.slate) < self.clicks(contexts)[decision.arms]).astype(float)
            self.logging.update(decision, seen)
            self.target.learn(contexts, seen, arms=decision.arms)

    def policy(self, folder, **options):
        """The logging agent with a floor."""
        path = os.path.join(folder, "logging.npz")
        self.logging.save(path)
        return superarm.Agent.load(path, nu=self.nu, **options).policy()


def agreement(world, policy):
    """Of the rule's own slates: how often all arms agree in their order, the arms agree, and the first arm agrees."""
    counts = np.zeros(3)
    for contexts, wanted in zip(world.contexts, world.wanted):
        for draw_index in range(50):
            own = policy.select(contexts, slate=world.slate, draw=draw_index).arms
            counts += [np.array_equal(own, wanted), set(own) == set(wanted), own[0] == wanted[0]]
    return counts / (50 * len(world.contexts))


class Logger:
    """Logs of a policy; the probabilities of a visitor's slate are looked up once."""

    def __init__(self, world, policy):
        self.world, self.policy, self.known = world, policy, {}

    def write(self, path, seed):
        world, rng = self.world, np.random.default_rng([seed, 7])
        chances = [world.clicks(one) for one in world.contexts]
        with open(path, "w", encoding="utf-8") as file:
            for i in range(EVENTS):
                who = int(rng.integers(len(world.contexts)))
                slate = self.policy.select(world.contexts[who], slate=world.slate, draw=seed * EVENTS + i).arms
                key = (who, *slate.tolist())
                if key not in self.known:
                    joint, prefix, position = self.policy.propensities(world.contexts[who], slate)
                    self.known[key] = f'"propensity": {joint!r}, "prefix_propensities": {prefix.tolist()}, "position_propensities": {position.tolist()}'
                seen = (rng.uniform(size=world.slate) < chances[who][slate]).astype(int).tolist()
                file.write(f'{{"contexts": {world.text[who]}, "slate": {slate.tolist()}, {self.known[key]}, "feedback": {seen}}}\n')


def pair(job):
    seed, trials, model = job
    world = World(seed, 20, 4)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        target, log = os.path.join(folder, "target.npz"), os.path.join(folder, "log.jsonl")
        world.target.save(target)
        shares = agreement(world, world.policy(folder, floor=0))
        logger = Logger(world, world.policy(folder, floor=0.2))
        for trial in range(trials):
            logger.write(log, seed * 1000 + trial)
            found.append(superarm.evaluate(log, target, ["snips", "snrips", "rips", "cascade-dr"], model=model).estimators)
    return world.value, shares, found


def coverage(asked):
    jobs = [(asked.seed + i, asked.trials // asked.pairs, asked.model) for i in range(asked.pairs)]
    with multiprocessing.get_context("fork").Pool(asked.processes) as pool:
        worlds = pool.map(pair, jobs, chunksize=1)
    for seed, (value, shares, _) in zip((job[0] for job in jobs), worlds):
        print(f"world {seed}: serving it gives {value:.4f}; own slates agree {100 * shares[0]:.1f}% (as sets {100 * shares[1]:.1f}%, "
              f"first arm {100 * shares[2]:.1f}%)")
    print(f"{'':12}{'within 2 errors':>16}{'error/value mean':>18}{'largest':>9}{'bias/value':>12}{'smallest effective sample':>27}")
    for name in worlds[0][2][0]:
        every = [(one[name], value) for value, _, found in worlds for one in found]
        inside = sum(abs(one["value"] - value) <= 2 * one["standard_error"] for one, value in every)
        errors = np.array([one["standard_error"] / value for one, value in every])
        bias = np.mean([one["value"] / value - 1 for one, value in every])
        least = min(one["effective_sample_size"] for one, _ in every)
        print(f"{name:12}{inside:9} of {len(every):3}{100 * errors.mean():17.2f}%{100 * errors.max():8.2f}%{100 * bias:11.2f}%{least:27.0f}")


def left(world, folder, contexts, **options):
    """The effective sample size as a part of the events, of the first k arms: 1 / mean of 1 / p, p what the log has for the slate in question."""
    policy, wanted = world.policy(folder, **options), world.target.policy()
    found = [policy.propensities(one, wanted.select(one, slate=world.slate).arms)[1] for one in contexts]
    return 100 / np.mean(1 / np.array(found), 0)


def shortlist(world, size):
    """The arms that the logging agent estimates highest, in their order: what both choose from."""
    policy = world.logging.policy()
    best = [np.sort(np.argsort(-np.asarray(policy.estimate(one, slate=world.slate).estimate))[:size]) for one in world.contexts]
    return [one[arms] for one, arms in zip(world.contexts, best)]


FLOORS = (("page 0.2", {"floor": 0.2, "floor_by": "page"}), ("place 0.1", {"floor": 0.1}), ("place 0.2", {"floor": 0.2}), ("place 0.5", {"floor": 0.5}))


def overlap(asked):
    print("| world | `--nu` | own slates agree | " + " | ".join(name for name, _ in FLOORS) + " | place 0.2, of 20 | first 2 places, place 0.2 |")
    print("|---" * (len(FLOORS) + 5) + "|")
    for seed in range(asked.seed, asked.seed + asked.pairs):
        world = World(seed, 200, 5)
        few = shortlist(world, 20)
        for world.nu in (0.3, 1, 3, 10):
            with tempfile.TemporaryDirectory() as folder:
                shares = agreement(world, world.policy(folder, floor=0))
                sizes = [left(world, folder, world.contexts, **options) for _, options in FLOORS]
                short = left(world, folder, few, floor=0.2)
            cells = [f"{one[-1]:.2g}%" for one in (*sizes, short)] + [f"{sizes[2][1]:.2g}%"]
            print(f"| {seed} | {world.nu} | {100 * shares[0]:.0f}% | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["coverage", "overlap"])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="ridge")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    coverage(asked) if asked.what == "coverage" else overlap(asked)


if __name__ == "__main__":
    main()
