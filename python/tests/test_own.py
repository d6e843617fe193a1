"""Algorithms, environments and oracles of one's own, in Python, in the runner."""

import gc
import os
import subprocess
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

import superarm
from superarm import _own

PROGRAM = os.environ.get("SUPERARM", "build/superarm")
SIZES = {"arms": 8, "dim": 5, "rounds": 30}
SMALL = {**SIZES, "environment": "h2", "slate": 3, "runs": 3, "hidden": 8, "train_steps": 5}
PLAIN = {name: value for name, value in SMALL.items() if name not in ("hidden", "train_steps")}  # where no agent has a network


def notes(error):
    return "\n".join(getattr(error, "__notes__", []))


# ---- algorithms ----


class Wrapped:
    """One of our own agents, through the door for others: it must do what it does by itself."""

    def __init__(self, run):
        self.agent = superarm.Agent("cn-ts", random_state=1, first_run=run, **{name: value for name, value in SMALL.items() if name in ("dim", "hidden", "slate", "train_steps", "rounds")})
        self.decisions = {}

    def select(self, contexts, k, round):
        self.decisions[round] = self.agent.select(contexts, slate=k)
        return self.decisions[round].arms

    def update(self, arms, scores, round, observed, contexts):
        decision = self.decisions.pop(round)
        np.testing.assert_array_equal(arms, decision.arms)
        assert contexts.shape == (len(arms), SMALL["dim"])
        self.agent.update(decision, np.where(observed, scores, 0), observed=observed)


@pytest.mark.parametrize("more", [{}, {"delay": 3}, {"clicks": "cascade"}, {"clicks": "position", "examination": [0.9, 0.5, 0.1], "delay": 1}])
def test_it_sees_what_ours_see(more):
    results = superarm.run(agents=["cn-ts", {"label": "other", "algorithm": "random"}, Wrapped], **SMALL, **more)
    assert results.labels == ["cn-ts", "other", "Wrapped"] and results.agents["Wrapped"]["algorithm"] == "own"
    for curves in (results.expected_regret, results.realised_regret, results.reward):
        np.testing.assert_array_equal(curves["cn-ts"], curves["Wrapped"])


class Counting:
    """Remembers how often it was used, and by whom."""

    label = "counts"

    def __init__(self):
        self.seen = []

    def begin(self, run):
        self.seen.append(("begin", run))

    def select(self, contexts, k):
        contexts[:] = 0  # its own copy: nobody else's
        self.seen.append(len(contexts))
        assert len(self.seen) <= 31  # of another run: more
        return list(range(k))

    def update(self, arms, scores):
        assert arms.tolist() == [0, 1, 2] and scores.shape == (3,)


def test_every_run_has_an_object_of_its_own():
    mine, alive = Counting(), weakref.WeakSet()

    def make():
        alive.add(made := Counting())
        return made

    gc.disable()  # which is not needed for that
    try:
        results = superarm.run(agents={"object": mine, "class": Counting, "function": make, "random": "random"}, **SMALL)
    finally:
        gc.enable()
    assert mine.seen == []  # a copy was used
    assert results.labels == ["object", "class", "function", "random"]
    for label in ("class", "function"):
        np.testing.assert_array_equal(results.reward[label], results.reward["object"])
    assert superarm.run(agents=[mine], **SMALL).labels == ["counts"]
    assert not alive  # nothing is kept


def test_only_what_was_seen_is_told_unless_it_asks():
    told = []

    class Plain:
        def select(self, contexts, k):
            return np.arange(k)[::-1]

        def update(self, arms, scores):
            told.append((arms.tolist(), scores))

    superarm.run(agents=[Plain()], **{**SMALL, "slate": 5}, clicks="cascade", leave=0.5, threads=1)
    lengths = {len(arms) for arms, _ in told}
    assert min(lengths) < 5 and all(arms == [4, 3, 2, 1, 0][:len(arms)] and np.isfinite(scores).all() for arms, scores in told)


def test_without_update_it_is_none():
    """More likely a slip of the pen than an algorithm that does not want to learn."""

    class Fixed:
        def select(self, contexts, k):
            return [5, 1, 3][:k]

    with pytest.raises(superarm.InputError, match="agent Fixed: .* has no method update"):
        superarm.run(agents=[Fixed()], **SMALL)


class Broken:
    """Fails in one of its methods, at t = 4 of run 1."""

    def __init__(self, run, where="select", error=None, gives=None):
        if where == "init" and run == 1:
            raise error
        self.run, self.where, self.error, self.gives, self.t = run, where, error, gives, -1

    def fail(self, where):
        if self.run == 1 and self.where == where and self.t == 4:
            raise self.error

    def select(self, contexts, k):
        self.t += 1
        self.fail("select")
        return range(k) if self.gives is None else self.gives

    def update(self, arms, scores):
        self.fail("update")


@pytest.mark.parametrize("where, note", [("select", "agent Broken, run 1, t = 4"), ("update", "agent Broken, run 1, t = 4"),
                                         ("init", "agent Broken, run 1, before its first round")])
@pytest.mark.parametrize("threads", [1, 2])
def test_exceptions_come_out_as_themselves(where, note, threads):
    class Mine(Exception):
        pass

    error = Mine("mine")

    def make(run):
        return Broken(run, where, error)

    with pytest.raises(Mine) as caught:
        superarm.run(agents={"Broken": make}, **SMALL, threads=threads)
    assert caught.value is error and notes(error) == note
    assert "in fail" in "".join(traceback.format_tb(error.__traceback__)) or where == "init"  # the line that raised it


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes are shown from 3.11 on")
def test_a_traceback_names_the_run():
    with pytest.raises(KeyError) as caught:
        superarm.run(agents={"mine": lambda run: Broken(run, "select", KeyError("x"))}, **SMALL)
    assert "agent mine, run 1, t = 4" in "".join(traceback.format_exception(KeyError, caught.value, None))


def test_older_pythons_name_the_run_as_the_cause(monkeypatch):
    monkeypatch.setattr(_own.sys, "version_info", (3, 9))
    error = ValueError("x")
    _own.note(error, "agent a, run 2")
    monkeypatch.undo()
    assert notes(error) == "agent a, run 2" and str(error.__cause__) == "agent a, run 2"
    assert "agent a, run 2" in "".join(traceback.format_exception(ValueError, error, None))


@pytest.mark.parametrize("gives, words", [
    ([0, 1], "agent a, run 0, round 1: it chose 2 arms, and exactly 3 are wanted"),
    ([0, 1, 2, 3], "select chose 4 arms, and 3 are wanted"),
    ([0, 1, 1], "it chose arm 1 twice"),
    ([0, 1, 8], "it chose arm 8, and there are 8"),
    ([0, 1, -1], "select: there is -1"),
    ([0, 1, 1.5], "select: there is 1.5"),
    ("abc", "select: the dtype is"),
    ([[0, 1, 2]], r"select: the shape is \(1, 3\)"),
    ([0, 1, np.inf], "select: there is inf"),
    (np.arange(8) < 3, "select: there are True and False"),
])
def test_wrong_slates(gives, words):
    with pytest.raises(superarm.InputError, match=words):
        superarm.run(agents={"a": lambda: Broken(0, gives=gives)}, **SMALL, threads=1)


# ---- environments ----


@pytest.fixture(scope="module")
def draws(tmp_path_factory):
    folder = tmp_path_factory.mktemp("draws")
    flags = [word for name, value in {**SIZES, "environment": "h2", "runs": 3}.items() for word in (f"--{name}", str(value))]
    subprocess.run([PROGRAM, "draw", *flags, "--out", str(folder)], check=True)
    return folder


class Replay:
    """Plays files that the program drew."""

    def __init__(self, folder, run):
        self.x, self.v, self.e = (np.load(folder / f"{name}.npy")[run] for name in ("contexts", "scores", "noise"))

    def contexts(self, t):
        return self.x[t]

    def expected(self, t):
        return self.v[t]


class WithNoise(Replay):
    def noise(self, t):
        return self.e[t]


class WithFeedback(Replay):
    def feedback(self, t, arms):
        return self.v[t, arms] + self.e[t, arms]


OURS = {"agents": ["cn-ucb", "comblin-ucb", "best"], "rounds": 30, **{k: v for k, v in SMALL.items() if k not in (*SIZES, "environment")}}


def test_an_environment_that_replays_is_the_npy_environment(draws):
    files = {"contexts": draws / "contexts.npy", "scores": draws / "scores.npy"}
    npy = superarm.run("npy", **OURS, **files, noise_values=draws / "noise.npy")
    own = superarm.run(lambda run: WithNoise(draws, run), **OURS)
    assert (own.options["arms"], own.options["dim"], own.options["environment"]) == (8, 5, "own")
    answered = superarm.run(lambda run: WithFeedback(draws, run), **OURS)
    for label in npy.labels:
        for name in ("expected_regret", "realised_regret", "reward"):
            np.testing.assert_array_equal(getattr(own, name)[label], getattr(npy, name)[label])
        np.testing.assert_array_equal(answered.expected_regret[label], npy.expected_regret[label])
        np.testing.assert_array_equal(answered.reward[label], npy.reward[label])
    # nobody knows what another slate would have got: the best expected reward, the same for all, minus the reward
    best = answered.realised_regret["best"] + answered.reward["best"]
    np.testing.assert_allclose(answered.realised_regret["cn-ucb"] + answered.reward["cn-ucb"], best, atol=1e-12)
    # noise as the option has it, and clicks over it
    for more in ({"noise": 0.3}, {"clicks": "cascade"}):
        npy, own = superarm.run("npy", **OURS, **files, **more), superarm.run(lambda run: Replay(draws, run), **OURS, **more)
        np.testing.assert_array_equal(own.realised_regret["cn-ucb"], npy.realised_regret["cn-ucb"])


class World:
    """Written out: three arms worth 3, 2 and 1 less at odd rounds; the second place is looked at every other time."""

    rounds, arms, dim = 6, 3, 2

    def contexts(self, t):
        return [[1, 0], [0, 1], [1, 1]]

    def expected(self, t):
        return [3, 2, 1] if t % 2 == 0 else [0, 0, 0]

    def feedback(self, t, arms):
        return [10.0 if arm == 0 else 5.0 for arm in arms], [True, t % 2 == 0]


def test_regret_and_reward_written_out():
    class Last:
        def select(self, contexts, k):
            return [2, 0]

        def update(self, arms, scores, observed):
            assert np.isnan(scores[~observed]).all() and observed[0]

    results = superarm.run(World(), [Last(), "best"], slate=2, runs=2)
    assert results.rounds == 6 and results.options["dim"] == 2
    for run in range(2):
        np.testing.assert_array_equal(results.expected_regret["Last"][run], [1, 1, 2, 2, 3, 3])  # 3 + 2 less 1 + 3, at even rounds
        np.testing.assert_array_equal(results.reward["Last"][run], [15, 20, 35, 40, 55, 60])
        np.testing.assert_array_equal(results.realised_regret["Last"][run], [-10, -15, -25, -30, -40, -45])  # 5 or 0 less that
        np.testing.assert_array_equal(results.expected_regret["best"][run], 0)


def test_rounds_may_have_fewer_arms():
    class Varying:
        varies, arms = True, 5

        def contexts(self, t):
            return np.eye(5)[:t % 5 + 1]

        def expected(self, t):
            return np.arange(t % 5 + 1)

    results = superarm.run(Varying(), ["best", "comblin-ucb"], rounds=20, runs=1, slate=2)
    assert (results.expected_regret["best"] == 0).all()


class Faulty(World):
    """Gives something wrong at t = 4 of run 1."""

    def __init__(self, run, method, wrong):
        self.run, self.method, self.wrong = run, method, wrong

    def give(self, method, t, right):
        if not (self.run == 1 and t == 4 and self.method == method):
            return right
        if isinstance(self.wrong, Exception):
            raise self.wrong
        return self.wrong

    def contexts(self, t):
        return self.give("contexts", t, super().contexts(t))

    def expected(self, t):
        return self.give("expected", t, super().expected(t))

    def feedback(self, t, arms):
        return self.give("feedback", t, [1.0] * len(arms))


@pytest.mark.parametrize("method", ["contexts", "expected", "feedback"])
def test_exceptions_in_an_environment_come_out_as_themselves(method):
    error = ArithmeticError("mine")
    with pytest.raises(ArithmeticError) as caught:
        superarm.run(lambda run: Faulty(run, method, error), ["random"], slate=2, runs=3)
    assert caught.value is error and notes(error) == "the environment, run 1, t = 4"


@pytest.mark.parametrize("method, wrong, words", [
    ("contexts", np.zeros((3, 3)), r"the shape is \(3, 3\), and \(3, 2\) is wanted"),
    ("contexts", np.zeros((4, 2)), "there are 4 arms, and there were to be at most 3"),
    ("contexts", np.zeros((2, 2)), "2 arms in this round instead of 3"),
    ("contexts", np.full((3, 2), np.nan), "run 1, round 5: your environment gives arm 0 a feature 0 of nan"),
    ("contexts", None, "contexts of Faulty returned None"),
    ("expected", None, "expected of Faulty returned None"),
    ("feedback", None, "feedback of Faulty returned None"),
    ("expected", [1, 2], r"expected: the shape is \(2,\), and \(3,\)"),
    ("expected", [1, 2, np.inf], "an expected score of inf"),
    ("feedback", [1, 2, 3], r"feedback: the shape is \(3,\), and \(2,\)"),
    ("feedback", [1, np.nan], "say which scores were observed"),
    ("feedback", ([1, np.nan], [True, True]), "a score that was observed is nan"),
    ("feedback", ([1, 2], [True]), "observed: the shape is"),
    ("feedback", [1, np.inf], "a score of inf"),
])
def test_wrong_environments(method, wrong, words):
    with pytest.raises(superarm.InputError, match=words):
        superarm.run(lambda run: Faulty(run, method, wrong), ["random"], slate=2, runs=3, threads=1)


def test_what_does_not_go_together():
    with pytest.raises(superarm.InputError, match="--clicks says what is seen"):
        superarm.run(World(), ["random"], slate=2, clicks="cascade")
    with pytest.raises(superarm.InputError, match="--rounds 7 is more than the 6 rounds of your environment"):
        superarm.run(World(), ["random"], slate=2, rounds=7)
    with pytest.raises(superarm.InputError, match="--arms 4 contradicts your environment"):
        superarm.run(World(), ["random"], slate=2, arms=4)
    with pytest.raises(superarm.InputError, match="--slate 4 is more than the 3 arms of your environment"):
        superarm.run(World(), ["random"], slate=4)


# ---- oracles ----


class Top:
    alpha = 1.0

    def __init__(self):
        self.threads = set()

    def solve(self, scores, k):
        self.threads.add(threading.get_ident())
        return np.argsort(-scores, kind="stable")[:k]


def test_an_oracle_of_ones_own_is_top_k():
    plain, own = superarm.run(agents=["cn-ucb", "best"], **SMALL), superarm.run(agents=["cn-ucb", "best"], **SMALL, oracle=Top())
    for label in plain.labels:
        np.testing.assert_array_equal(own.expected_regret[label], plain.expected_regret[label])
        np.testing.assert_array_equal(own.realised_regret[label], plain.realised_regret[label])


def test_alpha_and_a_reward_of_its_own():
    class Half(Top):
        alpha = 0.5

        def reward(self, scores, arms):
            return 1 + scores[arms].max()

    results = superarm.run(World(), ["best"], slate=2, runs=1, oracle=Half())
    np.testing.assert_array_equal(results.expected_regret["best"][0], np.zeros(6))  # nobody knows the best: against the oracle's slate


@pytest.mark.parametrize("method", ["solve", "reward"])
def test_exceptions_in_an_oracle_come_out_as_themselves(method):
    class Bad(Top):
        def reward(self, scores, arms):
            if method == "reward":
                raise BufferError("mine")
            return 0.0

        def solve(self, scores, k):
            if method == "solve":
                raise BufferError("mine")
            return super().solve(scores, k)

    with pytest.raises(BufferError, match="mine") as caught:
        superarm.run(agents=["random"], **PLAIN, oracle=Bad())
    assert "agent random, run " in notes(caught.value)


@pytest.mark.parametrize("wrong, words", [([0, 0, 1], "your oracle chose arm 0 twice"), ([9], "your oracle chose arm 9"), ([-1], "there is -1")])
def test_wrong_slates_of_an_oracle(wrong, words):
    class Bad:
        alpha = 1.0

        def solve(self, scores, k):
            return wrong

    with pytest.raises(superarm.InputError, match=words):
        superarm.run(agents=["random"], **PLAIN, oracle=Bad())


# ---- folders ----


def test_a_folder_with_ones_own_in_it(tmp_path):
    results = superarm.run(agents={"mine": Counting, "best": "best"}, **SMALL, out=tmp_path / "out")
    again = superarm.load(tmp_path / "out")
    np.testing.assert_array_equal(again.reward["mine"], results.reward["mine"])
    assert again.agents["mine"]["algorithm"] == "own"
    subprocess.run([PROGRAM, "report", str(tmp_path / "out")], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([PROGRAM, "run", str(tmp_path / "out/spec.yaml"), "--out", str(tmp_path / "again")], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "the caller's own code" in done.stderr
    more = superarm.run(agents={"mine": Counting, "best": "best"}, **SMALL, out=tmp_path / "out", resume=True)
    np.testing.assert_array_equal(more.reward["mine"], results.reward["mine"])
