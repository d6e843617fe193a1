"""Slates of one's own code keep the problem's rules, or are refused; `select` can ask what the rules are."""

import numpy as np
import pytest

import superarm

COSTS = [3.0, 1, 4, 1, 5, 9, 2, 6]
SMALL = {"rounds": 12, "arms": 8, "dim": 3, "slate": 3, "runs": 2, "progress": False}
SACK = {"oracle": "knapsack", "costs": COSTS, "capacity": 6, **SMALL}


def first(contexts, k):
    return np.arange(k)


class Chooses:
    """A slate by a function of contexts and k."""

    def __init__(self, choose):
        self.choose, self.wanted = choose, []

    def __deepcopy__(self, memo):
        return self

    def select(self, contexts, k):
        self.wanted.append(k)
        return self.choose(contexts, k)

    def update(self, arms, scores):
        pass


def test_knapsack():
    """Arms 0, 1 and 2 cost 8, and there are 6."""
    with pytest.raises(superarm.InputError, match=r"agent mine, run \d, round 1: its arms cost 8, and --capacity is 6: .*--own-slates clip"):
        superarm.run("h1", {"mine": Chooses(first)}, **SACK)
    clipped = superarm.run("h1", {"mine": Chooses(first), "same": Chooses(lambda contexts, k: [0, 1])}, own_slates="clip", **SACK)
    assert (clipped.expected_regret["mine"] == clipped.expected_regret["same"]).all()
    trusted = superarm.run("h1", {"mine": Chooses(lambda contexts, k: np.arange(k))}, own_slates="trust", **SACK)
    assert (trusted.expected_regret["mine"] != clipped.expected_regret["mine"]).any()
    assert clipped.options["own_slates"] == "clip"


def test_size_follows_the_oracle():
    groups = [0, 0, 0, 1, 1, 1, 2, 2]
    agent = Chooses(lambda contexts, k: [0, 3, 6][:k])
    superarm.run("h1", {"mine": agent}, oracle="matroid", groups=groups, **{**SMALL, "slate": 8})
    assert set(agent.wanted) == {3}
    agent = Chooses(lambda contexts, k: [0])
    superarm.run("h1", {"mine": agent}, oracle="matroid", groups=groups, capacities=[2, 2, 1], **SMALL)
    assert set(agent.wanted) == {3}
    agent = Chooses(lambda contexts, k: [1, 3, 6])
    superarm.run("h1", {"mine": agent}, **SACK)
    assert set(agent.wanted) == {3}
    with pytest.raises(superarm.InputError, match="it has 2 arms of group 0, and at most 1 are allowed"):
        superarm.run("h1", {"mine": Chooses(lambda contexts, k: [0, 1])}, oracle="matroid", groups=groups, **SMALL)


def test_problem_is_asked_for():
    seen = []

    class Asks:
        def select(self, contexts, k, problem, round):
            seen.append(problem)
            kept, spent = [], 0
            for arm in np.argsort(problem["costs"]):
                if spent + problem["costs"][arm] <= problem["capacity"] and len(kept) < k:
                    kept.append(arm)
                    spent += problem["costs"][arm]
            return kept

        def update(self, arms, scores):
            pass

    superarm.run("h1", {"mine": Asks}, **SACK)
    assert seen[0]["costs"].tolist() == COSTS and seen[0]["capacity"] == 6 and "scores" not in seen[0]


EDGES = np.array([[0, 1], [1, 2], [2, 3], [0, 2], [1, 3], [3, 0], [0, 3], [2, 1]])


@pytest.mark.parametrize("edges", [EDGES, EDGES.tolist(), [tuple(row) for row in EDGES]])
def test_edges_are_arrays(edges, tmp_path):
    seen = []

    class Walks:
        def select(self, contexts, k, problem):
            seen.append((problem["edges"], k))
            return [0, 4]

        def update(self, arms, scores):
            pass

    found = superarm.run("h1", {"mine": Walks, "ours": "cn-ucb"}, oracle="shortest-path", edges=edges, source=0, target=3, hidden=8,
                         out=tmp_path / "out", **SMALL)
    assert (seen[0][0] == EDGES).all() and seen[0][1] == 3
    again = superarm.run(spec=tmp_path / "out" / "spec.yaml", agents={"ours": {"algorithm": "cn-ucb"}}, out=tmp_path / "again", progress=False)
    assert (again.expected_regret["ours"] == found.expected_regret["ours"]).all(), "the spec has the edges"
    for slate, sentence in (([0, 2], "its path is at node 1, and arm 2 leads from node 2"), ([0, 1], "its path ends at node 2, and --target is 3"),
                            ([0, 1, 7], "its path comes back to node 1")):
        with pytest.raises(superarm.InputError, match=sentence):
            superarm.run("h1", {"mine": Chooses(lambda contexts, k: slate)}, oracle="shortest-path", edges=edges, source=0, target=3, **SMALL)


def test_eligible_and_matrix():
    eligible = np.ones((3, 8), bool)
    eligible[1, 1] = False
    with pytest.raises(superarm.InputError, match="position 1 does not take arm 1"):
        superarm.run("h1", {"mine": Chooses(first)}, oracle="assignment", eligible=eligible, **SMALL)
    with pytest.raises(superarm.InputError, match="it breaks row 0 of --matrix: 3 is more than 2"):
        superarm.run("h1", {"mine": Chooses(first)}, oracle="ilp", matrix=[[1] * 8], bounds=[2], **SMALL)
    with pytest.raises(superarm.InputError, match="row 1 has 1 numbers, and row 0 has 2"):
        superarm.run("h1", {"mine": Chooses(first)}, oracle="matching", edges="0,1|2", **SMALL)


@pytest.mark.parametrize("slate, sentence", [
    ([], "it chose 0 arms, and exactly 3 are wanted"), ([0, 1, 2, 3], "select chose 4 arms, and 3 are wanted"),
    ([0.0, float("nan"), 1], "select"), ([0, 1, 1], "it chose arm 1 twice"), ([0, 1, 8], "it chose arm 8, and there are 8")])
@pytest.mark.parametrize("mode", ["refuse", "clip", "trust"])
def test_bad_slates(slate, sentence, mode, tmp_path):
    """Whatever is asked for: a sentence with run and round, and finished runs stay."""

    class Late:
        def __init__(self, run):
            self.run = run

        def select(self, contexts, k, round):
            return slate if self.run == 1 and round == 4 else np.arange(k)

        def update(self, arms, scores):
            pass

    out = tmp_path / "out"
    with pytest.raises(superarm.InputError, match=sentence) as caught:
        superarm.run("h1", {"mine": Late, "plain": "random"}, out=out, own_slates=mode, threads=1, **SMALL)
    assert "run 1" in str(caught.value) + str(getattr(caught.value, "__notes__", "")) + str(caught.value.__cause__)
    assert {part.name for part in (out / "parts").iterdir()} >= {"mine-0.npz", "plain-0.npz"}
