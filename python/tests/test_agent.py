"""The agent from Python: choosing, learning, and what it knows about itself."""

import gc

import numpy as np
import pandas
import pytest

import superarm


def contexts(arms=20, dim=5, seed=1):
    return np.random.default_rng(seed).normal(size=(arms, dim))


def test_a_decision_has_what_was_chosen_and_why():
    agent = superarm.Agent("cn-ucb", dim=5, random_state=1, widths="all", preset="paper")
    decision = agent.select(contexts(), slate=4, event=77)
    assert decision.arms.shape == (4,) and len(set(decision.arms.tolist())) == 4 and len(decision) == 4 and list(decision) == decision.arms.tolist()
    assert (decision.id, decision.event, decision.candidates) == (0, 77, 20)
    np.testing.assert_array_equal(decision.arms, np.argsort(-decision.all_scores, kind="stable")[:4])
    np.testing.assert_array_equal(decision.score, decision.all_scores[decision.arms])
    np.testing.assert_array_equal(decision.estimate, decision.all_estimates[decision.arms])
    np.testing.assert_array_equal(decision.width, decision.all_widths[decision.arms])
    np.testing.assert_allclose(decision.score, decision.estimate + decision.width, rtol=1e-6)  # gamma 1
    assert repr(decision) == f"Decision(id=0, arms={decision.arms.tolist()})"


def test_a_decision_tells_how_far_its_widths_can_be_off():
    assert superarm.Agent("cn-ucb", dim=5).select(contexts()).certificate == 1
    assert np.isnan(superarm.Agent("cn-ucb", dim=5, confidence="diagonal").select(contexts()).certificate)
    exact, sketch = (superarm.Agent("cn-ucb", dim=5, hidden=10, widths="all", normalize="none", train="manual", **options)
                     for options in ({}, {"confidence": "sketch", "sketch_size": 40}))
    for seed in range(30):  # four arms, and all of them: the two count the same
        for agent in (exact, sketch):
            agent.update(agent.select(contexts(4, seed=seed), slate=4), np.ones(4))
    wanted, decision = (agent.select(contexts(seed=99), slate=4) for agent in (exact, sketch))
    off = decision.all_widths / wanted.all_widths
    assert 1 < decision.certificate < np.inf and off.max() > 1.001
    assert np.all(off < decision.certificate * 1.001) and np.all(off > 0.999 / decision.certificate)


def test_a_decision_stays_as_it_was():
    agent = superarm.Agent("cn-ucb", dim=5)
    first = agent.select(contexts(), slate=4)
    again = [agent.select(contexts(seed=seed), slate=3, event=seed) for seed in range(2, 6)]
    agent.close()
    assert (len(first), first.id, first.event) == (4, 0, 0)
    assert [decision.event for decision in again] == [2, 3, 4, 5] and first.all_scores.shape == (20,)


def test_dropped_decisions_are_used_again_without_harm():
    agent, twin = superarm.Agent("cn-ts", dim=5), superarm.Agent("cn-ts", dim=5)
    kept = []
    for seed in range(30):
        x = contexts(arms=4 + seed % 7, seed=seed)
        decision = agent.select(x, slate=3)
        kept.append(twin.select(x, slate=3))
        np.testing.assert_array_equal(decision.all_scores, kept[-1].all_scores)
        if seed % 5 == 0:
            gc.collect()
    assert [decision.candidates for decision in kept] == [4 + seed % 7 for seed in range(30)]


def test_learns_a_linear_world():
    agent = superarm.Agent("comblin-ucb", dim=5, random_state=1)
    weights = np.array([1, -1, 0.5, 0, 2])
    for seed in range(60):
        x = contexts(seed=seed)
        decision = agent.select(x, slate=4)
        agent.update(decision, x[decision.arms] @ weights)
    x = contexts(seed=1000)
    best = np.argsort(-(x @ weights))[:4]
    assert set(agent.select(x, slate=4).arms) == set(best)


def test_feedback_comes_late_in_parts_and_in_any_order():
    agent = superarm.Agent("cn-ucb", dim=5)
    first, second = agent.select(contexts(), slate=2), agent.select(contexts(), slate=2)
    agent.update(second.id, [1, 0])
    agent.update(first, [1, 0], observed=[True, False])
    assert agent.counts["pending"] == 1
    with pytest.raises(superarm.AlreadyAnswered) as caught:
        agent.update(first, [1, 0])
    assert caught.value.status == 4 and caught.value.status_name == "SA_ALREADY_ANSWERED"
    agent.update(first, [9, 0], observed=np.array([0, 1]))
    assert agent.counts["pending"] == 0 and agent.counts["observations"] == 4


def test_excluded_arms_are_not_chosen():
    agent, x = superarm.Agent("random", dim=5), contexts(6)
    mask = np.array([True, False, True, False, True, False])
    for exclude in (mask, mask.tolist(), [0, 2, 4], np.array([0, 2, 4]), (0, 2, 4)):
        assert set(agent.select(x, slate=3, exclude=exclude).arms) == {1, 3, 5}
    assert len(agent.select(x, slate=6, exclude=[]).arms) == 6
    assert len(agent.select(x, slate=6).arms) == 6


def test_best_looks_at_the_expected_scores():
    agent = superarm.Agent("best", dim=5)
    assert agent.select(contexts(4), slate=2, expected=[0.1, 0.9, 0.2, 0.8]).arms.tolist() == [1, 3]
    with pytest.raises(superarm.InputError):
        agent.select(contexts(4), slate=2)  # the last ones are forgotten


def test_the_oracles_data_go_with_the_request():
    agent = superarm.Agent("random", dim=5, oracle="knapsack")
    for seed in range(5):
        decision = agent.select(contexts(6, seed=seed), slate=0, costs=[1, 2, 3, 4, 5, 6], capacity=6)
        assert np.sum(decision.arms + 1) <= 6
    with pytest.raises(superarm.InputError, match="costs"):
        agent.select(contexts(6), slate=0)
    with pytest.raises(superarm.InputError, match="scores"):
        agent.select(contexts(6), slate=0, costs=[1, 2, 3, 4, 5, 6], capacity=6, scores=[1] * 6)


def test_positions_have_scores_of_their_own():
    agent = superarm.Agent("cn-ucb", dim=5, feedback="position", oracle="assignment", slate=3)
    decision = agent.select(contexts(8))
    assert decision.all_scores.shape == (8, 3) and len(decision) == 3
    agent.update(decision, [1, 0, 0])


def test_the_slate_is_the_option_unless_given():
    agent = superarm.Agent("cn-ucb", dim=5, slate=7)
    assert len(agent.select(contexts())) == 7 and len(agent.select(contexts(), slate=2)) == 2


@pytest.mark.parametrize("given, name, value", [
    ({"train_every": 5}, "train_every", 5),
    ({"companion": False}, "companion", False),
    ({"gamma": 0.1}, "gamma", 0.1),
    ({"gamma": np.float32(0.5)}, "gamma", 0.5),
    ({"hidden": np.int64(30)}, "hidden", 30),
    ({"gamma": "theory"}, "gamma", "theory"),
    ({"gamma": None}, "gamma", 1.0),
    ({"lambda_": 2}, "regularization", 2.0),
    ({"lambda": 2}, "regularization", 2.0),
    ({"seed": 3}, "seed", 3),
    ({"precision": "double"}, "precision", "double"),
    ({"random_state": 12}, "seed", 12),
    ({"preset": None}, "preset", "tuned"),
])
def test_options_take_python_values(given, name, value):
    agent = superarm.Agent("cn-ucb", dim=5, **given)
    assert agent.options[name] == value and type(agent.options[name]) is type(value)


def test_the_list_of_options_is_the_agents():
    found = superarm.Agent("cn-ts", dim=2, nu=0.3).options
    assert {option.name for option in superarm.options() if option.scope == "agent"} < set(found) and "noise" not in found
    assert superarm.Agent(**found).options == found
    assert {option.scope for option in superarm.options()} == {"agent", "environment", "experiment", "output"}


def test_trains_when_asked():
    agent = superarm.Agent("cn-ucb", dim=5, train="manual")
    agent.train()
    decision = agent.select(contexts(), slate=4)
    agent.update(decision, [1, 0, 1, 0])
    before = agent.counts["trainings"]
    agent.train()
    assert agent.counts["trainings"] == before + 1


def test_closing():
    with superarm.Agent("cn-ucb", dim=5) as agent:
        decision = agent.select(contexts(), slate=4)
    agent.close()
    assert "closed" in repr(agent) and agent.dim == 5
    for use in (lambda: agent.select(contexts(), slate=4), lambda: agent.update(decision, [0] * 4), agent.train,
                lambda: agent.save("x"), lambda: agent.counts, lambda: agent.options):
        with pytest.raises(superarm.InputError, match="closed"):
            use()
    assert len(decision.arms) == 4


@pytest.mark.parametrize("join", ["concat", "products", "both"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_items_and_what_they_share(join, kind):
    items, user = contexts(9, 3).astype(kind), contexts(1, 2, seed=2)[0].astype(kind)
    products = (items[:, :, None] * user).reshape(9, 6)
    both = [np.hstack([items, np.tile(user, (9, 1))]), products]
    by_hand = {"concat": both[0], "products": both[1], "both": np.hstack(both)}[join]
    dim = superarm.join_dim(join, 3, 2)
    assert dim == by_hand.shape[1]
    agents = [superarm.Agent("cn-ucb", dim=dim, precision="double" if kind is np.float64 else "single") for _ in range(2)]
    for _ in range(3):
        decisions = [agents[0].select(by_hand, slate=4),
                     agents[1].select(items=items if kind is np.float32 else items.tolist(), shared=user, join=join, slate=4)]
        np.testing.assert_array_equal(decisions[0].all_scores, decisions[1].all_scores)
        for agent, decision in zip(agents, decisions):
            agent.update(decision, [1, 0, 0, 1])
    assert agents[1].select(by_hand, slate=2).candidates == 9  # and contexts again


def test_many_requests_at_once():
    agents = [superarm.Agent("cn-ucb", dim=5, hidden=20) for _ in range(2)]
    for agent in agents:
        agent.update(agent.select(contexts(), slate=4), [1, 0, 1, 0])
    xs = [contexts(arms=6 + seed, seed=seed).astype(np.float32 if seed % 2 else np.float64) for seed in range(7)]
    together = agents[0].select_many([*xs[:6], {"contexts": xs[6], "slate": 2, "exclude": [1], "event": 9}], slate=3)
    alone = [agents[1].select(x, slate=3) for x in xs[:6]] + [agents[1].select(xs[6], slate=2, exclude=[1], event=9)]
    for one, other in zip(together, alone):
        assert (one.id, one.event, one.arms.tolist()) == (other.id, other.event, other.arms.tolist())
        np.testing.assert_array_equal(one.score, other.score)
        agents[0].update(one, np.ones(len(one)))
    assert agents[0].select_many([]) == []


def test_one_wrong_request_of_many_spoils_all():
    agent, x = superarm.Agent("cn-ucb", dim=5), contexts()
    for wrong, words in (({"contexts": x, "slate": 99}, "99"), (x[:, :2], "request 1"), ({"contexts": x, "slates": 1}, "slates"), (None, "request 1"),
                         ({"contexts": x * np.nan}, "nan")):
        with pytest.raises(superarm.InputError, match=words):
            agent.select_many([x, wrong], slate=2)
    assert agent.counts["decisions"] == 0


# ---- arrays of any kind ----


def chosen(x, **options):
    return superarm.Agent("cn-ucb", dim=5).select(x, slate=4, **options)


@pytest.mark.parametrize("make", [
    lambda x: x.tolist(),
    lambda x: [tuple(row) for row in x],
    np.asfortranarray,
    lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: np.hstack([x, x])[:, :5],
    lambda x: x[::-1][::-1],
    lambda x: x.astype(">f8"),
    lambda x: x.astype(np.longdouble),
    lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(x.shape),  # not aligned
    lambda x: np.ma.masked_array(x),
    lambda x: pandas.DataFrame(x),
    lambda x: ArrayLike(x),
])
def test_any_array_is_the_same_array(make):
    x = contexts()
    x.flags.writeable = False
    np.testing.assert_array_equal(chosen(make(x)).all_scores, chosen(x).all_scores)


class ArrayLike:
    """What torch and others have."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array if dtype is None else self._array.astype(dtype)


@pytest.mark.parametrize("kind", [np.float16, np.int8, np.int64, np.uint32, bool])
def test_other_numbers_are_converted(kind):
    x = (contexts() * 3).astype(kind)
    np.testing.assert_array_equal(chosen(x).all_scores, chosen(x.astype(np.float64)).all_scores)


def test_contiguous_arrays_are_not_copied():
    from superarm import _arrays

    for kind in (np.float32, np.float64):
        x = contexts().astype(kind)
        assert _arrays.reals(x, "contexts") is x


@pytest.mark.parametrize("make", [
    lambda: [1, 0, 1, 0],
    lambda: (True, False, True, False),
    lambda: np.array([1, 0, 1, 0], np.int8),
    lambda: np.float32([1, 0, 1, 0]),
    lambda: np.array([1., 9, 0, 9, 1, 9, 0, 9])[::2],
    lambda: pandas.Series([1, 0, 1, 0]),
])
def test_scores_of_any_kind(make):
    agent, twin = (superarm.Agent("comblin-ucb", dim=5) for _ in range(2))
    agent.update(agent.select(contexts(), slate=4), make())
    twin.update(twin.select(contexts(), slate=4), np.array([1.0, 0, 1, 0]))
    np.testing.assert_array_equal(agent.select(contexts()).all_scores, twin.select(contexts()).all_scores)


# ---- an oracle of one's own ----


class TopK:
    alpha = 1.0

    def __init__(self):
        self.seen = []

    def solve(self, scores, k):
        self.seen.append((scores.copy(), k))
        return np.argsort(-scores, kind="stable")[:k]


def test_an_oracle_of_ones_own():
    oracle = TopK()
    agent, ours = superarm.Agent("cn-ucb", dim=5, oracle=oracle, widths="all"), superarm.Agent("cn-ucb", dim=5, widths="all")
    assert agent.oracle is oracle and ours.oracle is None
    theirs = agent.select(contexts(), slate=4)
    np.testing.assert_array_equal(theirs.arms, ours.select(contexts(), slate=4).arms)
    np.testing.assert_array_equal(oracle.seen[0][0], theirs.all_scores)
    assert oracle.seen[0][1] == 4
    agent.select(contexts(), slate=2, exclude=[3])
    assert oracle.seen[1][0][3] == -np.inf
    agent.oracle = None
    agent.select(contexts(), slate=2)
    assert len(oracle.seen) == 2


def test_an_oracle_for_positions():
    class Diagonal:
        alpha = 0.5
        positions = True

        def solve(self, scores, k):
            assert scores.shape == (8, k)
            return range(k)

    agent = superarm.Agent("cn-ucb", dim=5, oracle=Diagonal(), feedback="position", slate=3)
    assert agent.select(contexts(8)).arms.tolist() == [0, 1, 2]


@pytest.mark.parametrize("answer, kind, words", [
    (lambda scores, k: 1 / 0, ZeroDivisionError, "division"),
    (lambda scores, k: [0, 0], superarm.InputError, "twice"),
    (lambda scores, k: [99, 0], superarm.InputError, "99"),
    (lambda scores, k: [-1, 0], superarm.InputError, "-1"),
    (lambda scores, k: [0.5], superarm.InputError, "0.5"),
    (lambda scores, k: list(range(k + 1)), superarm.InputError, "at most 2"),
    (lambda scores, k: "no", superarm.InputError, "dtype"),
    (lambda scores, k: None, superarm.InputError, "solve of TopK returned None"),
])
def test_a_wrong_oracle_changes_nothing(answer, kind, words):
    oracle = TopK()
    oracle.solve = answer
    agent = superarm.Agent("cn-ucb", dim=5, oracle=oracle)
    with pytest.raises(kind, match=words):
        agent.select(contexts(), slate=2)
    assert agent.counts["decisions"] == 0
    agent.oracle = None
    assert len(agent.select(contexts(), slate=2)) == 2


def test_an_oracle_that_uses_its_agent():
    class Selfish(TopK):
        def solve(self, scores, k):
            self.agent.train()

    agent = superarm.Agent("cn-ucb", dim=5, oracle=Selfish())
    agent.oracle.agent = agent
    with pytest.raises(superarm.Error, match="own oracle"):
        agent.select(contexts(), slate=2)


@pytest.mark.parametrize("alpha", [0, 2, float("nan"), "x", None])
def test_a_wrong_alpha(alpha):
    oracle = TopK()
    oracle.alpha = alpha
    with pytest.raises(superarm.InputError, match="alpha"):
        superarm.Agent("cn-ucb", dim=5, oracle=oracle)


def test_revised_feedback():
    late, right = (superarm.Agent("comblin-ucb", dim=5, linear_form="defined") for _ in range(2))
    for round in range(20):
        for agent, score in ((late, 1.0), (right, 20.0 if round % 2 else 1.0)):
            agent.learn(contexts(seed=round), [score, 0, -1], arms=[3, 1, 7])
    for round in range(1, 20, 2):
        late.revise(round, [20, 5, 5], observed=[True, False, False])
    np.testing.assert_allclose(late.policy().estimate(contexts(seed=99)).estimate, right.policy().estimate(contexts(seed=99)).estimate, rtol=1e-9)
    decision = late.select(contexts(), slate=3)
    with pytest.raises(superarm.InputError, match="no feedback that could be revised"):
        late.revise(decision, [1, 2, 3], observed=[True, True, True])
    late.update(decision, [1, 0, 0])
    late.revise(decision, [2, 0, 0])
    with pytest.raises(superarm.InputError, match="nan"):
        late.revise(decision, [np.nan, 0, 0])
    with pytest.raises(superarm.UnknownDecision):
        late.revise(1000, [1, 0, 0])


def test_rewards_outside_the_range_are_refused():
    agent = superarm.Agent("cn-ts", dim=5, reward_range="0,1")
    decision = agent.select(contexts(), slate=2)
    with pytest.raises(superarm.InputError, match="is 1e\\+30, and --reward-range is 0,1"):
        agent.update(decision, [1e30, 0])
    agent.update(decision, [1, 0])
    assert agent.counts["refused_rewards"] == 1 and agent.counts["observations"] == 2
    for wrong in ("1,0", "0", "x,1", "0,nan"):
        with pytest.raises(superarm.InputError, match="reward-range"):
            superarm.Agent("cn-ts", dim=5, reward_range=wrong)


def test_a_wild_reward_is_not_learnt_from():
    agent = superarm.Agent("cn-ts", dim=5, random_state=1, normalize="none")
    for round in range(30):
        agent.learn(contexts(seed=round), [round % 2, 0], arms=[round % 20, 5 if round % 20 != 5 else 6])
    before = agent.policy().estimate(contexts(seed=99)).estimate
    agent.learn(contexts(seed=31), [1e30], arms=[4])
    np.testing.assert_array_equal(agent.policy().estimate(contexts(seed=99)).estimate, before)
    assert agent.counts["wild_rewards"] == 1 and agent.counts["observations"] == 60


def test_exactly_and_gap():
    agent = superarm.Agent("comblin-ucb", dim=5, oracle="knapsack")
    decision = agent.select(contexts(), slate=3, costs=np.arange(1, 21), capacity=12, exactly=True)
    assert len(decision) == 3 and decision.gap == 0


def test_the_first_request_tells_the_dim(tmp_path):
    for dim in (3, 80):
        rng = np.random.default_rng(1)
        later, told = superarm.Agent("cn-ucb", hidden=8), superarm.Agent("cn-ucb", dim=dim, hidden=8)
        assert later.dim is None and "dim=None" in repr(later) and later.options["dim"] is None
        with pytest.raises(superarm.InputError, match="does not know its dim"):
            later.save(tmp_path / "agent.npz")
        with pytest.raises(superarm.InputError):
            later.select([1.0, 2.0], slate=1)
        for _ in range(5):
            contexts = rng.normal(size=(6, dim))
            one, other = later.select(contexts, slate=2), told.select(contexts, slate=2)
            assert one.arms.tolist() == other.arms.tolist() and one.id == other.id
            later.update(one, contexts[one.arms, 0])
            told.update(other, contexts[one.arms, 0])
        assert later.dim == later.options["dim"] == dim
        later.save(tmp_path / "later.npz")
        assert superarm.Agent.load(tmp_path / "later.npz").dim == dim
        with pytest.raises(superarm.InputError):
            later.select(rng.normal(size=(6, dim + 1)), slate=2)
    joined = superarm.Agent("cn-ucb", hidden=8)
    joined.select(items=np.eye(4), shared=np.ones(3), join="both", slate=2)
    assert joined.dim == superarm.join_dim("both", 4, 3)
    many = superarm.Agent("cn-ts", hidden=8, oracle=None)
    assert len(many.select_many([np.eye(5), np.eye(5)], slate=2)) == 2 and many.dim == 5
