"""How much more two threads get done than one, with an agent each: the interpreter lock is released inside the C calls.

    PYTHONPATH=build/python python3 bench/python_threads.py

One thread and two take turns, and the fastest of each counts, for others may use the machine too."""

import threading
import time

import numpy as np

import superarm


def play(agent, contexts):
    for x in contexts:
        decision = agent.select(x, slate=4)
        agent.update(decision, x[decision.arms, 0])


def seconds(threads, contexts):
    agents = [superarm.Agent("cn-ucb", dim=80, random_state=seed) for seed in range(threads)]
    workers = [threading.Thread(target=play, args=(agent, contexts)) for agent in agents]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - begin


def main(turns=8, rounds=60):
    contexts = np.random.default_rng(1).normal(size=(rounds, 20, 80)).astype(np.float32)
    one, two = 1e9, 1e9
    for _ in range(turns):
        one, two = min(one, seconds(1, contexts)), min(two, seconds(2, contexts))
    print(f"{rounds} rounds of select and update: one thread {one:.3f} s, two threads with an agent each {two:.3f} s, "
          f"{2 * one / two:.2f} times as much done")


if __name__ == "__main__":
    main()
