"""An environment of one's own: guests of a café order what they like, and look at the second of two cakes only when the first is no good.

    python3 own_environment.py [--quick]

Every agent plays every run by itself, so the same run must always give the same: all draws come from the numbers of run and round.
"""

import sys

import numpy as np

import superarm


class Cafe:
    def __init__(self, run):
        self.run = run
        self.taste = np.array([1.0, 0.5, -0.5])

    def contexts(self, t):
        """(N, d): six cakes."""
        self.cakes = np.random.default_rng([self.run, t]).uniform(size=(6, 3))
        return self.cakes

    def expected(self, t):
        """(N), which regret is measured with."""
        return np.clip(self.cakes @ self.taste, 0, 1)

    def feedback(self, t, arms):
        """The scores of the slate, and which of them were seen."""
        guest = np.random.default_rng([self.run, t, 1])
        likes = guest.uniform(size=len(arms)) < self.expected(t)[arms]
        return likes, [True, not likes[0]]


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    results = superarm.run(Cafe, ["cn-ucb", "comblin-ucb", "random"], rounds=40 if quick else 500, runs=2 if quick else 10, slate=2, progress=False)
    for label, row in results.summary(as_dict=True).items():
        print(f"{label:12} {row['expected_regret']:8.2f} regret, {row['reward']:7.1f} cakes sold")
    regret = results.summary(as_dict=True)
    assert regret["comblin-ucb"]["expected_regret"] < regret["random"]["expected_regret"]
