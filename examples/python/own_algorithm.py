"""An algorithm of one's own beside cn-ucb, on the same draws: ridge regression on random Fourier features, in NumPy, with upper
confidence bounds. Prints the regret of all, and draws it in own_algorithm.png where matplotlib is installed.

    python3 own_algorithm.py [--quick]
"""

import sys

import numpy as np

import superarm


class FourierUCB:
    """Scores are linear in features = sqrt(2 / D) cos(x W + b); Z = I + sum of features' outer products, as in LinUCB."""

    def __init__(self, run, features=200, bandwidth=1.0, gamma=1.0):
        self.rng = np.random.default_rng(run)  # a run's random numbers are its own, so that it can be repeated
        self.features, self.bandwidth, self.gamma = features, bandwidth, gamma
        self.weights = None

    def map(self, contexts):
        if self.weights is None:
            self.weights = self.rng.normal(size=(contexts.shape[1], self.features)) / self.bandwidth
            self.phase = self.rng.uniform(0, 2 * np.pi, self.features)
            self.inverse, self.sums = np.eye(self.features), np.zeros(self.features)
        return np.sqrt(2 / self.features) * np.cos(contexts @ self.weights + self.phase)

    def select(self, contexts, k):
        mapped = self.map(contexts)
        mean = mapped @ (self.inverse @ self.sums)
        width = np.sqrt(np.sum(mapped @ self.inverse * mapped, axis=1))
        return np.argsort(-(mean + self.gamma * width))[:k]

    def update(self, arms, scores, contexts):  # contexts of these arms, for whoever asks for them by name
        for features, score in zip(self.map(contexts), scores):
            towards = self.inverse @ features
            self.inverse -= np.outer(towards, towards) / (1 + features @ towards)
            self.sums += score * features


def main():
    quick = "--quick" in sys.argv
    results = superarm.run("h2", ["cn-ucb", FourierUCB, "comblin-ucb", "random"], dim=8, rounds=60 if quick else 1000, runs=2 if quick else 8)
    for label, line in results.summary(as_dict=True).items():
        print(f"{label:12} regret {line['expected_regret']:7.1f}, from {line['expected_regret_low']:.1f} to "
              f"{line['expected_regret_high']:.1f} with 95% confidence, {line['seconds_per_run']:.2f} s a run")
    try:
        results.plot().figure.savefig("own_algorithm.png", dpi=150)
    except ImportError:
        pass


if __name__ == "__main__":
    main()
