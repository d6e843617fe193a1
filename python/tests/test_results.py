"""What results can do for a paper: frames, differences with p-values, reports, LaTeX, notebooks."""

import math

import numpy as np
import pytest

import superarm
from superarm.results import _paired_p

SMALL = {"rounds": 40, "arms": 6, "dim": 4, "slate": 2, "runs": 4, "progress": False}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return superarm.run("h1", ["comblin-ucb", "random", "c2ucb"], out=tmp_path_factory.mktemp("results") / "out", preset="paper", **SMALL)


def student_tail(t, freedom):
    """By Simpson's rule over the density: no code or formula of ours."""
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    x = np.linspace(0, abs(t), 200001)
    y = constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    inside = (x[1] - x[0]) / 3 * (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum())
    return 1 - 2 * inside


@pytest.mark.parametrize("runs", [2, 3, 5, 20, 100])
def test_p_values(runs):
    rng = np.random.default_rng(runs)
    for shift in (0, 0.1, 0.5, 2):
        apart = rng.normal(size=runs) + shift
        t = apart.mean() / (apart.std(ddof=1) / math.sqrt(runs))
        assert _paired_p(apart) == pytest.approx(student_tail(t, runs - 1), abs=1e-10)
    assert math.isnan(_paired_p(np.ones(1))) and _paired_p(np.zeros(3)) == 1


def test_differences(results):
    found = results.differences("random")
    for label in ("comblin-ucb", "c2ucb"):
        apart = results.expected_regret[label][:, -1] - results.expected_regret["random"][:, -1]
        assert found[label]["mean"] == pytest.approx(apart.mean()) and found[label]["sd"] == pytest.approx(apart.std(ddof=1))
        assert found[label]["low"] == pytest.approx(apart.mean() - 3.182446305284263 * apart.std(ddof=1) / 2)
    low, high = sorted(found.values(), key=lambda line: line["p"])
    assert low["holm"] == pytest.approx(min(1, 2 * low["p"])) and high["holm"] == pytest.approx(max(low["holm"], high["p"]))
    with pytest.raises(superarm.InputError, match="there is no agent 'cn-ts'"):
        results.differences("cn-ts")


def test_frames(results):
    pandas = pytest.importorskip("pandas")
    long = results.to_frame(long=True)
    assert list(long.columns) == ["label", "display", "run", "round", "expected_regret", "realised_regret", "reward"] and len(long) == 3 * 4 * 40
    row = long[(long.label == "random") & (long.run == 2) & (long["round"] == 7)].iloc[0]
    assert row.expected_regret == results.expected_regret["random"][2, 6] and row.display == "random"
    assert isinstance(results.to_frame(), pandas.DataFrame) and results.to_frame().loc["c2ucb", "display"] == "C2UCB"


def test_report_and_latex(results, tmp_path):
    page = results.report(tmp_path / "page", band="se", against="random")
    assert page.endswith("report.html") and "minus random" in open(page, encoding="utf-8").read()
    table = results.latex(columns="mean,sd", agent=["random", "c2ucb:Theirs"])
    assert "\\toprule" in table and "Theirs" in table and "CombLinUCB" not in table and "{lrr}" in table
    with pytest.raises(superarm.InputError, match="--columns median is not one of"):
        results.latex(columns="median")
    with pytest.raises(superarm.InputError, match="run with out="):
        superarm.run("h1", "random", **SMALL).report()


def test_notebook(results):
    shown = results._repr_html_()
    mean = results.expected_regret["comblin-ucb"][:, -1].mean()
    assert "<th>CombLinUCB</th>" in shown and f"<td>{mean:.5g}</td>" in shown


def test_resume_begins(tmp_path):
    first = superarm.run("h1", "random", out=tmp_path / "new", resume=True, **SMALL)
    again = superarm.run("h1", "random", out=tmp_path / "new", resume=True, **{**SMALL, "runs": 5})
    assert again.runs == 5 and (again.expected_regret["random"][:4] == first.expected_regret["random"]).all()


def test_small_figure(tmp_path):
    """3.25 x 2.4 inches, ten agents: nothing outside of the canvas, and the legend in the lowest fifth."""
    import re

    agents = {f"agent number {index}": {"algorithm": "random"} for index in range(10)}
    found = superarm.run("h1", agents, out=tmp_path / "ten", **SMALL)
    found.report(tmp_path / "figure", size="3.25x2.4", format="latex")
    svg = (tmp_path / "figure" / "regret.svg").read_text()
    width, height = 312, 230
    assert f'width="{width}" height="{height}"' in svg
    texts = [(float(x), float(y), text) for x, y, text in re.findall(
        r'<g transform="translate\(([\d.]+),([\d.]+)\)[^>]*>\s*<text>(.*?)</text>', svg, re.S)]
    assert len(texts) > 20 and all(0 <= x <= width and 0 <= y <= height for x, y, _ in texts)
    legend = [(x, y) for x, y, text in texts if "agent" in text]
    assert len(legend) == 10 and min(y for _, y in legend) > 0.78 * height
    lines = sorted({y for _, y in legend})
    assert all(other - one > 4 for one, other in zip(lines, lines[1:])), "lines of the legend stand apart"
