"""Presets have versions, results and specs hold them with every setting, and names are marked."""

import json
import re
import subprocess
import os

import numpy as np
import pytest

import superarm

PROGRAM = os.environ.get("SUPERARM", "superarm")
SMALL = {"rounds": 20, "arms": 6, "dim": 4, "slate": 2, "runs": 2, "progress": False}


def version(preset):
    summary = next(choice.summary for choice in superarm.choices("presets") if choice.name == preset)
    return re.match(rf"({preset}-\d+):", summary).group(1)


def test_versions():
    for preset in ("paper", "icml23", "tuned", "section5"):
        assert superarm.Agent("cn-ucb", dim=4, preset=version(preset)).options["preset"] == preset
    with pytest.raises(superarm.InputError, match=r"--preset tuned-999: this program has tuned-\d+, which --preset tuned names"):
        superarm.Agent("cn-ucb", dim=4, preset="tuned-999")
    for wrong in ("tuned-", "tuned-0", "tuned-1x", "tune"):
        with pytest.raises(superarm.InputError, match="is not one of paper, icml23, tuned, section5"):
            superarm.Agent("cn-ucb", dim=4, preset=wrong)


def run(out, **options):
    return superarm.run("h1", {"a": {"algorithm": "cn-ucb", "hidden": 8}, "b": {"algorithm": "cn-ucb", "hidden": 8, "preset": "paper"}},
                        out=out, **{**SMALL, **options})


def test_spec_repeats_or_is_refused(tmp_path):
    first = run(tmp_path / "one")
    spec = (tmp_path / "one" / "spec.yaml").read_text()
    assert f"preset: {version('tuned')}\n" in spec and f"    preset: {version('paper')}\n" in spec
    settings = re.findall(r"  - (\S+) (\S+)=(\S+)\n", spec)
    summary = json.loads((tmp_path / "one" / "summary.json").read_text())
    for preset in ("tuned", "paper"):
        of_spec = {name: value for whose, name, value in settings if whose == version(preset)}
        assert of_spec == summary["settings"][version(preset)] and of_spec["doubled-input"] == "true" and len(of_spec) == 15
    again = superarm.run(spec=tmp_path / "one" / "spec.yaml", out=tmp_path / "two", progress=False)
    for label in ("a", "b"):
        assert (again.expected_regret[label] == first.expected_regret[label]).all()

    def refused(text, sentence):
        (tmp_path / "changed.yaml").write_text(text)
        with pytest.raises(superarm.InputError, match=sentence):
            superarm.run(spec=tmp_path / "changed.yaml", out=tmp_path / "three", progress=False)
        assert not (tmp_path / "three").exists()

    refused(spec.replace("score-deviation=0.04", "score-deviation=0.05", 1), "whose setting score-deviation is 0.05, and here it is 0.04")
    refused(spec.replace("score-deviation=0.04", "score-from=0.04", 1), "with the setting score-from=0.04, which this program does not have")
    refused(spec.replace(version("tuned"), "tuned-999"), r"the spec is of the preset tuned-999, and this program has tuned-\d+")
    refused(spec.replace(version("paper"), "paper-999"), "the spec is of the preset paper-999")

    # a report of an older folder needs none of it; going on with it does
    (tmp_path / "one" / "spec.yaml").write_text(spec.replace(version("tuned"), "tuned-999"))
    assert subprocess.run([PROGRAM, "report", str(tmp_path / "one"), "--format", "csv", "--quiet"]).returncode == 0
    with pytest.raises(superarm.InputError, match="the spec is of the preset tuned-999"):
        run(tmp_path / "one", resume=True, runs=3)


def test_sweep_holds_its_preset(tmp_path):
    superarm.sweep("h1", "cn-ucb", grid={"gamma": [0.1, 1]}, hidden=8, out=tmp_path / "swept", **SMALL)
    spec = (tmp_path / "swept" / "spec.yaml").read_text()
    assert f"preset: {version('tuned')}\n" in spec and f"  - {version('tuned')} score-deviation=" in spec


NAMES = {("cn-ucb", "tuned"): "CN-UCB (tuned)", ("cn-ucb", "paper"): "CN-UCB", ("cn-ucb", "section5"): "CN-UCB", ("cn-ts1", "tuned"): "CN-TS (M=1, tuned)",
         ("greedy", "tuned"): "greedy (tuned)", ("neural-linear", "tuned"): "neural-linear (tuned)", ("comblin-ucb", "icml23"): "CombLinUCB (as published)",
         ("comblin-ucb", "paper"): "CombLinUCB", ("comblin-ucb", "tuned"): "CombLinUCB (tuned)", ("c2ucb", "icml23"): "C2UCB", ("c2ucb", "tuned"): "C2UCB",
         ("random", "tuned"): "random", ("best", "icml23"): "best", ("neural-ucb", "tuned"): "Neural-UCB (tuned)", ("neural-ucb", "paper"): "Neural-UCB"}


@pytest.mark.parametrize("preset", ["paper", "icml23", "tuned", "section5"])
def test_marked_names(tmp_path, preset):
    wanted = {algorithm: name for (algorithm, of), name in NAMES.items() if of == preset}
    results = superarm.run("h1", list(wanted), preset=preset, out=tmp_path / "out", **{**SMALL, "slate": 1, "rounds": 5})
    assert {label: line["display"] for label, line in results.summary(as_dict=True).items()} == wanted
    assert {label: line["display"] for label, line in superarm.load(tmp_path / "out").summary(as_dict=True).items()} == wanted
    table = subprocess.run([PROGRAM, "report", str(tmp_path / "out"), "--format", "csv"], capture_output=True, text=True, check=True).stdout
    page = (tmp_path / "out" / "table.csv").read_text()
    for name in wanted.values():
        assert name in table and name in page


def test_label_of_ones_own(tmp_path):
    assert superarm.run("h1", {"mine": {"algorithm": "cn-ucb", "hidden": 8}}, **SMALL).summary(as_dict=True)["mine"]["display"] == "mine"


def test_c2ucb_is_its_papers():
    """Under icml23 as under paper, unless the published form is asked for."""
    curves = {form: superarm.run("h1", {"c2ucb": {"algorithm": "c2ucb", **options}}, **SMALL).expected_regret["c2ucb"] for form, options in (
        ("icml23", {"preset": "icml23"}), ("paper", {"preset": "paper"}), ("published", {"preset": "icml23", "linear_form": "published"}))}
    assert (curves["icml23"] == curves["paper"]).all() and (curves["published"] != curves["paper"]).any()
    assert np.isfinite(curves["published"]).all()
