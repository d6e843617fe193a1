"""The agent from Python: choosing, learning, and what it knows about itself."""

import numpy as np

import superarm


def test_chooses_and_learns():
    rng = np.random.default_rng(1)
    agent = superarm.Agent("cn-ucb", dim=5, random_state=1)
    contexts = rng.normal(size=(20, 5))
    decision = agent.select(contexts, slate=4, event=77)
    assert decision.arms.shape == (4,) and len(set(decision.arms.tolist())) == 4
    assert decision.event == 77 and decision.candidates == 20 and decision.id == 0
    agent.update(decision, contexts[decision.arms, 0])
    assert agent.counts["observations"] == 4
