"""Where each off-policy estimator fails, as a picture: python3 bench/python_cases.py docs/evaluation-cases.png

Four cases of N 5, K 3, 2000 decisions, 60 logs each. The policy in question prefers other arms than the one that logged; both draw arms one
by one without repetition. Points are estimates minus the true value, as shares of it, over the logs: the mean and one deviation."""

import itertools
import json
import os
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import superarm  # noqa: E402

ARMS, SLATE, ROUNDS, LOGS = 5, 3, 2000, 60
NAMES = ["ips", "snips", "iips", "rips", "snrips"]
SLATES = list(itertools.permutations(range(ARMS), SLATE))
GAINS = np.array([0.1, 0.2, 0.3, 0.4, 0.5])


def distribution(strength):
    """Arms one by one, each with a share of exp(strength GAINS): of each slate, of its prefixes and of arms at positions."""
    shares = np.exp(strength * GAINS)
    prefix = []
    for slate in SLATES:
        left, chance, row = shares.sum(), 1.0, []
        for arm in slate:
            chance *= shares[arm] / left
            left -= shares[arm]
            row.append(chance)
        prefix.append(row)
    prefix = np.array(prefix)
    joint = prefix[:, -1]
    position = np.array([[joint[[other[k] == slate[k] for other in SLATES]].sum() for k in range(SLATE)] for slate in SLATES])
    return joint, prefix, position


def additive(slate):
    return GAINS[list(slate)]


def cascade(slate):
    """The chance that the user gets there and clicks, and leaves."""
    p = GAINS[list(slate)]
    return p * np.concatenate([[1], np.cumprod(1 - p)[:-1]])


def last_matters(slate):
    """What is below draws attention from what is above."""
    p = GAINS[list(slate)]
    return p * np.array([1 - p[2], 1 - p[2], 1])


CASES = [("rewards add up", additive, 0, 4), ("users leave after a click", cascade, 0, 4), ("the last arm matters to the first", last_matters, 0, 4),
         ("little overlap", additive, -9, 9)]


def estimates(means, logging, target, rng, path):
    chosen = rng.choice(len(SLATES), ROUNDS, p=logging[0])
    clicks = (rng.uniform(size=(ROUNDS, SLATE)) < means[chosen]).astype(int)
    with open(path, "w", encoding="utf-8") as file:
        for i, r in zip(chosen, clicks):
            file.write(json.dumps({"contexts": [[0]] * ARMS, "slate": SLATES[i], "propensity": logging[0][i], "target_propensity": target[0][i],
                                   "prefix_propensities": logging[1][i].tolist(), "target_prefix_propensities": target[1][i].tolist(),
                                   "position_propensities": logging[2][i].tolist(), "target_position_propensities": target[2][i].tolist(),
                                   "feedback": r.tolist()}) + "\n")
    found = superarm.evaluate(path, "given", NAMES).estimators
    return [found[name]["value"] for name in NAMES]


def main():
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2))
    with tempfile.TemporaryDirectory() as folder:
        for axis, (title, reward, strength, other) in zip(axes, CASES):
            means = np.array([reward(slate) for slate in SLATES])
            logging, target = distribution(strength), distribution(other)
            true = (target[0] * means.sum(1)).sum()
            found = np.array([estimates(means, logging, target, np.random.default_rng(seed), os.path.join(folder, "log.jsonl"))
                              for seed in range(LOGS)]) / true - 1
            axis.axhline(0, color="#999", linewidth=1)
            axis.errorbar(range(len(NAMES)), found.mean(0), found.std(0), fmt="o", color="#135", ecolor="#6a9bd1", elinewidth=4)
            axis.set_xticks(range(len(NAMES)), NAMES, rotation=40)
            axis.set_title(title, fontsize=11)
            print(title, " ".join(f"{name} {mean:+.3f} ({deviation:.3f})" for name, mean, deviation in zip(NAMES, found.mean(0), found.std(0))))
    axes[0].set_ylabel("estimate / true value - 1")
    for axis in axes[:3]:
        axis.set_ylim(-0.15, 0.15)
    figure.tight_layout()
    figure.savefig(sys.argv[1], dpi=90)


if __name__ == "__main__":
    main()
