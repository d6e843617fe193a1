"""The preset section5 against Section 5 and Algorithms 1 and 2 of the paper in NumPy, which share no code with ours."""

import numpy as np
import pytest

import superarm

D, M, N, K, ROUNDS, EVERY, STEPS, RATE, LAMBDA = 8, 10, 12, 3, 50, 10, 100, 0.01, 1.0


class Witness:
    """f(x; theta) = sqrt(m) w' relu(W x), Z = lambda I + sum g g' / m, gradient descent on Eq. (4)."""

    def __init__(self, first, cold):
        self.first = [np.array(part, float) for part in first]
        self.now = [part.copy() for part in self.first]
        self.cold = cold
        self.z = LAMBDA * np.eye(M * D + M)
        self.contexts, self.scores, self.answered = [], [], 0

    def score(self, x):
        return np.sqrt(M) * float(self.now[1][0] @ np.maximum(self.now[0] @ x, 0))

    def gradient(self, x):
        before = self.now[0] @ x
        on = (before > 0).astype(float)
        inner = np.sqrt(M) * np.outer(self.now[1][0] * on, x)
        return np.concatenate([inner.ravel(), np.sqrt(M) * np.maximum(before, 0)])

    def look(self, contexts):
        gradients = np.array([self.gradient(x) for x in contexts])
        means = np.array([self.score(x) for x in contexts])
        widths = np.sqrt(np.einsum("ij,ij->i", gradients, np.linalg.solve(self.z, gradients.T).T) / M)
        return means, widths, gradients

    def learn(self, contexts, gradients, scores):
        for g in gradients:
            self.z += np.outer(g, g) / M
        self.contexts += list(contexts)
        self.scores += list(scores)
        if self.answered % EVERY == 0:
            self.train()
        self.answered += 1

    def train(self):
        if self.cold:
            self.now = [part.copy() for part in self.first]
        x, v = np.array(self.contexts), np.array(self.scores)
        for _ in range(STEPS):
            before = x @ self.now[0].T
            after = np.maximum(before, 0)
            rest = np.sqrt(M) * after @ self.now[1][0] - v
            inner = np.sqrt(M) * ((rest[:, None] * (before > 0)) * self.now[1][0]).T @ x
            outer = np.sqrt(M) * (rest @ after)[None, :]
            self.now = [now - RATE * (step + M * LAMBDA * (now - first))
                        for now, step, first in zip(self.now, (inner, outer), self.first)]


def drawn(seed):
    """First weights as in Section 3.1, on an input that is not doubled, and contexts that trainings bear at this rate."""
    rng = np.random.default_rng(seed)
    block = rng.normal(scale=np.sqrt(4 / M), size=(M // 2, D // 2))
    zero = np.zeros_like(block)
    half = rng.normal(scale=np.sqrt(2 / M), size=M // 2)
    contexts = rng.normal(size=(ROUNDS, N, D))
    contexts *= 0.4 / np.linalg.norm(contexts, axis=2, keepdims=True)
    return np.block([[block, zero], [zero, block]]), np.concatenate([half, -half])[None, :], contexts, rng


@pytest.mark.parametrize("start", ["start", "present"])
@pytest.mark.parametrize("seed", [1, 2])
def test_cn_ucb(tmp_path, start, seed):
    first, last, contexts, rng = drawn(seed)
    np.savez(tmp_path / "first.npz", W1=first, W2=last)
    agent = superarm.Agent("cn-ucb", dim=D, hidden=M, preset="section5", precision="double", train_from=start,
                           init_weights=tmp_path / "first.npz", widths="all")
    assert agent.options["rate"] == 0.01 and agent.options["train_batch"] == 400  # 100 super arms of 4: more than there will be
    witness = Witness((first, last), start == "start")
    truth = rng.normal(size=D)
    moved = 0.0
    for t in range(ROUNDS):
        means, widths, gradients = witness.look(contexts[t])
        decision = agent.select(contexts[t], slate=K)
        assert np.abs(decision.all_estimates - means).max() < 1e-12 and np.abs(decision.all_widths - widths).max() < 1e-12
        slate = np.argsort(-(means + widths), kind="stable")[:K]
        assert decision.arms.tolist() == slate.tolist(), t
        scores = contexts[t][slate] @ truth + 0.01 * rng.normal(size=K)
        agent.update(decision, scores)
        witness.learn(contexts[t][slate], gradients[slate], scores)
        moved = max(moved, float(np.abs(witness.now[0] - first).max()))
    assert moved > 0.01 and agent.counts["diverged_trainings"] == 0, "the network has learnt"


def test_cold_is_not_warm(tmp_path):
    """The two differ, or the test above would say little."""
    first, last, contexts, _ = drawn(3)
    one, other = Witness((first, last), True), Witness((first, last), False)
    for witness in (one, other):
        for t in range(30):
            witness.learn(contexts[t][:K], np.zeros((0, M * D + M)), contexts[t][:K] @ np.ones(D))
    assert np.abs(one.now[0] - other.now[0]).max() > 1e-6


def test_first_weights(tmp_path):
    """p = m d + m = 8100; blocks of Section 3.1 that see half of the input each, with their variances."""
    superarm.Agent("cn-ucb", dim=80, preset="section5").save(tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as saved:
        first, last = saved["initial_W1"], saved["initial_W2"]
    assert first.size + last.size == 8100 and first.shape == (100, 80)
    block = first[:50, :40]
    assert (first[50:, 40:] == block).all() and (first[:50, 40:] == 0).all() and (first[50:, :40] == 0).all()
    assert (last[0, 50:] == -last[0, :50]).all()
    assert abs(block.var() - 0.04) < 0.004 and abs(last.var() - 0.02) < 0.01  # 2000 and 50 draws: beyond 3 deviations
    with pytest.raises(superarm.InputError, match="there are 81 inputs, an odd number"):
        superarm.Agent("cn-ucb", dim=81, preset="section5")


def test_rate_is_a_rate(tmp_path):
    """--rate 0.01 under paper, too; theory is C / (n m L + m lambda)."""
    contexts = np.random.default_rng(4).normal(size=(4, D)) / 10
    weights = {}
    for preset, rate in (("paper", "theory"), ("paper", None), ("paper", 0.01), ("section5", "theory")):
        agent = superarm.Agent("greedy", dim=D, hidden=4, preset=preset, rate=rate, precision="double", train_steps=1, seed=2)
        decision = agent.select(contexts, slate=4)
        agent.update(decision, np.ones(4))
        agent.save(tmp_path / "agent.npz")
        with np.load(tmp_path / "agent.npz") as saved:
            weights[preset, rate] = saved["W1"] - saved["initial_W1"]
    assert (weights["paper", "theory"] == weights["paper", None]).all()
    ratio = weights["paper", 0.01] / np.where(weights["paper", "theory"] == 0, np.nan, weights["paper", "theory"])
    assert np.allclose(ratio[~np.isnan(ratio)], 0.01 * (4 * 4 * 2 + 4 * 1), rtol=1e-9), "one step of 0.01 beside one of 1 / (n m L + m lambda)"
    with pytest.raises(superarm.InputError, match="--rate 0 must be above 0"):
        superarm.Agent("cn-ucb", dim=D, rate=0)


def test_neural_ucb_of_zhou(tmp_path):
    """Cold start, K = 1: each training begins at the first weights, whatever was learnt before."""
    rng = np.random.default_rng(5)
    contexts = rng.normal(size=(40, N, D)) / 4
    agent = superarm.Agent("neural-ucb", dim=D, hidden=8, preset="paper", train_from="start", train_steps=3, seed=3)
    for t in range(40):
        decision = agent.select(contexts[t], slate=1)
        agent.update(decision, [contexts[t][decision.arms[0]].sum()])
    agent.save(tmp_path / "one.npz")
    agent.train()
    agent.train()
    agent.save(tmp_path / "two.npz")
    with np.load(tmp_path / "one.npz") as one, np.load(tmp_path / "two.npz") as two:
        assert np.abs(two["W1"] - two["initial_W1"]).max() > 0
        first = two["W1"].copy()
    agent.train()
    agent.save(tmp_path / "three.npz")
    with np.load(tmp_path / "three.npz") as three:
        assert (three["W1"] == first).all(), "a third training on the same feedback ends where the second did"
