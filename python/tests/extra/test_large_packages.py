"""What wants large packages: matplotlib, tqdm and PyTorch. `make check-extra` installs them and runs this; no other test asks for them."""

import os
import pathlib
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import torch

import superarm

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

PROGRAM = os.environ["SUPERARM"]
EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples/python/extra"
SMALL = {"rounds": 30, "runs": 3, "arms": 8, "slate": 2, "dim": 4, "hidden": 8}
PLAIN = {name: value for name, value in SMALL.items() if name != "hidden"}


@pytest.fixture(scope="module")
def results():
    return superarm.run(agents=["random", "best"], **PLAIN, clicks="cascade")


def test_a_plot_has_the_papers_names(results):
    axes = results.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Round", "Cumulative expected regret")
    assert [line.get_text() for line in axes.get_legend().get_texts()] == ["random", "best"]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), results.expected_regret["random"].mean(axis=0))
    curves = results.expected_regret["random"]
    high = axes.collections[0].get_paths()[0].vertices[:, 1].max()
    np.testing.assert_allclose(high, (curves.mean(axis=0) + curves.std(axis=0, ddof=1)).max())
    other = results.plot("clicks", ax=pyplot.subplots()[1], labels=["best"], band="ci95")
    assert other.get_ylabel() == "Clicks" and len(other.lines) == 1
    lines = results.summary(as_dict=True)["best"]
    assert abs(other.collections[0].get_paths()[0].vertices[:, 1].max() - lines["clicks_high"]) < 1e-9
    assert axes.get_legend().get_title().get_text() == "mean and one standard deviation"
    assert results.plot("realised_regret", labels="best").get_ylabel() == "Cumulative realised regret"
    assert results.plot("reward", band=None).get_ylabel() == "Cumulative reward"
    for wrong in ({"curve": "regrets"}, {"curve": 3}, {"curve": ""}, {"band": "var"}, {"labels": ["worst"]}, {"labels": "worst"}, {"labels": []}):
        with pytest.raises(superarm.InputError):
            results.plot(**wrong)
    pyplot.close("all")


def test_a_plot_looks_as_the_report(tmp_path):
    """The same names, colours and dashes as in the SVG; other bands; names of one's own."""
    agents = ["cn-ucb", "random", *({"label": f"other {i}", "algorithm": "random"} for i in range(11))]
    results = superarm.run(agents=agents, **{**SMALL, "rounds": 20}, out=tmp_path / "out")
    subprocess.run([PROGRAM, "report", tmp_path / "out", "--quiet"], check=True)
    page = (tmp_path / "out/report.html").read_text()
    axes = results.plot()
    shown = [(text.get_text(), matplotlib.colors.to_hex(line.get_color()).upper()) for text, line in zip(axes.get_legend().get_texts(), axes.lines)]
    assert shown[0] == ("CN-UCB (tuned)", "#0072B2") and len(shown) == 13
    swatch = r'<span><svg[^>]*><path [^>]*stroke="(#\w+)"[^>]*></path><path [^>]*></path></svg>([^<]*)</span>'
    legend = re.findall(swatch, page)[: len(shown)]
    assert [(name, colour.upper()) for colour, name in legend] == shown
    assert axes.lines[12].get_linestyle() != "-" or axes.lines[12].get_color() != axes.lines[1].get_color()
    curves = results.expected_regret["random"]
    for band, (low, high) in {"quartiles": (0.25, 0.75), "range": (0, 1)}.items():
        drawn = results.plot(labels={"random": "Chance"}, band=band)
        assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["Chance"]
        vertices = drawn.collections[0].get_paths()[0].vertices
        assert np.isclose(vertices[:, 1].max(), np.quantile(curves, high, axis=0).max())
        assert np.isclose(vertices[vertices[:, 0] == 20][:, 1].min(), np.quantile(curves[:, -1], low))


def test_tqdms_bar(capsys):
    superarm.run(agents="random", **PLAIN, progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown and "3 of 3 runs" in shown and "random: regret" in shown


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.int32])
def test_tensors_are_contexts_and_scores(kind):
    tensor = (10 * torch.randn(9, 5, generator=torch.Generator().manual_seed(1))).to(kind)
    agents = [superarm.Agent("comblin-ucb", dim=5) for _ in range(2)]
    for agent, x, y in zip(agents, (tensor, tensor.numpy().astype(float)), (torch.tensor([1, 0, 1]), [1, 0, 1])):
        agent.update(agent.select(x, slate=3), y)
    np.testing.assert_array_equal(agents[0].select(tensor).all_scores, agents[1].select(tensor.numpy()).all_scores)


def test_an_algorithm_in_torch(tmp_path):
    """The example: it repeats itself to the byte, and learns."""
    sys.path.insert(0, str(EXAMPLES))
    from torch_network import BootstrappedNetworks

    asked = {"rounds": 150, "runs": 2, "arms": 10, "slate": 3, "dim": 5, "threads": 1}
    first, again = (superarm.run("h1", {"networks": BootstrappedNetworks, "random": "random"}, **asked) for _ in range(2))
    assert np.array_equal(first.reward["networks"], again.reward["networks"])
    regret = {label: curves[:, -1].mean() for label, curves in first.expected_regret.items()}
    assert regret["networks"] < 0.4 * regret["random"]


@pytest.mark.parametrize("name", ["torch_network", "figure1"])
def test_examples_run(name, tmp_path):
    subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--quick"], cwd=tmp_path, check=True)
