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
    (None, "object"),
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
    ({"slate": 1, "expected": [1, 2]}, r"\(2,\)"), ({"slate": 1, "expected": [[1, 2]] * 3}, r"\(3, 2\)"),
    ({"slate": 1, "cost": [1, 2, 3]}, "cost is not"), ({"slate": 1, "costs": ["a", "b", "c"]}, "costs"),
    ({"slate": 1, "costs": [[1, 2, 3]]}, r"\(1, 3\)"), ({"slate": 1, "edges": [1, 2, 3]}, "edges"),
    ({"slate": 1, "matrix": X}, "bounds"), ({"slate": 1, "capacity": -1}, "-1"), ({"slate": 1, "capacity": "x"}, "x"),
])
def test_wrong_requests(agent, given, words):
    with pytest.raises(superarm.InputError, match=words):
        agent.select(X, **given)
    assert agent.counts["decisions"] == 0
    assert len(agent.select(X, slate=3)) == 3  # and nothing of it is left


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
    ([[1, 2]], None, r"\(1, 2\)"), ("no", None, "dtype"), ([1, None], None, "object"), ([1, 1j], None, "complex"), (1.0, None, "a number"),
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
    ({"hidden": 0}, "0"), ({"hidden": True}, "true"), ({"bypass": 2}, "2"), ({"preset": "x"}, "x"), ({"dim": 0}, "0"), ({"dim": "x"}, "x"),
    ({"random_state": -1}, "-1"), ({"random_state": 1.5}, "1.5"), ({"oracle": "x"}, "x"), ({"oracle": 3}, "solve"),
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
