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


class Cheapest:
    """The cheapest arm of each group; notes what it was given."""

    alpha = 1.0

    def solve(self, scores, k, problem):
        self.problem = problem
        costs, groups = problem["costs"], problem["groups"]
        return [min(np.flatnonzero(groups == g), key=lambda arm: costs[arm]) for g in np.unique(groups)][:k]

    def reward(self, scores, arms, problem):
        return float(scores[arms].sum() - problem["costs"][arms].sum())


def test_own_with_problem():
    mine = Cheapest()
    agent = superarm.Agent("comblin-ucb", dim=3, oracle=mine)
    decision = agent.select(np.eye(3), slate=2, costs=[3.0, 2, 1], groups=[0, 0, 1], capacity=2.5, source=4, reward="sum", exactly=True,
                            eligible=np.ones((2, 3)), exclusions=[[0, 2]], discounts=[1, 0.5])
    assert decision.arms.tolist() == [1, 2]
    given = mine.problem
    assert given["costs"].tolist() == [3, 2, 1] and given["groups"].tolist() == [0, 0, 1] and given["capacity"] == 2.5
    assert given["source"] == 4 and given["reward"] == "sum" and given["exactly"] is True and given["exclusions"].tolist() == [[0, 2]]
    assert given["eligible"].shape == (2, 3) and given["eligible"].all() and given["discounts"].tolist() == [1, 0.5]
    assert "topics" not in given and "scores" not in given
    with pytest.raises(superarm.InputError, match="2 entries, and there are 3 arms"):
        agent.select(np.eye(3), slate=2, costs=[3.0, 2], groups=[0, 0, 1])
    with pytest.raises(KeyError, match="costs"):
        agent.select(np.eye(3), slate=2, groups=[0, 0, 1])
    results = superarm.run("h1", ["cn-ts"], arms=3, slate=2, dim=2, rounds=5, runs=1, oracle=Cheapest(), costs="3,2,1", groups="0,0,1", noise=0)
    assert results.expected_regret["cn-ts"][0, -1] == pytest.approx(0)  # the slate is always the same
    assert results.reward["cn-ts"][0, -1] < -10  # five times -3, and scores


def keeps(groups, order):
    counts = np.bincount(groups[list(order)], minlength=3)
    return (counts <= [1, 2, 1]).all() and counts[2] >= 1 and not {0, 1} <= set(order)


def test_rules():
    scores = np.random.default_rng(2).normal(size=(6, 3))
    groups, eligible = np.array([0, 0, 1, 1, 2, 2]), np.ones((3, 6), bool)
    eligible[0, 2] = eligible[1, 4] = False
    best = max(sum(scores[arm, k] for k, arm in enumerate(order)) for order in itertools.permutations(range(6), 3)
               if keeps(groups, order) and all(eligible[k, arm] for k, arm in enumerate(order)))
    given = {"groups": groups, "capacities": [1, 2, 1], "minimums": [0, 0, 1], "exclusions": [[0, 1]], "eligible": eligible}
    assert superarm.solve("assignment", scores, **given).reward == pytest.approx(best)
    agent = superarm.Agent("cn-ts", dim=2, slate=3, feedback="position", hidden=8)
    for _ in range(30):
        decision = agent.select(np.random.default_rng(3).normal(size=(6, 2)), slate=3, **given)
        assert keeps(groups, decision.arms) and all(eligible[k, arm] for k, arm in enumerate(decision.arms))
        agent.update(decision, [1, 0, -1])
    for wrong, words in (({"eligible": np.full((3, 6), 2)}, "eligible"), ({"eligible": np.ones(6)}, r"\(positions, arms\)"), ({"exclusions": [0, 1]}, "exclusions"),
                         ({"minimums": [0, 0, 4]}, "minimums"), ({"capacities": [1, 1, 0]}, "at least 1 arms and at most 0"), ({"exclusions": [[0, 9]]}, "arm 9")):
        with pytest.raises(superarm.InputError, match=words):
            agent.select(np.zeros((6, 2)), slate=3, **{**given, **wrong})


def test_rules_in_a_run(tmp_path):
    """What users like best keeps the rules as well, so regret is against a page that could have been."""
    trace = tmp_path / "trace.jsonl"
    groups = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    results = superarm.run("h2", ["cn-ucb", "best"], arms=8, slate=3, dim=3, rounds=60, runs=1, oracle="assignment", feedback="position", clicks="position",
                           examination="0.3,1,0.6", click_noise="gaussian", groups="0,0,0,0,1,1,2,2", capacities="1,2,3", minimums="0,1,0", trace=str(trace))
    slates = [json.loads(line)["slate"] for line in trace.read_text().splitlines()]
    assert len(slates) == 120
    for slate in slates:
        counts = np.bincount(groups[slate], minlength=3)
        assert len(set(slate)) == 3 and counts[0] <= 1 and counts[1] >= 1
    assert np.diff(results.expected_regret["cn-ucb"][0]).min() > -1e-9
    assert results.expected_regret["best"][0, -1] == pytest.approx(0)


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
    assert set(theirs) <= set(ours) and len(theirs) > 20
    for name, value in theirs.items():
        if name == "notes" or value is not None:
            assert ours[name] == (value if name == "notes" else pytest.approx(value, rel=1e-5)), name


def test_notes_of_theory(tmp_path):
    """A context twice, of length 2, with two scores: three things that a reader must know."""
    x, scores = np.array([[2.0, 0], [2, 0], [0, 1]]), np.array([0.0, 1, 0])
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "v.npy", scores)
    done = subprocess.run([PROGRAM, "theory", "--contexts", tmp_path / "x.npy", "--scores", tmp_path / "v.npy", "--slate", "2"],
                          check=True, stdout=subprocess.PIPE, text=True)
    notes = superarm.theory(x, scores, slate=2)["notes"]
    assert json.loads(done.stdout)["notes"] == notes and len(notes) == 3
    assert "lengths from 1 to 2" in notes[0] and "singular: 1 of 3 contexts" in notes[1] and "no function has them" in notes[2]


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
