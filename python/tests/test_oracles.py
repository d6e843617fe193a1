"""superarm.solve against brute force, superarm.theory against NumPy, and the lists."""

import itertools
import json
import os
import subprocess

import numpy as np
import pytest

import superarm

PROGRAM = os.environ.get("SUPERARM", "build/superarm")
SCORES = np.random.default_rng(7).uniform(size=7)


def subsets(count, sizes):
    return [list(chosen) for size in sizes for chosen in itertools.combinations(range(count), size)]


def test_top_k():
    found = superarm.solve("top-k", SCORES, slate=3)
    assert found.arms.tolist() == np.argsort(-SCORES)[:3].tolist() and found.exact and found.alpha == 1
    assert found.reward == pytest.approx(np.sort(SCORES)[-3:].sum())
    assert 0 not in superarm.solve("top-k", SCORES.tolist(), slate=6, exclude=[0]).arms


def test_knapsack():
    costs = np.arange(1, 8)
    best = max(SCORES[chosen].sum() for chosen in subsets(7, range(8)) if costs[chosen].sum() <= 11)
    found = superarm.solve("knapsack", SCORES, costs=costs, capacity=11)
    assert found.reward == pytest.approx(best) and costs[found.arms].sum() <= 11


def test_exactly():
    scores, groups = -np.array([0.5, 0.1, 0.3, 0.2]), [0, 1, 1, 1]
    assert len(superarm.solve("matroid", scores, slate=2, groups=groups, exactly=False).arms) == 0
    assert superarm.solve("matroid", scores, slate=2, groups=groups, exactly=True).arms.tolist() == [1, 0]
    with pytest.raises(superarm.InputError, match="no slate of 3 arms"):
        superarm.solve("matroid", scores, slate=3, groups=groups, exactly=True)
    agent = superarm.Agent("comblin-ucb", dim=2, oracle="matroid", gamma=0.01, random_state=1)
    contexts = np.array([[1.0, 0], [0, 1], [0.5, 0.5]])
    for _ in range(20):  # all feedback is negative
        decision = agent.select(contexts, slate=2, groups=[0, 0, 1], capacities=[2, 2], exactly=True)
        assert len(decision.arms) == 2
        agent.update(decision, [-1.0, -1.0])
    assert len(agent.select(contexts, slate=2, groups=[0, 0, 1], capacities=[2, 2]).arms) == 0
    with pytest.raises(superarm.InputError, match="no slate of 3 arms"):
        agent.select(contexts, slate=3, groups=[0, 0, 1], capacities=[1, 1], exactly=True)


def test_discounts_are_of_positions():
    contexts = np.eye(4)
    agent = superarm.Agent("comblin-ucb", dim=4, oracle="matroid", feedback="cascade", random_state=1)
    for discounts in ([1, 0.5], np.array([1.0, 0.5])):
        decision = agent.select(contexts, slate=2, groups=[0, 0, 1, 1], capacities=[2, 2], discounts=discounts, exactly=True)
        agent.update(decision, [0, 1])
    with pytest.raises(superarm.InputError, match="4 entries, and there are 2 positions"):
        agent.select(contexts, slate=2, groups=[0, 0, 1, 1], discounts=[1, 1, 1, 1])


def test_matroid():
    groups = np.array([0, 1, 0, 1, 0, 1, 0])
    best = max(SCORES[chosen].sum() for chosen in subsets(7, [3]) if (groups[chosen] == 0).sum() <= 1 and (groups[chosen] == 1).sum() <= 2)
    found = superarm.solve("matroid", SCORES, slate=3, groups=groups, capacities=[1, 2])
    assert found.reward == pytest.approx(best)


def test_assignment():
    scores = np.random.default_rng(1).uniform(size=(5, 3))
    best = max(sum(scores[arm, k] for k, arm in enumerate(order)) for order in itertools.permutations(range(5), 3))
    assert superarm.solve("assignment", scores).reward == pytest.approx(best)
    assert superarm.solve("assignment", scores.astype(np.float32)[::-1].copy()[::-1]).reward == pytest.approx(best, rel=1e-6)


def test_cascade():
    discounts = [1, 0.5, 0.25]
    best = max(1 - np.prod([1 - d * SCORES[arm] for d, arm in zip(discounts, order)]) for order in itertools.permutations(range(7), 3))
    assert superarm.solve("cascade", SCORES, slate=3, discounts=discounts).reward == pytest.approx(best)
    top = np.sort(SCORES)[::-1][:3] @ discounts
    assert superarm.solve("cascade", SCORES, slate=3, discounts=discounts, reward="sum").reward == pytest.approx(top)


def test_shortest_path():
    edges = [[0, 1], [1, 2], [0, 2]]
    found = superarm.solve("shortest-path", [0.2, 0.3, 0.9], edges=edges, source=0, target=2)
    assert found.arms.tolist() in ([0, 1], [2])


def test_ilp():
    try:
        found = superarm.solve("ilp", SCORES, matrix=np.ones((1, 7)), bounds=[2])
    except superarm.Unsupported:
        pytest.skip("built without CBC")
    assert found.reward == pytest.approx(np.sort(SCORES)[-2:].sum())


@pytest.mark.parametrize("oracle, scores, given, words", [
    ("nope", [1, 2], {}, "nope"), ("knapsack", [1, 2], {}, "costs"), ("top-k", [1, np.nan], {"slate": 1}, "nan"),
    ("top-k", [1, 2], {"slate": 3}, "3"), ("top-k", [1, 2], {"slate": 1.5}, "1.5"), ("top-k", [[[1]]], {"slate": 1}, r"\(1, 1, 1\)"),
    ("top-k", "ab", {"slate": 1}, "dtype"), ("top-k", [1, 2], {"slate": 1, "costs": [1, 2]}, "costs"),
    ("matroid", [1, 2], {"groups": [0, -1], "capacities": [1]}, "-1"), ("matroid", [1, 2], {"groups": [0, 0.5], "capacities": [1]}, "0.5"),
    ("ilp", [1, 2], {"matrix": [[1, 1]]}, "bounds"), ("cascade", [1, 2], {"slate": 1, "reward": "x"}, "x"),
    ("shortest-path", [1], {"edges": [[0, 1]], "source": -1, "target": 1}, "-1"), ("top-k", [1, 2], {"slat": 1}, "slat"),
])
def test_wrong_problems(oracle, scores, given, words):
    with pytest.raises(superarm.InputError, match=words):
        superarm.solve(oracle, scores, **given)


# ---- theory ----


def arc_cosine_kernel(x, depth):
    """H of Definition 1, as it is written: for unit x, with 2 Sigma of the arc-cosine kernels."""
    sigma = x @ x.T
    h = sigma
    for _ in range(depth - 1):
        cosine = np.clip(sigma / np.sqrt(np.outer(np.diag(sigma), np.diag(sigma))), -1, 1)
        angle = np.arccos(cosine)
        sigma = (np.sin(angle) + (np.pi - angle) * cosine) / np.pi
        h = h * (np.pi - angle) / np.pi + sigma
    return (h + sigma) / 2


def unit_rows(count, dim, seed=3):
    x = np.random.default_rng(seed).normal(size=(count, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("depth", [2, 3])
def test_the_kernel_and_its_numbers(depth):
    x = unit_rows(9, 4)
    h = arc_cosine_kernel(x, depth)
    np.testing.assert_allclose(superarm.ntk(x, depth), h, atol=1e-9)
    numbers = superarm.theory(x, depth=depth, lambda_=0.5)
    log_det = np.linalg.slogdet(np.eye(9) + h / 0.5)[1]
    assert numbers["log_det"] == pytest.approx(log_det)
    assert numbers["effective_dimension"] == pytest.approx(log_det / np.log(1 + 9 / 0.5))
    assert numbers["smallest_eigenvalue"] == pytest.approx(np.linalg.eigvalsh(h)[0], rel=1e-6)


def test_theory_is_the_programs(tmp_path):
    x, scores = unit_rows(12, 4).reshape(3, 4, 4), np.random.default_rng(1).uniform(size=(3, 4))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "v.npy", scores)
    done = subprocess.run([PROGRAM, "theory", "--contexts", tmp_path / "x.npy", "--scores", tmp_path / "v.npy", "--slate", "2", "--hidden", "64"],
                          check=True, stdout=subprocess.PIPE, text=True)
    theirs, ours = json.loads(done.stdout), superarm.theory(x, scores, slate=2, hidden=64)
    assert ours["rounds"] == 3 and ours["contexts"] == 12
    for name, value in theirs.items():
        if name in ours and value is not None:
            assert ours[name] == pytest.approx(value, rel=1e-5), name


@pytest.mark.parametrize("contexts, given, words", [
    ([1, 2], {}, r"\(2,\)"), (np.eye(2), {"scores": [1]}, r"\(1,\)"), (np.eye(2), {"depth": "x"}, "x"), (np.zeros((0, 3)), {}, "context"),
    (np.eye(2) * np.nan, {}, "not finite"), ([["a"]], {}, "dtype"), (np.eye(2), {"nothing": 1}, "nothing"),
])
def test_wrong_theory(contexts, given, words):
    with pytest.raises(superarm.InputError, match=words):
        superarm.theory(contexts, **given)


# ---- the lists are the program's ----


def test_the_lists():
    def program(kind):
        return subprocess.run([PROGRAM, "list", kind], check=True, stdout=subprocess.PIPE, text=True).stdout

    for kind, names in (("algorithms", [line.name for line in superarm.algorithms()]), ("oracles", [line.name for line in superarm.oracles()]),
                        ("environments", [line.name for line in superarm.choices("environments")]),
                        ("confidence", [line.name for line in superarm.choices("confidence")]),
                        ("options", [line.name.replace("_", "-") for line in superarm.options()])):
        told = program(kind)
        assert names and all(name in told for name in names), kind
    with pytest.raises(superarm.InputError, match="'nothing': there are environments, oracles, confidence, feedback"):
        superarm.choices("nothing")
    version = subprocess.run([PROGRAM, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert superarm.__version__ in version
