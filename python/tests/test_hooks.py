"""What is called after every round and every run: it sees what the results have, and its exceptions come out."""

import json

import numpy as np
import pytest

import superarm

SMALL = {"rounds": 25, "runs": 3, "arms": 7, "slate": 2, "dim": 4}


@pytest.mark.parametrize("threads", [1, 2])
def test_rounds_and_runs_are_those_of_the_results(threads, tmp_path):
    rounds, ends = [], []
    results = superarm.run("h1", ["comblin-ucb", "random"], **SMALL, threads=threads, on_round=rounds.append, on_run=ends.append, trace=tmp_path / "trace.jsonl")
    assert len(rounds) == 2 * 3 * 25 and len(ends) == 6
    for one in rounds:
        for name in ("expected_regret", "realised_regret", "reward"):
            assert getattr(one, name) == getattr(results, name)[one.label][one.run, one.round]
    assert {(one.label, one.run, one.round) for one in ends} == {(label, run, 24) for label in results.labels for run in range(3)}
    told = {(one.label, one.run, one.round): one for one in rounds}
    with open(tmp_path / "trace.jsonl", encoding="utf-8") as file:
        for line in map(json.loads, file):
            one = told[line["agent"], line["run"], line["round"] - 1]
            assert list(one.arms) == line["slate"] and len(one.scores) == 2 and np.isfinite(one.scores).all()


def test_only_at_the_end_of_runs():
    ends = []
    superarm.sweep("h1", "random", grid={"noise": [0, 1]}, **SMALL, on_run=ends.append)
    assert len(ends) == 6 and all(one.round == 24 for one in ends)


def test_what_was_not_seen_is_nan():
    seen = []
    superarm.run("h1", "random", **SMALL, clicks="cascade", on_round=seen.append)
    assert any(np.isnan(one.scores).any() for one in seen)


def test_exceptions_come_out_and_finished_runs_are_kept(tmp_path):
    def fails(played):
        if (played.run, played.round) == (1, 4):
            raise LookupError("no")

    with pytest.raises(LookupError, match="no") as caught:
        superarm.run("h1", "random", **SMALL, threads=1, on_round=fails, out=tmp_path / "out")
    assert any("agent random, run 1, t = 4" in words for words in caught.value.__notes__)
    again = superarm.run("h1", "random", **SMALL, out=tmp_path / "out", resume=True)
    assert again.reward["random"].tobytes() == superarm.run("h1", "random", **SMALL).reward["random"].tobytes()


def test_wrong_hooks():
    with pytest.raises(superarm.InputError, match="a function is wanted"):
        superarm.run("h1", "random", **SMALL, on_round=3)
    with pytest.raises(superarm.InputError, match="processes=2"):
        superarm.run("h1", "random", **SMALL, on_run=print, processes=2)
