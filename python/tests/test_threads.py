"""Threads, forks and memory."""

import ctypes
import gc
import signal
import sys
import threading
import time

import numpy as np
import pytest

import superarm


def play(agent, count=20, seed=0):
    rng = np.random.default_rng(seed)
    shown = []
    for _ in range(count):
        x = rng.normal(size=(12, 6))
        decision = agent.select(x, slate=3)
        shown.append(decision.all_scores)
        agent.update(decision, x[decision.arms, 0])
    return np.array(shown)


def in_threads(works):
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_agents_in_threads_do_not_disturb_each_other():
    alone = [play(superarm.Agent("cn-ts", dim=6, hidden=20, random_state=seed), seed=seed) for seed in range(3)]
    together = {}

    def work(seed):
        together[seed] = play(superarm.Agent("cn-ts", dim=6, hidden=20, random_state=seed), seed=seed)

    in_threads([lambda seed=seed: work(seed) for seed in range(3)])
    for seed in range(3):
        assert together[seed].tobytes() == alone[seed].tobytes()


def test_one_agent_serves_many_threads_in_turn():
    agent = superarm.Agent("cn-ucb", dim=6, hidden=20)
    in_threads([lambda seed=seed: play(agent, seed=seed) for seed in range(4)])
    assert agent.counts["decisions"] == 80 and agent.counts["observations"] == 240


def test_sentences_do_not_mix():
    """sa_last_error is per thread, and so are the exceptions made of it."""

    def wrong(text):
        for _ in range(200):
            with pytest.raises(superarm.InputError, match=f"gamma {text} "):
                superarm.Agent(dim=3, gamma=text)

    in_threads([lambda: wrong("abc"), lambda: wrong("xyz")])


def test_other_threads_go_on_while_an_agent_trains():
    agent = superarm.Agent("cn-ucb", dim=6, hidden=100, train="manual", train_steps=60000)
    play(agent, 30)
    times, turns = [], []

    def work():
        times.append(time.perf_counter())
        agent.train()
        times.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    while len(times) < 2:
        turns.append(time.perf_counter())
    thread.join()
    begin, end = times
    quarter = (end - begin) / 4  # the first and the last may have turns before and after the call of C
    assert len([turn for turn in turns if begin + quarter < turn < end - quarter]) > 10


def test_closing_waits_for_the_thread_that_uses_the_agent():
    agent = superarm.Agent("cn-ucb", dim=6, train="manual", train_steps=500)
    play(agent, 10)
    began = threading.Event()

    def work():
        began.set()
        try:
            while True:
                agent.train()
        except superarm.InputError:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    agent.close()
    thread.join(120)
    assert not thread.is_alive()


def test_ctrl_c_while_an_agent_chooses():
    """It comes out, or the slate does, whole, and the agent goes on: wherever in a select it comes, before an oracle of one's own or in
    it, too."""

    class Top:
        alpha = 1.0

        def solve(self, scores, k):
            return np.argsort(-scores)[:k]

    agent, x, rung = superarm.Agent("cn-ucb", dim=20, hidden=50, oracle=Top()), np.ones((2000, 20)), []

    def ring(*_):
        rung.append(True)
        raise KeyboardInterrupt

    began = time.perf_counter()
    agent.select(x, slate=3)
    took = time.perf_counter() - began
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for step in range(1, 61):
            decision = None
            rung.clear()
            try:
                signal.setitimer(signal.ITIMER_REAL, took * step / 40)
                decision = agent.select(x, slate=3)
                while not rung:
                    pass
            except KeyboardInterrupt:
                pass
            assert rung and (decision is None or len(decision) == 3)
    finally:
        signal.signal(signal.SIGALRM, before)
    in_threads([lambda: agent.select(x, slate=3)])  # nobody holds it


@pytest.mark.parametrize("algorithm", ["cn-ucb", "comblin-ucb", "random"])
def test_ctrl_c_at_any_moment(algorithm):
    """In a loop of cheap calls it mostly comes between them and C, and is never lost; the agent stays usable, by other threads too."""

    def ring(*_):
        raise KeyboardInterrupt

    rng, x, swallowed = np.random.default_rng(1), np.ones((8, 5)), []
    small = {"hidden": 5} if algorithm.startswith("cn-") else {}
    agent = superarm.Agent(algorithm, dim=5, pending_limit=10, **small)
    before, hook = signal.signal(signal.SIGALRM, ring), sys.unraisablehook
    sys.unraisablehook = swallowed.append
    try:
        for _ in range(250):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 1e-3 * rng.random())
                until = time.perf_counter() + 10
                while time.perf_counter() < until:
                    agent.select(x, slate=2)
                    agent.counts
                swallowed.append("the alarm never came out")
                break
            except KeyboardInterrupt:
                pass
            agent.select(x, slate=2)
    finally:
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
    assert not swallowed
    in_threads([lambda: agent.select(x, slate=2)])


def test_a_fork_with_a_live_agent(in_child, tmp_path):
    agent = superarm.Agent("cn-ts", dim=6, hidden=20)
    play(agent)
    assert in_child(lambda: np.save(tmp_path / "shown.npy", play(agent, seed=5)))
    assert np.load(tmp_path / "shown.npy").tobytes() == play(agent, seed=5).tobytes()


def test_a_fork_while_another_thread_trains(in_child):
    agent, other = (superarm.Agent("cn-ucb", dim=6, train="manual", train_steps=2000) for _ in range(2))
    play(agent)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            agent.train()

    def child():
        try:
            agent.train()  # between two trainings the agent is whole
        except superarm.InputError as error:
            assert "forked" in str(error)
        play(other)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert all(in_child(child) for _ in range(5))
    finally:
        stop.set()
        thread.join()
    play(agent)


def test_an_oracle_that_forks(in_child):
    class Forking:
        alpha = 1.0

        def solve(self, scores, k):
            self.fine = in_child(lambda: play(superarm.Agent("cn-ucb", dim=6)))
            return range(k)

    agent = superarm.Agent("cn-ucb", dim=6, oracle=Forking())
    agent.select(np.eye(6), slate=2)
    assert agent.oracle.fine
    assert agent.select(np.eye(6), slate=2).id == 1


def allocated():
    """Bytes that malloc has given out, from all its arenas."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("no mallinfo2 here")

    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks used free keepcost".split()]

    libc.mallinfo2.restype = Info
    info = libc.mallinfo2()
    return info.used + info.hblkhd


def use_and_drop(count):
    for seed in range(count):
        agent = superarm.Agent("cn-ucb", dim=6, hidden=50, random_state=seed)
        play(agent, 3)
        agent.select(np.ones((3, 6)), slate=2, exclude=[0], event=4)
        try:
            agent.select(np.ones((3, 6)), slate=9)
        except superarm.InputError:
            pass
        agent.oracle = type("O", (), {"alpha": 1.0, "solve": lambda self, scores, k: range(k)})()
        agent.select(np.ones((3, 6)), slate=2)
    del agent
    gc.collect()


def test_a_hundred_agents_leave_nothing_behind():
    use_and_drop(20)
    before = allocated()
    use_and_drop(100)
    one = superarm.Agent("cn-ucb", dim=6, hidden=50).counts["bytes"]
    assert allocated() - before < 2 * one  # of the hundred that were there


def test_decisions_leave_nothing_behind():
    agent = superarm.Agent("random", dim=6, pending_limit=10)
    x = np.ones((5000, 6))

    def ask(count):
        for _ in range(count):
            agent.select(x, slate=3).all_scores

    ask(30)
    before = allocated()
    ask(300)
    assert allocated() - before < 3 * 5000 * 8 * 10  # ten decisions' worth, of three hundred
