"""Saved and loaded, pickled or copied, an agent goes on bit for bit."""

import copy
import json
import multiprocessing
import pathlib
import pickle

import numpy as np
import pytest

import superarm

ALGORITHMS = ["cn-ucb", "cn-ts", "comblin-ts", "neural-linear", "random"]


def rounds(agent, first, last):
    """Plays some rounds; returns all numbers that it showed."""
    shown = []
    for t in range(first, last):
        x = np.random.default_rng(t).normal(size=(8, 4))
        decision = agent.select(x, slate=3)
        shown.append(np.concatenate([decision.arms, decision.all_estimates, decision.all_widths, decision.all_scores]))
        agent.update(decision, np.sin(x[decision.arms, 0]))
    return np.array(shown)


def reload(agent, folder):
    agent.save(folder / "agent.npz")
    return superarm.Agent.load(folder / "agent.npz")


WAYS = {
    "load": reload,
    "pickle": lambda agent, folder: pickle.loads(pickle.dumps(agent)),
    "copy": lambda agent, folder: copy.copy(agent),
    "deepcopy": lambda agent, folder: copy.deepcopy(agent),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("way", WAYS)
def test_goes_on_bit_for_bit(way, algorithm, tmp_path):
    network = {"hidden": 10, "train_steps": 10} if algorithm in ("cn-ucb", "cn-ts", "neural-linear") else {}
    agent = superarm.Agent(algorithm, dim=4, **network)
    rounds(agent, 0, 15)
    other = WAYS[way](agent, tmp_path)
    assert other.options == agent.options and other.counts["decisions"] == 15 and repr(other) == repr(agent)
    assert rounds(agent, 15, 30).tobytes() == rounds(other, 15, 30).tobytes()


def test_pending_decisions_are_kept(tmp_path):
    agent = superarm.Agent("cn-ucb", dim=4)
    decision = agent.select(np.eye(4), slate=2)
    other = reload(agent, tmp_path)
    with pytest.raises(superarm.InputError, match="another agent"):
        other.update(decision, [1, 0])  # it may have made a decision 0 of its own by now
    other.update(decision.id, [1, 0])
    assert other.counts["observations"] == 2 and agent.counts["observations"] == 0


def test_a_pickled_agent_knows_its_decisions():
    agent = superarm.Agent("cn-ucb", dim=4)
    decision = agent.select(np.eye(4), slate=2, event=9)
    later, answer = pickle.loads(pickle.dumps((agent, decision)))
    later.update(answer, [1, 0])
    for name in ("id", "event", "candidates"):
        assert getattr(answer, name) == getattr(decision, name)
    for name in ("arms", "estimate", "width", "score", "all_estimates", "all_widths", "all_scores"):
        np.testing.assert_array_equal(getattr(answer, name), getattr(decision, name))


class Backwards:
    """The worst arms: easily told apart from top-k."""

    alpha = 1.0

    def solve(self, scores, k):
        return np.argsort(scores, kind="stable")[:k]


def test_an_oracle_of_ones_own_goes_with_copies_but_not_into_the_file(tmp_path):
    agent = superarm.Agent("comblin-ucb", dim=4, oracle=Backwards())
    x = np.random.default_rng(1).normal(size=(8, 4))
    others = [pickle.loads(pickle.dumps(agent)), copy.copy(agent), copy.deepcopy(agent)]
    assert others[1].oracle is agent.oracle and others[2].oracle is not agent.oracle
    with pytest.raises(superarm.InputError, match="oracle of your own: load.path, oracle=mine"):
        reload(agent, tmp_path)
    plain = superarm.Agent.load(tmp_path / "agent.npz", oracle="top-k")
    mine = superarm.Agent.load(tmp_path / "agent.npz", oracle=Backwards())
    arms = agent.select(x, slate=3).arms.tolist()
    assert all(other.select(x, slate=3).arms.tolist() == arms for other in [*others, mine])
    assert plain.oracle is None and plain.select(x, slate=3).arms.tolist() != arms


def test_options_that_leave_the_shape_alone_can_be_given(tmp_path):
    path = tmp_path / "agent.npz"
    agent = superarm.Agent("cn-ts", dim=4, hidden=10, train_steps=10, nu=1.0)
    rounds(agent, 0, 15)
    agent.save(path)
    one, other = (superarm.Agent.load(path, seed=seed, train_every=5) for seed in (7, 8))
    assert one.options["seed"] == 7 and one.options["train_every"] == 5 and one.options["hidden"] == 10
    assert rounds(one, 15, 20).tobytes() != rounds(other, 15, 20).tobytes()
    assert superarm.Agent.load(path, random_state=9).options["seed"] == 9
    for given, words in (({"hidden": 5}, "--hidden gives an agent its shape"), ({"dim": 5}, "--dim gives"), ({"gama": 1}, "did you mean --gamma"),
                         ({"runs": 1}, "--runs is not an option of an agent"), ({"seed": 1, "random_state": 2}, "the same option")):
        with pytest.raises(superarm.InputError, match=words):
            superarm.Agent.load(path, **given)


def test_the_file_is_for_numpy_too(tmp_path):
    agent = superarm.Agent("cn-ucb", dim=4)
    agent.save(str(tmp_path / "agent.npz"))
    with np.load(tmp_path / "agent.npz") as file:
        assert len(file.files) > 3


def shown_elsewhere(agent):
    return rounds(agent, 15, 20)


def test_an_agent_can_be_sent_to_another_process():
    agent = superarm.Agent("cn-ts", dim=4, hidden=10, train_steps=10)
    rounds(agent, 0, 15)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(shown_elsewhere, (agent,)).get(timeout=120)
    assert there.tobytes() == rounds(agent, 15, 20).tobytes()


def test_floor_of_an_older_version():
    """A file without floor-by is of a version that drew whole pages, and goes on so: the slates and propensities beside it are what that
    version chose next."""
    folder = pathlib.Path(__file__).parent / "data"
    agent = superarm.Agent.load(folder / "floor-by-page.npz")
    assert agent.options["floor"] == 0.4 and agent.options["floor_by"] == "page"
    for t, (slate, propensity) in enumerate(json.loads((folder / "floor-by-page.json").read_text()), 10):
        x = np.random.default_rng(t).normal(size=(6, 3))
        decision = agent.select(x, slate=2, propensities=True)
        assert decision.arms.tolist() == slate and decision.propensity == pytest.approx(propensity, rel=1e-12)
        agent.update(decision, np.round(x[decision.arms, 0], 3))
