"""A home page with three slots, and clicks that come late.

Each visitor is shown three of fifteen articles. Whether an article is clicked depends on both: readers like the topics that they
like, and a fresh article more than a stale one. The clicks come in hours later, from a queue that does not keep their order and
may deliver one twice; some never come. Every night the process restarts and goes on with the agent from its file.

    python3 home_page.py [--quick]
"""

import os
import sys
import tempfile

import numpy as np

import superarm

ARTICLES, SLOTS, TOPICS = 15, 3, 4
rng = np.random.default_rng(7)


def articles_of_the_day():
    """A topic for each article, one-hot, and its age in days."""
    return np.hstack([np.eye(TOPICS)[rng.integers(TOPICS, size=ARTICLES)], rng.uniform(0, 3, size=(ARTICLES, 1))])


def features(visitor, articles):
    """A row for each article: the visitor's tastes, the article, and how the two go together."""
    return np.hstack([np.tile(visitor, (ARTICLES, 1)), articles, visitor * articles[:, :TOPICS]])


def click_probability(visitor, articles):
    return 0.8 * (articles[:, :TOPICS] @ visitor) * np.exp(-articles[:, TOPICS])


def answer(agent, queue):
    """Clicks that have come in; what was delivered before is passed over."""
    rng.shuffle(queue)
    for decision, clicks in queue:
        try:
            agent.update(decision, clicks)
        except superarm.AlreadyAnswered:
            pass


def day(agent, visitors):
    """Returns the clicks per page, and those of a page chosen by chance."""
    articles, queue, got, chance = articles_of_the_day(), [], 0, 0.0
    for hour in range(24):
        for _ in range(visitors // 24):
            visitor = rng.dirichlet(np.full(TOPICS, 0.3))
            decision = agent.select(features(visitor, articles), slate=SLOTS)
            probability = click_probability(visitor, articles)
            clicks = rng.uniform(size=SLOTS) < probability[decision.arms]
            got += clicks.sum()
            chance += SLOTS * probability.mean()
            if rng.uniform() < 0.95:  # else nothing is ever heard of it
                queue.append((decision.id, clicks))
            if rng.uniform() < 0.05:
                queue.append((decision.id, clicks))  # delivered twice
        if hour % 6 == 5:
            answer(agent, queue)
            queue = []
    return got / visitors, chance / visitors


def main(days, visitors):
    # Slates asked for before feedback is in count as explored, so that they are not all the same; a page that is not heard of for
    # 500 others is forgotten.
    agent = superarm.Agent("cn-ucb", dim=3 * TOPICS + 1, random_state=1, hidden=50, count_pending=True, pending_limit=500)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "agent.npz")
        for number in range(1, days + 1):
            clicks, chance = day(agent, visitors)
            print(f"day {number}: {clicks:.2f} clicks a page, {chance:.2f} by chance; {agent.counts['pending']} pages still open")
            agent.save(path)
            agent = superarm.Agent.load(path)
    return clicks / chance


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    ratio = main(days=2 if quick else 5, visitors=120 if quick else 480)
    if ratio < 1:
        sys.exit("no better than chance")
