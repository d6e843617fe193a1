"""Wrong input raises superarm.InputError, a ValueError, names what was wrong, and changes nothing."""

import pickle

import numpy as np
import pytest

import superarm

X = np.eye(3)


@pytest.fixture
def agent():
    return superarm.Agent("cn-ucb", dim=3)


@pytest.mark.parametrize("contexts, words", [
    (X * np.nan, "nan"),
    (X + np.inf, "inf"),
    (X.astype(complex), "complex"),
    (X.astype(object), "object"),
    ([["a", "b", "c"]], "dtype"),
    ([[None, 1, 2]], "object"),
    (X.astype("M8[s]"), "datetime"),
    ([[1, 2], [3]], "contexts"),
    (X[0], r"\(3,\)"),
    (X[:, :2], r"\(3, 2\)"),
    (X[None], r"\(1, 3, 3\)"),
    (3.0, "a number"),
    (None, "contexts: None was given"),
    ({1, 2}, "contexts: a set was given"),
    (np.zeros((0, 3)), "no arms"),
    (np.ma.masked_array(X, X > 0), "masked"),
])
def test_wrong_contexts(agent, contexts, words):
    with pytest.raises(superarm.InputError, match=words):
        agent.select(contexts, slate=1)
    assert agent.counts["decisions"] == 0


@pytest.mark.parametrize("given, words", [
    ({"slate": 4}, "4"), ({"slate": 0}, "0"), ({"slate": -1}, "-1"), ({"slate": 1.5}, "1.5"), ({"slate": "2"}, "'2'"), ({"slate": np.array([2])}, r"\[2\]"),
    ({"slate": 2, "exclude": [0, 1]}, "2 out of 1"), ({"slate": 1, "exclude": [True, False]}, r"\(2,\)"),
    ({"slate": 1, "exclude": [3]}, "arm 3"), ({"slate": 1, "exclude": [-1]}, "-1"), ({"slate": 1, "exclude": [0.5]}, "0.5"),
    ({"slate": 1, "exclude": [np.inf]}, "inf"), ({"slate": 1, "exclude": [1e300]}, r"1e\+300"), ({"slate": 1, "event": 1 << 64}, "event"),
    ({"slate": 1, "exclude": "a"}, "dtype"), ({"slate": 1, "exclude": [[0]]}, r"\(1, 1\)"),
    ({"slate": 1, "event": -1}, "-1"), ({"slate": 1, "event": "a"}, "'a'"), ({"slate": 1, "event": 1.5}, "1.5"),
    ({"slate": 1, "expected": [1, 2, 3]}, "expected is for the algorithm best alone"), ({"slate": 1, "join": "concat"}, "join is for items"),
    ({"slate": 1, "exclude": [0, 1, 0]}, "indices or a mask"), ({"slate": 1, "exclude": [0.0, 0.0, 1.0]}, "indices or a mask"),
    ({"slate": 1, "exlude": [0]}, "exlude is not part of a problem; did you mean exclude"), ({"slate": 1, "vent": 3}, "did you mean event"),
    ({"slate": 1, "cost": [1, 2, 3]}, "cost is not part of a problem; did you mean costs"), ({"slate": 1, "zzz": 1}, "there are bounds, "),
    ({"slate": 1, "costs": [1, 2, 3]}, "costs is not for top-k; the oracles that look at it: knapsack"),
    ({"slate": 1, "edges": [1, 2, 3]}, "matroid and shortest-path and matching"), ({"slate": 1, "discounts": [1]}, "discounts is not for top-k"),
])
def test_wrong_requests(agent, given, words):
    with pytest.raises(superarm.InputError, match=words):
        agent.select(X, **given)
    assert agent.counts["decisions"] == 0
    assert len(agent.select(X, slate=3)) == 3  # and nothing of it is left


@pytest.mark.parametrize("oracle, given, words", [
    ("knapsack", {"costs": ["a", "b", "c"]}, "costs"), ("knapsack", {"costs": [[1, 2, 3]]}, r"\(1, 3\)"), ("knapsack", {"capacity": -1}, "-1"),
    ("knapsack", {"capacity": "x"}, "x"), ("knapsack", {"groups": [0, 0, 1]}, "groups is not for knapsack; .*: assignment and matroid"),
    ("matching", {"edges": [1, 2, 3]}, "edges"), ("ilp", {"matrix": X}, "bounds"),
    (type("Mine", (), {"alpha": 1.0, "solve": lambda self, scores, k: range(k)}), {"costs": [1, 2, 3]}, "costs is not for an oracle of your own"),
])
def test_wrong_problems(oracle, given, words):
    agent = superarm.Agent("random", dim=3, oracle=oracle)
    with pytest.raises(superarm.InputError, match=words):
        agent.select(X, slate=1, **given)
    assert agent.counts["decisions"] == 0


def test_what_is_looked_at_is_taken():
    """Discounts belong to the feedback, whatever the oracle; None is nothing."""
    superarm.Agent("cn-ucb", dim=3, feedback="cascade").select(X, slate=2, discounts=[1, 0.5])
    superarm.Agent("cn-ucb", dim=3).select(X, slate=2, costs=None)
    superarm.Agent("cn-ucb", dim=3, oracle="cascade").select(X, slate=2, discounts=[1, 0.5], reward="sum")
    superarm.Agent("cn-ucb", dim=3, oracle="assignment").select(X, slate=2, discounts=[1, 0.5])
    for wrong in ([1, 2], [[1, 2]] * 3):
        with pytest.raises(superarm.InputError, match="expected: the shape"):
            superarm.Agent("best", dim=3).select(X, slate=1, expected=wrong)
    with pytest.raises(superarm.InputError, match="slat is not part of a problem; did you mean slate"):
        superarm.solve("top-k", [1, 2], slat=1)


def test_excluded_arms_may_be_a_set(agent):
    assert agent.select(X, slate=1, exclude={0, 2}).arms.tolist() == [1]
    assert agent.select(X[:2], slate=1, exclude=[1]).arms.tolist() == [0]
    assert agent.select(X, slate=1, exclude=np.array([1, 0, 1], bool)).arms.tolist() == [1]


@pytest.mark.parametrize("given, words", [
    ({"contexts": X, "items": X, "shared": [1]}, "contexts"), ({"items": X}, "shared"), ({"shared": [1]}, "items"), ({}, "contexts"),
    ({"items": X, "shared": [1, 2]}, "3 features"), ({"items": X[:, :2], "shared": [1], "join": "sum"}, "'sum'"),
    ({"items": X[:, :2], "shared": [[1]]}, r"\(1, 1\)"), ({"items": X[0], "shared": [1]}, r"\(3,\)"),
    ({"items": X[:, :2], "shared": [np.nan]}, "nan"), ({"items": X[:, :2], "shared": ["a"]}, "dtype"),
])
def test_wrong_items(agent, given, words):
    with pytest.raises(superarm.InputError, match=words):
        agent.select(slate=1, **given)
    assert len(agent.select(X, slate=3)) == 3


@pytest.mark.parametrize("scores, observed, words", [
    ([1], None, "1 scores"), ([1, 2, 3], None, "3 scores"), ([1, np.nan], None, "nan"), ([1, np.inf], None, "inf"),
    ([[1, 2]], None, r"\(1, 2\)"), ("no", None, "dtype"), (None, None, "scores: None was given"), ([1, None], None, "object"), ([1, 1j], None, "complex"), (1.0, None, "a number"),
    ([1, 0], [True], r"\(1,\)"), ([1, 0], [1, 2], "observed"), ([1, 0], "ab", "observed"),
])
def test_wrong_feedback(agent, scores, observed, words):
    decision = agent.select(X, slate=2)
    with pytest.raises(superarm.InputError, match=words):
        agent.update(decision, scores, observed)
    assert agent.counts["observations"] == 0
    agent.update(decision, [1, 0])


def test_unknown_decisions(agent):
    with pytest.raises(superarm.UnknownDecision, match="5") as caught:
        agent.update(5, [1, 0])
    assert isinstance(caught.value, LookupError) and caught.value.status == 3
    for wrong in ("0", 0.0, None, -1, 1 << 64):
        with pytest.raises(superarm.InputError):
            agent.update(wrong, [1, 0])


def test_a_decision_of_another_agent(agent):
    other = superarm.Agent("cn-ucb", dim=3)
    decision, _ = other.select(X, slate=2), agent.select(X, slate=2)
    with pytest.raises(superarm.InputError, match="another agent"):
        agent.update(decision, [1, 0])
    agent.update(decision.id, [1, 0])  # an id is taken at its word


@pytest.mark.parametrize("given, words", [
    ({"algorithm": "cn-ucc"}, "cn-ucc"), ({"algorithm": 3}, "3"), ({"algorithm": b"cn-ucb"}, "bytes"), ({"gama": 1}, "did you mean --gamma"),
    ({"gamma": "x"}, "x"), ({"gamma": [1, 2]}, "1,2"), ({"gamma": {}}, "dict"), ({"gamma": object()}, "object"),
    ({"gamma": float("nan")}, "nan"), ({"gamma": True}, "true"), ({"gamma": 1j}, "complex"), ({"hidden": 1.5}, "1.5"),
    ({"hidden": 0}, "0"), ({"hidden": True}, "true"), ({"companion": 2}, "2"), ({"preset": "x"}, "x"), ({"dim": 0}, "0"), ({"dim": "x"}, "x"),
    ({"random_state": -1}, "-1"), ({"random_state": 1.5}, "1.5"), ({"oracle": "x"}, "x"), ({"oracle": 3}, "solve"),
    ({"random_state": 1, "seed": 2}, "random_state and seed are the same option"), ({"seed": 1, "random_state": None}, "random_state and seed"),
    ({"lambda_": 1, "regularization": 1}, "lambda_ and regularization"), ({"random_stat": 1}, "did you mean random_state"),
    ({"noise": 0.1}, "noise is not an option of an agent; superarm.run takes it"), ({"runs": 3}, "runs is not"), ({"out": "x"}, "out is not"),
    ({"costs": [1]}, "costs is not an option of an agent; Agent.select takes it"), ({"environment": "h1"}, "environment is not"),
    ({"oracle": type("Bare", (), {"solve": print})()}, "has no alpha"),
    ({"oracle": type("Asks", (), {"alpha": 1.0, "solve": print, "__init__": lambda self, costs: None})}, "class.*costs"),
    ({"init_weights": "a\0b"}, "zero character"), ({"gamma": np.ones((2, 2))}, "ndarray"),
])
def test_wrong_options(given, words):
    with pytest.raises(superarm.InputError, match=words) as caught:
        superarm.Agent(**{"dim": 3, **given})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, superarm.Error)
    assert caught.value.status == 2 and caught.value.status_name == "SA_INVALID"


def test_wrong_files(agent, tmp_path):
    with pytest.raises(superarm.FileError, match="nowhere") as caught:
        superarm.Agent.load(tmp_path / "nowhere.npz")
    assert isinstance(caught.value, OSError) and caught.value.status == 5
    with pytest.raises(superarm.FileError):
        agent.save(tmp_path / "no" / "folder.npz")
    (tmp_path / "text.npz").write_text("no zip")
    with pytest.raises(superarm.FormatError, match="text.npz"):
        superarm.Agent.load(tmp_path / "text.npz")
    agent.save(tmp_path / "agent.npz")
    whole = (tmp_path / "agent.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[:len(whole) // 2])
    with pytest.raises(superarm.Error):
        superarm.Agent.load(tmp_path / "half.npz")
    with pytest.raises(TypeError):
        agent.save(3.5)
    for use in (agent.save, superarm.Agent.load):
        with pytest.raises(superarm.InputError, match="zero character"):
            use(f"{tmp_path}/agent.npz\0.old")


@pytest.mark.parametrize("kind", [superarm.Error, *superarm.Error.__subclasses__()])
def test_errors_can_be_pickled(kind):
    error = pickle.loads(pickle.dumps(kind("a sentence")))
    assert type(error) is kind and str(error) == "a sentence" and error.status == kind.status


@pytest.mark.parametrize("algorithm, given, words", [
    ("comblin-ucb", {"hidden": 50}, "--hidden 50 has no effect on --algorithm comblin-ucb"),
    ("cn-ucb", {"nu": 3}, "--nu 3 has no effect on --algorithm cn-ucb"),
    ("cn-ucb", {"optimizer": "gd"}, "--optimizer is not an option"),
    ("cn-ucb", {"costs": [1, 2]}, "costs is not an option of an agent; Agent.select takes it"),
])
def test_options_without_effect(algorithm, given, words):
    with pytest.raises(superarm.InputError, match=words):
        superarm.Agent(algorithm, dim=3, **given)
    superarm.Agent("comblin-ucb", dim=3, hidden=100)  # what the preset has anyway is fine
