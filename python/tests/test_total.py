"""Agents that are told a slate's total alone, against NumPy written out."""

import json

import numpy as np
import pytest
import superarm

N, D = 7, 4


def slates(count):
    rng = np.random.default_rng(3)
    for _ in range(count):
        yield rng.normal(size=(N, D)), rng.choice(N, rng.integers(1, 5), replace=False), rng.normal()


def test_linear():
    agent, z, b = superarm.Agent("comblin-ucb", preset="paper", dim=D, feedback="total", regularization=2), 2 * np.eye(D), np.zeros(D)
    for contexts, arms, total in slates(30):
        agent.learn(contexts, total, arms=arms)
        x = contexts[arms].sum(axis=0)
        z += np.outer(x, x)
        b += total * x
    contexts = np.random.default_rng(4).normal(size=(N, D))
    decision = agent.select(contexts, slate=2)
    np.testing.assert_allclose(decision.all_estimates, contexts @ np.linalg.solve(z, b), atol=1e-9)
    np.testing.assert_allclose(decision.all_widths, np.sqrt(np.einsum("nd,nd->n", contexts, np.linalg.solve(z, contexts.T).T)), atol=1e-9)
    assert agent.counts["answered"] == 30


def test_network(tmp_path):
    """The width is sqrt(g' Z^-1 g), Z = lambda I + sum of G G', G the sum of the slate's gradients over sqrt(m)."""
    agent = superarm.Agent("cn-ucb", preset="icml23", dim=D, hidden=6, feedback="total", precision="double", train="manual", widths="all")
    agent.save(tmp_path / "agent.npz")
    weights = np.load(tmp_path / "agent.npz")
    first, last = weights["W1"], weights["W2"][0]

    def gradients(x):
        hidden = np.maximum(x @ first.T, 0)
        inner = np.where(hidden > 0, last, 0)[:, :, None] * x[:, None, :]
        return np.concatenate([inner.reshape(len(x), -1), hidden], axis=1) / np.sqrt(len(last))

    z = np.eye(first.size + last.size)
    for contexts, arms, total in slates(30):
        agent.learn(contexts, total, arms=arms)
        g = gradients(contexts[arms]).sum(axis=0)
        z += np.outer(g, g)
    contexts = np.random.default_rng(4).normal(size=(N, D))
    g = gradients(contexts)
    decision = agent.select(contexts, slate=2)
    np.testing.assert_allclose(decision.all_widths, np.sqrt(np.einsum("np,np->n", g, np.linalg.solve(z, g.T).T)), rtol=1e-6)


def test_it_learns():
    """Totals of a slate tell the arms apart, as slates differ."""
    rng, truth = np.random.default_rng(5), np.array([1.0, -1, 0.5, 0])
    agent = superarm.Agent("cn-ucb", dim=D, hidden=16, feedback="total", slate=3)
    for _ in range(150):
        contexts = rng.normal(size=(N, D))
        decision = agent.select(contexts)
        agent.update(decision, float((contexts @ truth)[decision.arms].sum()))
    contexts = rng.normal(size=(200, D))
    estimates = agent.select(contexts, slate=1).all_estimates
    assert np.corrcoef(estimates, contexts @ truth)[0, 1] > 0.9


def test_revise_and_logs(tmp_path):
    one, other = (superarm.Agent("comblin-ts", linear_form="defined", dim=D, feedback="total") for _ in range(2))
    with open(tmp_path / "log.jsonl", "w") as log:
        for contexts, arms, total in slates(10):
            one.learn(contexts[arms], 0)
            log.write(json.dumps({"contexts": contexts[arms].tolist(), "slate": list(range(len(arms))), "total": total}) + "\n")
    for i, (_, _, total) in enumerate(slates(10)):
        one.revise(i, total)
    assert other.learn_log(tmp_path / "log.jsonl")["decisions"] == 10
    assert [entry.total for entry in superarm.read_log(tmp_path / "log.jsonl")] == [total for _, _, total in slates(10)]
    contexts = np.random.default_rng(4).normal(size=(N, D))
    np.testing.assert_allclose(one.select(contexts, slate=2).all_estimates, other.select(contexts, slate=2).all_estimates, atol=1e-9)


@pytest.mark.parametrize("scores, words", [
    ([1.0, 2.0], "one number is wanted, the sum of the slate's scores"),
    ([], "one number is wanted"),
    ({"a": 1.0}, "one number is wanted"),
    (np.nan, "the total of decision 0 is nan"),
    (np.inf, "the total of decision 0 is inf"),
    ("many", "scores"),
    (None, "scores"),
])
def test_wrong(scores, words):
    agent = superarm.Agent("comblin-ucb", dim=D, feedback="total")
    decision = agent.select(np.eye(D), slate=2)
    with pytest.raises(superarm.InputError, match=words):
        agent.update(decision, scores)
    assert agent.counts["answered"] == 0
    agent.update(decision, [3])
    with pytest.raises(superarm.AlreadyAnswered, match="came before"):
        agent.update(decision, 3)
