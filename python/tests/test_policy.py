"""Policies: the agent as it was, for many threads; decisions that are recorded later; slates that somebody else chose."""

import threading

import numpy as np
import pytest

import superarm

KINDS = [
    dict(algorithm="cn-ucb", hidden=8),
    dict(algorithm="cn-ts", hidden=8, confidence="sketch", sketch_size=16),
    dict(algorithm="cn-ucb", hidden=8, preset="paper"),
    dict(algorithm="comblin-ts"),
    dict(algorithm="neural-linear", hidden=8),
    dict(algorithm="cn-ucb", hidden=8, feedback="position", slate=3),
]


def contexts(round, arms=12):
    return np.random.default_rng(round).normal(size=(arms, 4))


def make(kind):
    return superarm.Agent(dim=4, random_state=5, **kind)


def teach(agent, rounds):
    for round in rounds:
        decision = agent.select(contexts(round), slate=3)
        agent.update(decision, np.tanh(contexts(round)[decision.arms, 0]))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_policy_and_record_are_select(kind):
    one, other = make(kind), make(kind)
    for round in range(40):
        expected = one.select(contexts(round), slate=3)
        decision = other.policy().select(contexts(round), slate=3)
        assert decision.id is None
        other.record(decision)
        assert decision.id == expected.id == round
        assert decision.arms.tolist() == expected.arms.tolist()
        assert decision.all_scores.tobytes() == expected.all_scores.tobytes()
        for agent in (one, other):
            agent.update(round, np.tanh(contexts(round)[expected.arms, 0]))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_policy_stays_as_it_was(kind):
    agent = make(kind)
    teach(agent, range(20))
    policy = agent.policy()
    before = policy.select(contexts(100), slate=3)
    teach(agent, range(20, 60))
    after = policy.select(contexts(100), slate=3)
    assert before.all_scores.tobytes() == after.all_scores.tobytes()
    assert before.all_widths.tobytes() == after.all_widths.tobytes()
    agent.close()
    assert policy.select(contexts(100), slate=3).arms.tolist() == before.arms.tolist()


def test_estimates_are_those_of_a_decision_with_all_widths():
    agent = make(dict(algorithm="cn-ucb", hidden=8, widths="all"))
    teach(agent, range(20))
    policy = agent.policy()
    found = policy.estimate(contexts(7), slate=3)
    decision = policy.select(contexts(7), slate=3)
    assert found.estimate.tobytes() == decision.all_estimates.tobytes()
    assert found.width.tobytes() == decision.all_widths.tobytes()
    assert found.score.tobytes() == decision.all_scores.tobytes()


def test_estimates_by_position():
    agent = make(KINDS[5])
    assert agent.policy().estimate(contexts(1), slate=3).estimate.shape == (12, 3)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_learning_a_slate_is_choosing_it(kind):
    one, other = make(kind), make(kind)
    for round in range(30):
        decision = one.select(contexts(round), slate=3)
        scores = np.tanh(contexts(round)[decision.arms, 0])
        one.update(decision, scores)
        other.learn(contexts(round), scores, arms=decision.arms, slate=3)
    a, b = one.select(contexts(77), slate=3), other.select(contexts(77), slate=3)
    assert a.id == b.id and a.all_scores.tobytes() == b.all_scores.tobytes()


def test_a_draw_makes_a_decision_again():
    agent = make(KINDS[1])
    teach(agent, range(10))
    policy = agent.policy()
    slates = {tuple(policy.select(contexts(1), slate=3, draw=draw).arms) for draw in range(50)}
    assert len(slates) > 1
    assert policy.select(contexts(1), slate=3, draw=7).arms.tolist() == policy.select(contexts(1), slate=3, draw=7).arms.tolist()
    with pytest.raises(superarm.InputError, match="2\\^48"):
        policy.select(contexts(1), slate=3, draw=2**48)


def test_threads_choose_while_one_learns():
    agent = make(KINDS[0])
    teach(agent, range(10))
    latest, stop, wrong = [agent.policy()], threading.Event(), []

    def choose(number):
        while not stop.is_set():
            policy = latest[0]
            first, again = (policy.select(contexts(number), slate=3) for _ in range(2))
            if first.all_scores.tobytes() != again.all_scores.tobytes():
                wrong.append(number)

    threads = [threading.Thread(target=choose, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for round in range(10, 80):
        teach(agent, [round])
        latest[0] = agent.policy()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_bad_input():
    agent, other = make(KINDS[0]), make(KINDS[0])
    policy = agent.policy()
    decision = policy.select(contexts(1), slate=3)
    with pytest.raises(superarm.InputError, match="record"):
        agent.update(decision, [1, 2, 3])
    with pytest.raises(superarm.InputError, match="another agent"):
        other.record(decision)
    agent.record(decision)
    with pytest.raises(superarm.InputError, match="recorded before"):
        agent.record(decision)
    with pytest.raises(superarm.InputError, match="recorded before"):
        agent.record(agent.select(contexts(2), slate=3))
    for wrong, sentence in [
        (dict(contexts=contexts(1), scores=[1, 2]), "give arms"),
        (dict(contexts=contexts(1), scores=[1, 2], arms=[0]), "2 scores"),
        (dict(contexts=contexts(1), scores=[1, 2], arms=[0, 12]), "arm 12"),
        (dict(contexts=contexts(1), scores=[1, 2], arms=[3, 3]), "twice"),
        (dict(contexts=contexts(1), scores=[1, np.nan], arms=[0, 1]), "nan"),
        (dict(contexts=contexts(1), scores=[1, 2], arms=[0, 1], exclude=[1]), "excludes"),
        (dict(contexts=contexts(1), scores=[1, 2], arms=[0, 1], slate=1), "at most"),
        (dict(contexts=contexts(1), scores=[[1, 2]]), "shape"),
    ]:
        before = agent.counts["decisions"]
        with pytest.raises(superarm.InputError, match=sentence):
            agent.learn(**wrong)
        assert agent.counts["decisions"] == before
    import pickle

    with pytest.raises(superarm.InputError, match="save the agent"):
        pickle.dumps(policy)
