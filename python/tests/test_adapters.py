"""The adapters, driven as the packages that they are for would drive them."""

import copy
import enum
import pickle

import numpy as np
import pytest

import superarm
from superarm.adapters import OpenBanditPolicy, SlateRegressor


class PolicyType(enum.Enum):
    """As Open Bandit Pipeline has it."""

    CONTEXT_FREE = enum.auto()
    CONTEXTUAL = enum.auto()
    OFFLINE = enum.auto()


def world(action, context):
    """An action is liked where its own feature is large."""
    return float(context[0, action % 3] + 0.1 * action)


def test_a_policy_learns_online():
    """The loop of Open Bandit Pipeline's simulators: all positions answered, one by one."""
    rng = np.random.default_rng(1)
    policy = OpenBanditPolicy(dim=3, n_actions=6, len_list=2, algorithm="cn-ucb", hidden=30)
    assert policy.policy_type == PolicyType.CONTEXTUAL and policy.policy_type == "contextual"
    assert policy.policy_type != PolicyType.CONTEXT_FREE and policy.policy_type != PolicyType.OFFLINE
    rewards = []
    for t in range(150):
        context = rng.normal(size=(1, 3))
        actions = policy.select_action(context)
        assert actions.shape == (2,) and len(set(actions)) == 2
        got = [world(action, context) for action in actions]
        best = np.sort([world(action, context) for action in range(6)])[-2:].sum()
        rewards.append(best - sum(got))
        for action, reward in zip(actions, got):
            policy.update_params(action=action, reward=reward, context=context)
    assert policy.n_trial == 300 and policy.action_counts.sum() == 300
    counts = policy.agent.counts
    assert counts["decisions"] == 150 and counts["observations"] == 300 and counts["pending"] == 0
    assert np.mean(rewards[100:]) < np.mean(rewards[:30]) / 2


def test_a_policy_learns_from_logs():
    """Replay: feedback for actions that the policy did not choose, or for one position of its slate."""
    rng = np.random.default_rng(2)
    policy = OpenBanditPolicy(dim=3, n_actions=6, len_list=3, algorithm="comblin-ucb", action_context=np.arange(6).reshape(6, 1))
    for t in range(40):
        context = rng.normal(size=(1, 3))
        policy.select_action(context=context)
        policy.update_params(action=t % 6, reward=1.0, context=context)
    assert policy.agent.counts["observations"] == 40
    policy.update_params(1, 1.0, np.zeros((1, 3)))  # a context never seen
    assert policy.agent.counts["observations"] == 41
    policy.initialize()
    assert policy.n_trial == 0 and policy.agent.counts["decisions"] == 0


def test_feedback_comes_in_batches():
    policy = OpenBanditPolicy(dim=2, n_actions=4, batch_size=3)
    for t in range(5):
        context = np.full((1, 2), float(t))
        policy.update_params(policy.select_action(context)[0], 1.0, context)
        assert policy.agent.counts["observations"] == (3 if t >= 2 else 0)


@pytest.mark.parametrize("given, words", [
    ({"len_list": 9}, "len_list 9"), ({"len_list": 0}, "len_list 0"), ({"dim": 1.5}, "1.5"), ({"n_actions": "x"}, "x"),
    ({"action_context": np.ones((2, 2))}, r"\(2, 2\)"), ({"algorithm": "x"}, "x"), ({"nothing": 1}, "nothing"),
])
def test_wrong_policies(given, words):
    with pytest.raises(superarm.InputError, match=words):
        OpenBanditPolicy(**{"dim": 2, "n_actions": 4, **given})


def test_wrong_feedback_for_a_policy():
    policy = OpenBanditPolicy(dim=2, n_actions=4)
    for action, context in ((4, np.zeros((1, 2))), (-1, np.zeros((1, 2))), (0, np.zeros((1, 3)))):
        with pytest.raises(superarm.InputError):
            policy.update_params(action, 1.0, context)
    with pytest.raises(superarm.InputError, match="nan"):
        policy.update_params(0, float("nan"), np.zeros((1, 2)))
    assert policy.n_trial == 0
    with pytest.raises(superarm.InputError):
        policy.select_action(np.zeros((1, 3)))


# ---- scikit-learn ----


def clone(estimator):
    """What sklearn.base.clone does and checks."""
    params = {name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()}
    made = type(estimator)(**params)
    for name, value in made.get_params(deep=False).items():
        assert value is params[name]
    return made


def data(count, seed=1):
    x = np.random.default_rng(seed).normal(size=(count, 5))
    return x, np.sin(x[:, 0]) + x[:, 1]


def test_a_regressor_learns_in_parts():
    model = SlateRegressor("cn-ucb", hidden=50)
    for seed in range(8):
        assert model.partial_fit(*data(40, seed)) is model
    assert model.score(*data(200, 99)) > 0.9
    assert model.n_features_in_ == 5 and model.agent_.counts["trainings"] == 8


def test_a_regressor_learns_at_once():
    x = np.random.default_rng(0).normal(size=(500, 3))
    assert SlateRegressor("cn-ucb", hidden=50).fit(x, np.sin(x[:, 0])).score(x, np.sin(x[:, 0])) > 0.7


def test_predicting_changes_nothing():
    model, x = SlateRegressor("cn-ts", hidden=20).fit(*data(60)), data(30, 2)[0]
    before = model.agent_.counts
    first = model.predict(x)
    assert np.array_equal(model.predict(x), first) and np.array_equal(model.predict(x[:7]), first[:7])
    assert model.agent_.counts == before
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(x), first)
    assert model.fit(*data(60)).predict(x) == pytest.approx(first)


def test_a_regressor_can_be_cloned():
    model = SlateRegressor("cn-ucb", gamma=0.3, hidden=20).fit(*data(20))
    twin = clone(model)
    assert twin.get_params() == model.get_params() and not hasattr(twin, "agent_")
    assert twin.set_params(hidden=10).fit(*data(20)).agent_.options["hidden"] == 10
    assert repr(twin) == "SlateRegressor(algorithm='cn-ucb', preset='tuned', random_state=1, gamma=0.3, hidden=10)"


@pytest.mark.parametrize("x, y, words", [
    (np.ones(3), np.ones(3), "X"), (np.ones((3, 2)), np.ones(2), "y"), (np.ones((3, 2)), [1, 2, np.nan], "finite"),
    (np.ones((3, 2)) * np.nan, np.ones(3), "nan"), ([["a"]], [1], "dtype"), (np.ones((0, 2)), [], "arms"),
])
def test_wrong_data(x, y, words):
    with pytest.raises(superarm.InputError, match=words):
        SlateRegressor().partial_fit(x, y)
    with pytest.raises(superarm.InputError, match="fitted"):
        SlateRegressor().predict(np.ones((1, 2)))
