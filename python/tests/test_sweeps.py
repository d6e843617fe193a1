"""superarm.sweep is the program's, and runs in processes give the bytes of threads."""

import json
import os
import re
import subprocess

import numpy as np
import pytest

import superarm

SMALL = dict(rounds=25, runs=3, arms=6, slate=2, dim=4, hidden=8)
PLAIN = {name: value for name, value in SMALL.items() if name not in ("hidden", "train_steps")}  # where no agent has a network


def same_curves(one, other):
    assert one.labels == other.labels
    for label in one.labels:
        for name in ("expected_regret", "realised_regret", "reward"):
            assert getattr(one, name)[label].tobytes() == getattr(other, name)[label].tobytes(), (label, name)


class Epsilon:
    """The best by mean score of its nearest neighbour in features, and now and then any."""

    def __init__(self, epsilon=0.1, power=1, run=0):
        self.epsilon, self.power = epsilon, power
        self.rng = np.random.default_rng(run)
        self.sum, self.count = np.zeros(4), 1

    def select(self, contexts, k):
        if self.rng.random() < self.epsilon:
            return self.rng.permutation(len(contexts))[:k]
        return np.argsort(-(contexts @ self.sum) ** self.power, kind="stable")[:k]

    def update(self, arms, scores, contexts):
        self.sum += scores @ contexts


def test_a_sweep_is_the_programs(tmp_path):
    spec = {"environment": "h2", "algorithm": "cn-ucb", **SMALL, "grid": {"gamma": [0.1, 1], "noise": [0, 0.1]}}
    (tmp_path / "sweep.yaml").write_text(json.dumps(spec))
    program = os.environ["SUPERARM"]
    subprocess.run([program, "sweep", tmp_path / "sweep.yaml", "--out", tmp_path / "theirs", "--quiet"], check=True)
    ours = superarm.sweep("h2", "cn-ucb", grid={"gamma": [0.1, 1], "noise": [0, 0.1]}, **SMALL, out=tmp_path / "ours")
    theirs = superarm.load(tmp_path / "theirs")
    assert set(ours.labels) == {"gamma=0.1,noise=0", "gamma=0.1,noise=0.1", "gamma=1,noise=0", "gamma=1,noise=0.1"}
    same_curves(ours, theirs)
    same_curves(superarm.load(tmp_path / "ours"), theirs)
    assert superarm.load(tmp_path / "ours").agents["gamma=1,noise=0.1"]["options"]["noise"] == 0.1


def test_the_best_cells(tmp_path):
    """The report's words on each cell, from the curves by hand: t of 0.975 with 4 degrees of freedom is 2.776445."""
    results = superarm.sweep("h2", "cn-ucb", grid={"gamma": [0.1, 1, 30], "noise": [0, 0.5]}, **{**SMALL, "rounds": 60, "runs": 5},
                             out=tmp_path / "out")
    done = subprocess.run([os.environ["SUPERARM"], "report", tmp_path / "out"], check=True, stdout=subprocess.PIPE, text=True)
    said = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words and words[0].startswith("gamma="):
            said[words[0]] = "best" if "best" in words else "not worse" if "worse" in words else ""
    assert set(said) == set(results.labels) and sorted(said.values()).count("best") == 2
    for noise in ("0", "0.5"):
        ends = {label: results.expected_regret[label][:, -1] for label in results.labels if label.endswith(f"noise={noise}")}
        best = min(ends, key=lambda label: ends[label].mean())
        for label, end in ends.items():
            difference = end - ends[best]
            low = difference.mean() - 2.776445 * difference.std(ddof=1) / np.sqrt(5)
            assert said[label] == ("best" if label == best else "not worse" if low <= 0 else ""), (label, said)
    svg = (tmp_path / "out/sweep.svg").read_text()
    shown = re.findall(r"<text>(?:<tspan[^>]*>)?([^<]*)", svg)
    decimals = {len(word.partition(".")[2]) for word in shown if re.fullmatch(r"\d+\.\d+", word) and word not in ("0.1", "0.5")}
    assert len(decimals) == 1  # one format in all cells and on the bar
    for label, curves in results.expected_regret.items():
        assert f"{curves[:, -1].mean():.{min(decimals)}f}" in shown, label
    assert {"gamma", "noise", "30"} <= set(shown) and "expected" in svg
    assert svg.upper().count("#D00000") or svg.count("rgb(208,   0,   0)")  # the frames
    assert (tmp_path / "out/sweep.pdf").read_bytes()[:5] == b"%PDF-" and (tmp_path / "out/sweep.png").read_bytes()[1:4] == b"PNG"


def test_parameters_of_ones_own(tmp_path):
    results = superarm.sweep("h1", Epsilon, grid={"epsilon": [0, 0.5], "power": [1, 3]}, **SMALL, processes=2)
    assert results.labels == ["epsilon=0,power=1", "epsilon=0,power=3", "epsilon=0.5,power=1", "epsilon=0.5,power=3"]
    alone = superarm.run("h1", {"epsilon=0.5,power=1": lambda run: Epsilon(0.5, 1, run)}, **SMALL)
    label = "epsilon=0.5,power=1"
    assert alone.reward[label].tobytes() == results.reward[label].tobytes()
    both = superarm.sweep("h1", {"a": Epsilon, "b": Epsilon}, grid={"epsilon": [0], "noise": [0, 1]}, **SMALL)
    assert set(both.labels) == {"a,epsilon=0,noise=0", "b,epsilon=0,noise=0", "a,epsilon=0,noise=1", "b,epsilon=0,noise=1"}


@pytest.mark.parametrize("processes", [2, 5])
def test_processes_give_the_same(tmp_path, processes):
    agents = {"mine": Epsilon, "ucb": "cn-ucb"}
    expected = superarm.run("h2", agents, **SMALL)
    seen = []
    results = superarm.run("h2", agents, **SMALL, processes=processes, progress=seen.append)
    same_curves(results, expected)
    assert results.folder is None and seen and seen[0].jobs == 6
    kept = superarm.run("h2", agents, **SMALL, processes=processes, out=tmp_path / "kept")
    same_curves(kept, expected)
    same_curves(superarm.load(tmp_path / "kept"), expected)
    assert not (tmp_path / "kept/parts").exists()
    more = superarm.run("h2", agents, **{**SMALL, "runs": 5}, processes=2, out=tmp_path / "kept", resume=True)
    same_curves(more, superarm.run("h2", agents, **{**SMALL, "runs": 5}))


def test_what_fails_in_a_process_comes_back(tmp_path):
    class Falls(Epsilon):
        def update(self, arms, scores, contexts):
            raise ZeroDivisionError("no ground")

    with pytest.raises(ZeroDivisionError, match="no ground") as caught:
        superarm.run("h1", Falls, **SMALL, processes=2)
    assert any("agent Falls, run" in note for note in caught.value.__notes__)

    class Ends(Epsilon):
        def update(self, arms, scores, contexts):
            os._exit(3)

    with pytest.raises(superarm.Error, match="ended with exit code 3"):
        superarm.run("h1", Ends, **SMALL, processes=2)
    with pytest.raises(superarm.InputError, match="--slate 9 is more than --arms 6"):
        superarm.run("h1", Epsilon, **{**SMALL, "slate": 9}, processes=2)
    with pytest.raises(superarm.InputError, match="processes is 0"):
        superarm.run("h1", Epsilon, **SMALL, processes=0)


def test_it_grows(tmp_path):
    superarm.run("h2", ["cn-ucb", Epsilon], **SMALL, out=tmp_path / "grown")
    grown = superarm.run("h2", ["cn-ts"], **SMALL, out=tmp_path / "grown", resume=True)
    assert grown.labels == ["cn-ucb", "Epsilon", "cn-ts"]
    with pytest.raises(superarm.InputError, match="agent Epsilon is code of yours, without which run 3 cannot be made"):
        superarm.run("h2", ["cn-ts"], **{**SMALL, "runs": 4}, out=tmp_path / "grown", resume=True)
    begun = superarm.run("h2", ["cn-ts"], **SMALL, out=tmp_path / "new", resume=True)  # where nothing is there it begins
    assert begun.labels == ["cn-ts"] and (tmp_path / "new" / "summary.json").exists()


def test_an_environment_that_does_not_repeat_itself():
    class Forgetful:
        rng = np.random.default_rng(1)

        def contexts(self, t):
            return self.rng.normal(size=(6, 4))

        def expected(self, t):
            return np.zeros(6)

    with pytest.raises(superarm.InputError, match="other contexts when round 1 of run 0 is asked for again"):
        superarm.run(Forgetful, ["random"], rounds=5, runs=1, slate=2)


def test_runs_that_are_alike():
    class Same:
        def contexts(self, t):
            return np.random.default_rng(t).normal(size=(6, 4))

        def expected(self, t):
            return self.contexts(t)[:, 0]

    results = superarm.run(Same, ["comblin-ucb", "random"], rounds=5, runs=3, slate=2, noise=0)
    lines = results.summary(as_dict=True)
    assert np.isnan(lines["comblin-ucb"]["expected_regret_sd"]) and lines["random"]["expected_regret_sd"] > 0


def test_wrong_grids():
    for grid, words in (({}, "grid is empty"), ({"gamma": 3}, "a list of values is wanted"), ({"gamma": "12"}, "a list of values"),
                        ({"gamma": []}, "gamma has no values"), ({"gamma": [-1]}, "less than 0"), ({"nonsense": [1]}, "nonsense is no option"),
                        ({"runs": [1, 2]}, "--runs is one for all cells")):
        with pytest.raises(superarm.InputError, match=words):
            superarm.sweep("h1", "cn-ucb", grid=grid, **SMALL)
    with pytest.raises(superarm.InputError, match="neither an option nor a parameter of Epsilon"):
        superarm.sweep("h1", Epsilon, grid={"nonsense": [1]}, **SMALL)
    with pytest.raises(superarm.InputError, match="agent Epsilon is code of yours, which --gamma does not change"):
        superarm.sweep("h1", Epsilon, grid={"gamma": [1, 2]}, **SMALL)


def test_choosing_and_judging_apart(tmp_path):
    """The cell is the best of the first runs, and its numbers are those of the last ones; both from the curves by hand."""
    grid = ["--grid", "gamma=0.1,1,3,10", "--grid", "noise=0.1,0.5"]
    call = [os.environ["SUPERARM"], "sweep", "--environment", "h1", "--algorithm", "comblin-ucb", *grid, "--dim", "4", "--rounds", "40", "--arms", "6"]
    done = subprocess.run([*call, "--runs", "7", "--judge", "4", "--out", tmp_path / "out"], check=True, stdout=subprocess.PIPE, text=True)
    said = re.findall(r"chosen by 3 runs: (\S+), mean (\S+) there; judged by 4 others: mean (\S+), sd (\S+), 95% interval (\S+) to (\S+)", done.stdout)
    assert len(said) == 2  # one for each environment
    ends = {label: curves[:, -1] for label, curves in superarm.load(tmp_path / "out").expected_regret.items()}
    for noise, (label, *numbers) in zip(("0.1", "0.5"), said):
        assert label == min((one for one in ends if one.endswith(f"noise={noise}")), key=lambda one: ends[one][:3].mean())
        later = ends[label][3:]
        half = 3.182446305 * later.std(ddof=1) / 2  # Student's quantile with 3 degrees of freedom
        wanted = [ends[label][:3].mean(), later.mean(), later.std(ddof=1), later.mean() - half, later.mean() + half]
        np.testing.assert_allclose(np.array(numbers, float), wanted, rtol=1e-4)
    assert "judged by 4 others" in (tmp_path / "out/report.html").read_text()
    again = subprocess.run([call[0], "report", tmp_path / "out", "--judge", "1"], check=True, stdout=subprocess.PIPE, text=True)
    assert "chosen by 6 runs: " in again.stdout and "judged by 1 other: mean" in again.stdout and "nan" not in again.stdout
    for wrong in ("7", "0", "x", "-1", ""):
        for words in ([*call, "--runs", "7", "--judge", wrong, "--out", tmp_path / "none"], [call[0], "report", tmp_path / "out", "--judge", wrong]):
            refused = subprocess.run(words, stderr=subprocess.PIPE, text=True)
            assert refused.returncode == 2 and "--judge" in refused.stderr, words
    assert not (tmp_path / "none").exists()


def test_a_sweep_over_what_is_estimated_says_so(tmp_path):
    for preset, says in (("tuned", True), ("paper", False)):
        done = subprocess.run([os.environ["SUPERARM"], "sweep", "--environment", "h1", "--algorithm", "comblin-ucb", "--preset", preset, "--grid", "lambda=0.1,1",
                               "--rounds", "20", "--runs", "2", "--dim", "4", "--out", tmp_path / preset], check=True, stdout=subprocess.PIPE, text=True)
        assert ("is estimated from feedback" in done.stdout) == says


def test_titles_and_captions_say_what_is_there(tmp_path):
    """A sweep over data does not know their d; a caption speaks of the columns that there are."""
    table = tmp_path / "table.csv"
    table.write_text("a,b,label\n" + "".join(f"{i / 7:.3f},{(i * i) % 5},{'xy'[i % 2]}\n" for i in range(20)))
    done = subprocess.run([os.environ["SUPERARM"], "sweep", "--environment", "classes", "--data", table, "--header", "--label", "label", "--slate", "1", "--grid", "gamma=0.3,1", "--runs", "3",
                           "--rounds", "10", "--hidden", "4", "--out", tmp_path / "out"], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.startswith("classes: sweep over gamma: "), done.stdout
    captions = {"mean,sd": (False, False, False), "mean,interval": (True, False, False), "mean,p": (False, False, True), "difference,holm": (False, True, False)}
    for columns, wanted in captions.items():
        subprocess.run([os.environ["SUPERARM"], "report", tmp_path / "out", "--format", "latex", "--columns", columns, "--quiet"], stdout=subprocess.PIPE, check=True)
        caption = next(line for line in (tmp_path / "out/table.tex").read_text().splitlines() if line.startswith("\\caption"))
        assert ("intervals" in caption, "; differences" in caption, "; p-values" in caption) == wanted, caption
