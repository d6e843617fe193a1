"""superarm.run: results, folders, progress, stopping."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import superarm

PROGRAM = os.environ.get("SUPERARM", "build/superarm")
SMALL = {"environment": "h2", "arms": 8, "slate": 3, "dim": 5, "rounds": 30, "runs": 3, "hidden": 8, "train_steps": 5}
PLAIN = {name: value for name, value in SMALL.items() if name not in ("hidden", "train_steps")}  # where no agent has a network


def flags(**options):
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def program(*words, **options):
    subprocess.run([PROGRAM, *words, *flags(**options), "--quiet"], check=True)


def same_curves(one, other):
    assert one.labels == other.labels
    for name in ("expected_regret", "realised_regret", "reward", "clicks"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert list(ours) == list(theirs)
        for label in ours:
            assert ours[label].dtype == np.float64 and ours[label].tobytes() == theirs[label].tobytes(), (name, label)


# ---- the same as the program's ----


def test_the_folder_is_the_programs(tmp_path):
    program("run", **SMALL, algorithm="cn-ucb,comblin-ts,random", out=tmp_path / "theirs")
    results = superarm.run(agents=["cn-ucb", "comblin-ts", "random"], **SMALL, out=tmp_path / "ours", threads=2)
    for label in results.labels:
        for name in ("expected_regret", "realised_regret", "reward"):
            file = f"{label}/{name}.npy"
            assert (tmp_path / "ours" / file).read_bytes() == (tmp_path / "theirs" / file).read_bytes()
    assert (tmp_path / "ours/spec.yaml").read_bytes() == (tmp_path / "theirs/spec.yaml").read_bytes()
    same_curves(results, superarm.load(tmp_path / "theirs"))
    same_curves(results, superarm.load(str(tmp_path / "ours")))
    assert results.options == superarm.load(tmp_path / "theirs").options
    assert results.agents["cn-ucb"]["options"] == superarm.load(tmp_path / "ours").agents["cn-ucb"]["options"]
    assert results.agents["cn-ucb"].keys() == superarm.load(tmp_path / "ours").agents["cn-ucb"].keys()
    summary = json.loads((tmp_path / "theirs/summary.json").read_text())["agents"]["cn-ucb"]
    line = results.summary(as_dict=True)["cn-ucb"]
    assert [line[f"expected_regret{end}"] for end in ("", "_sd", "_low", "_high")] == [
        summary["expected_regret"]["mean"], summary["expected_regret"]["sd"], *summary["expected_regret"]["ci95"]]
    assert line["expected_regret_worst"] == results.expected_regret["cn-ucb"][:, -1].max()
    subprocess.run([PROGRAM, "report", str(tmp_path / "ours")], check=True, stdout=subprocess.DEVNULL)


def test_agents_with_options_of_their_own(tmp_path):
    program("run", "--agent", "shy:algorithm=cn-ucb,gamma=0.1", "--agent", "cn-ts:algorithm=cn-ts", **SMALL, out=tmp_path / "theirs")
    theirs = superarm.load(tmp_path / "theirs")
    shy, sampling = {"algorithm": "cn-ucb", "gamma": 0.1}, {"algorithm": "cn-ts"}
    for agents in ([{"label": "shy", **shy}, sampling], {"shy": shy, "cn-ts": "cn-ts"}, [{"label": "shy", **shy}, "cn-ts"]):
        same_curves(superarm.run(agents=agents, **SMALL), theirs)
    same_curves(superarm.run(agents=(agent for agent in [{"label": "shy", **shy}, sampling]), **SMALL, threads=1), theirs)
    assert theirs.agents["shy"]["options"]["gamma"] == 0.1
    again = superarm.run(spec=tmp_path / "theirs/spec.yaml", runs=2)
    np.testing.assert_array_equal(again.reward["shy"], theirs.reward["shy"][:2])
    (tmp_path / "seeded.yaml").write_text("seed: 7\nrounds: 3\nruns: 1\nalgorithm: random\n")
    for given, seed in (({}, 7), ({"random_state": 1}, 1)):
        assert superarm.run(spec=tmp_path / "seeded.yaml", **given).options["seed"] == seed


def test_clicks_are_there_where_users_click():
    results = superarm.run(agents="cn-ucb", **SMALL, clicks="position", examination=[0.9, 0.5, 0.2], preset="paper")
    assert results.clicks["cn-ucb"].shape == (3, 30) and "clicks_sd" in results.summary(as_dict=True)["cn-ucb"]
    assert superarm.run(agents="random", **PLAIN).clicks == {}


def test_seeds():
    one, same, other = (superarm.run(agents="random", **PLAIN, random_state=seed).reward["random"] for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()
    assert superarm.run(agents="random", **{**PLAIN, "rounds": 1}, random_state=None).options["seed"] != 1


# ---- results ----


@pytest.fixture(scope="module")
def results():
    return superarm.run(agents=["random", "best"], **PLAIN, clicks="cascade")


def test_a_summary_is_a_frame(results):
    import pandas

    frame, lines = results.summary(), results.summary(as_dict=True)
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == ["random", "best"]
    assert frame.loc["random", "expected_regret"] == lines["random"]["expected_regret"]


def test_a_summary_is_a_dict_without_pandas(results, monkeypatch):
    lines = results.summary(as_dict=True)
    assert lines["random"]["expected_regret"] > 0
    assert lines["best"]["expected_regret"] == 0 and lines["best"]["runs"] == 3 and lines["best"]["rounds"] == 30
    ends = results.realised_regret["random"][:, -1]
    np.testing.assert_allclose([lines["random"]["realised_regret"], lines["random"]["realised_regret_sd"]], [ends.mean(), ends.std(ddof=1)])
    half = 4.302652729911275 * ends.std(ddof=1) / 3**0.5  # Student's quantile with 2 degrees of freedom, from a table
    np.testing.assert_allclose(lines["random"]["realised_regret_high"], ends.mean() + half, rtol=1e-9)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert results.summary() == lines
    with pytest.raises(ImportError):
        results.summary(as_dict=False)
    assert repr(results) == "Results(random, best: 3 runs of 30 rounds)"


def test_one_run_has_no_spread():
    line = superarm.run(agents="random", **{**PLAIN, "runs": 1}).summary(as_dict=True)["random"]
    assert line["expected_regret"] > 0 and np.isnan(line["expected_regret_sd"])


def test_folders_that_are_none(tmp_path):
    with pytest.raises(superarm.FileError, match="no summary.json"):
        superarm.load(tmp_path)
    with pytest.raises(superarm.FileError):
        superarm.load(tmp_path / "absent")
    superarm.run(agents="random", **PLAIN, out=tmp_path / "out")
    curves = (tmp_path / "out/random/reward.npy").read_bytes()
    for damage, error in ((curves[:200], superarm.FormatError), (b"", superarm.Error)):
        (tmp_path / "out/random/reward.npy").write_bytes(damage)
        with pytest.raises(error):
            superarm.load(tmp_path / "out")
    np.save(tmp_path / "out/random/reward.npy", np.zeros((3, 29)))
    with pytest.raises(superarm.FormatError, match=r"\(3, 29\)"):
        superarm.load(tmp_path / "out")
    (tmp_path / "out/random/reward.npy").unlink()
    with pytest.raises(superarm.FileError):
        superarm.load(tmp_path / "out")
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    for change, error in (({"format": 99}, superarm.NewerVersion), ({"format": "1"}, superarm.FormatError), ({"agents": 3}, superarm.FormatError),
                          ({"agents": {"a": {}}}, superarm.FormatError)):
        (tmp_path / "out/summary.json").write_text(json.dumps({**summary, **change}))
        with pytest.raises(error):
            superarm.load(tmp_path / "out")
    (tmp_path / "out/summary.json").write_text("{")
    with pytest.raises(superarm.FormatError):
        superarm.load(tmp_path / "out")
    (tmp_path / "out/summary.json").unlink()
    with pytest.raises(superarm.InputError, match="unfinished"):
        superarm.load(tmp_path / "out")


def test_agents_replace_those_of_a_spec(tmp_path):
    class Mine:
        def select(self, contexts, k):
            return range(k)

        def update(self, arms, scores):
            pass

    (tmp_path / "spec.yaml").write_text("algorithm: best\nseed: 5\nagents:\n  a: {algorithm: random}\n  Mine: {algorithm: random}\n")
    for agents, labels in (([Mine, "cn-ucb"], ["Mine", "cn-ucb"]), (["random"], ["random"]), ({"a": {"pending_limit": 2}}, ["a"]), (None, ["best", "a", "Mine"])):
        results = superarm.run(agents=agents, spec=tmp_path / "spec.yaml", **PLAIN)
        assert results.labels == labels and results.options["seed"] == 5
    superarm.run(agents=[Mine], **SMALL, out=tmp_path / "own")
    assert superarm.run(spec=tmp_path / "own" / "spec.yaml", agents=[Mine], runs=1).agents["Mine"]["algorithm"] == "own"


def test_nobody_to_show_progress_to(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    superarm.run(agents="random", progress=True, **PLAIN)


def test_help_shows_python():
    assert "random_state: 'Optional[int]' = 1," in str(inspect.signature(superarm.run))


# ---- wrong input ----


@pytest.mark.parametrize("given, words", [
    ({"environment": "h9"}, "--environment h9 is unknown"),
    ({"environment": "own"}, "--environment own is the caller's own code"),
    ({"agents": "cn-ucp"}, "cn-ucp"),
    ({"agents": []}, "agents is empty"),
    ({"agents": [{}]}, "neither a label nor an algorithm"),
    ({"agents": {"a": {}}}, "agent a: what is its algorithm"),
    ({"agents": ["random", "random"]}, "two agents are labelled random"),
    ({"agents": ["cn-ucb", {"algorithm": "cn-ucb", "gamma": 0.1}]}, "two agents are labelled cn-ucb"),
    ({"agents": [{"label": "a", "algorithm": "random"}, type("a", (), {"select": print, "update": print})]}, "two agents are labelled a"),
    ({"agents": [type("a", (), {"select": print, "update": print}), {"label": "a", "algorithm": "random"}]}, "two agents are labelled a"),
    ({"agents": {"a\0b": "random"}}, "zero character"),
    ({"agents": ["algorithm"]}, "--algorithm algorithm is not one of"),
    ({"spec": "a\0b"}, "zero character"),
    ({"agents": [{"algorithm": "random", "gama": 1}]}, "did you mean --gamma"),
    ({"agents": [{"algorithm": "random", "rounds": 1}]}, "--rounds is one for all agents"),
    ({"agents": [{"algorithm": "cn-ucb", "gamma": object()}]}, "gamma is a object"),
    ({"agents": [{"label": "a/b", "algorithm": "random"}]}, "must not have a '/'"),
    ({"agents": superarm.Agent(dim=5)}, "is an agent of ours"),
    ({"agents": [superarm.Agent]}, "is an agent of ours"),
    ({"agents": [3]}, "3 has no method select"),
    ({"agents": [lambda: 3]}, "3 has no method select"),
    ({"oracle": 3}, r"has no solve\(scores, k\)"),
    ({"oracle": "own"}, "--oracle own is the caller's own code"),
    ({"environment": 3}, "3 has no method contexts"),
    ({"slate": 9}, "--slate 9 is more than --arms 8"),
    ({"rounds": 0}, "--rounds 0"),
    ({"rounds": "many"}, "--rounds many"),
    ({"out": 3}, "out is 3"),
    ({"agent": "random"}, "agent is not an option; did you mean agents"),
    ({"randomstate": 3}, "did you mean random_state"),
    ({"round": 3}, "did you mean --rounds"),
    ({"agents": {"": "random"}}, "label must not be empty"),
    ({"agents": [{"label": "", "algorithm": "random"}]}, "label must not be empty"),
    ({"algorithm": "cn-ucb"}, "agents and algorithm both"),
    ({"seed": 1, "random_state": 1}, "random_state and seed"),
    ({"agents": [{"algorithm": "cn-ucb", "lambda_": 1, "regularization": 1}]}, "lambda_ and regularization"),
    ({"oracle": type("Bare", (), {"solve": print})()}, "has no alpha"),
    ({"resume": True}, "--resume needs --out"),
    ({"out": "/proc/1/x"}, "/proc/1/x"),
])
def test_wrong_input(given, words):
    with pytest.raises(superarm.Error, match=words):
        superarm.run(**{**PLAIN, "agents": "random", **given})


def test_a_folder_in_use_is_left_alone(tmp_path):
    superarm.run(agents="random", **PLAIN, out=tmp_path)
    with pytest.raises(superarm.InputError, match="holds a finished experiment"):
        superarm.run(agents="random", **PLAIN, out=tmp_path)
    superarm.run(agents="random", **PLAIN, out=tmp_path, resume=True)
    with pytest.raises(superarm.InputError, match="--slate is 2 here"):
        superarm.run(agents="random", **{**PLAIN, "slate": 2}, out=tmp_path, resume=True)


# ---- progress and stopping ----


def test_progress_is_told_and_can_stop(tmp_path):
    told = []
    superarm.run(agents=["random", "best"], **PLAIN, progress=told.append)
    assert told[-1].jobs == told[-1].jobs_done == 6 and told[-1].rounds_done == 1 and told[-1].label in ("random", "best")
    with pytest.raises(superarm.Interrupted, match="--resume"):
        superarm.run(agents="cn-ucb", **{**SMALL, "rounds": 2000}, out=tmp_path, progress=lambda now: True)

    def fails(now, least=0):
        if now.rounds_done >= least:
            raise LookupError("in progress")

    with pytest.raises(LookupError, match="in progress"):
        superarm.run(agents="cn-ucb", **{**SMALL, "rounds": 2000}, progress=fails)
    with pytest.raises(LookupError, match="in progress"):  # when all runs are done, too
        superarm.run(agents="random", **PLAIN, progress=lambda now: fails(now, least=1))


def test_a_bar_is_shown_where_it_is_wanted(capsys, monkeypatch):
    """Without tqdm; extra/test_large_packages.py has it with."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    superarm.run(agents="random", **PLAIN, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown and "3 of 3 runs" in shown and "random: regret" in shown
    superarm.run(agents="random", **PLAIN)  # no terminal
    superarm.run(agents="random", **PLAIN, progress=False)
    assert capsys.readouterr().err == ""


LONG = {**SMALL, "rounds": 300, "runs": 40, "train_steps": 20}
INTERRUPTED = """
import sys, superarm
class First:
    def select(self, contexts, k): return range(k)
    def update(self, arms, scores): pass
agents = ["cn-ucb"] if sys.argv[2] == "ours" else [First(), "cn-ucb"]
try:
    superarm.run(agents=agents, **{options!r}, out=sys.argv[1], threads=1, progress=lambda now: print(now.jobs_done, flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


@pytest.mark.parametrize("whose", ["ours", "own"])
def test_ctrl_c_ends_it_and_keeps_what_is_done(whose, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED.replace("{options!r}", repr(LONG)), str(tmp_path / "out"), whose],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in child.stdout:  # until a run is done
        if int(line) > 0:
            break
    child.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = child.communicate(timeout=120)
    assert child.returncode == -signal.SIGINT and out.endswith("interrupted\n") and "KeyboardInterrupt" in err
    assert time.monotonic() - sent < 60
    kept = len([name for name in os.listdir(tmp_path / "out/parts") if name.endswith(".npz")])
    assert 0 < kept < 40 * (1 if whose == "ours" else 2)
    if whose == "ours":
        results = superarm.run(agents="cn-ucb", **LONG, out=tmp_path / "out", resume=True)
        part = superarm.run(agents="cn-ucb", **{**LONG, "runs": 2})
        np.testing.assert_array_equal(results.reward["cn-ucb"][:2], part.reward["cn-ucb"])


class First:
    def select(self, contexts, k):
        return np.arange(k)

    def update(self, arms, scores):
        pass


def test_a_fork_while_a_run_goes_on(in_child):
    stop, failed = threading.Event(), []
    alone = superarm.run(agents="cn-ucb", **{**SMALL, "runs": 1}).reward["cn-ucb"]

    def work():
        try:
            superarm.run(agents=["cn-ucb", First()], **{**LONG, "rounds": 3000}, progress=lambda now: stop.is_set())
        except superarm.Interrupted:
            return
        except BaseException as error:
            failed.append(error)

    def child():
        again = superarm.run(agents=["cn-ucb", First()], **{**SMALL, "runs": 1})
        np.testing.assert_array_equal(again.reward["cn-ucb"], alone)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert all(in_child(child) for _ in range(20))
    finally:
        stop.set()
        thread.join(120)
    assert not thread.is_alive() and not failed


def test_runs_in_threads_at_the_same_time():
    alone = superarm.run(agents=["cn-ucb", First()], **SMALL)
    found = [None] * 3

    def work(index):
        found[index] = superarm.run(agents=["cn-ucb", First()], **SMALL, threads=1)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for results in found:
        same_curves(results, alone)
