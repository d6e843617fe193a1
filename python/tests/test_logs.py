"""Decision logs: read_log against json, and what numpy.savez and csv.writer write against `superarm convert`."""

import csv
import json
import os
import subprocess
import warnings

import numpy as np
import pytest

import superarm

LINES = [
    {"event": "e-17", "time": "2026-11-15T12:00:00Z", "agent": "home", "model": 12, "context": {"hour": 3, "ä": ["ü"]},
     "items": [{"id": "p1", "price": 0.1}, {"id": "p9"}, {"id": "ö"}], "slate": ["p9", "ö"], "propensity": 0.031,
     "prefix_propensities": [0.5, 0.031], "position_propensities": [0.5, None], "feedback": [1, None], "final": False, "seq": 7,
     "note": {"a": "x"}},
    {"contexts": [[0.1, 1 / 3], [2, -3e-9]], "slate": [1], "propensity": None, "target_propensity": 0.5, "feedback": [0.25]},
    {"contexts": [[1]], "slate": [], "target_prefix_propensities": [], "target_position_propensities": []},
]


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_every_field(tmp_path):
    first, second, third = superarm.read_log(write(tmp_path / "log.jsonl", LINES))
    assert (first.line, first.event, first.time, first.agent, first.model, first.final) == (1, "e-17", "2026-11-15T12:00:00Z", "home", 12, False)
    assert first.context == LINES[0]["context"] and first.items == LINES[0]["items"] and first.contexts is None
    assert first.slate == ["p9", "ö"] and first.arms.tolist() == [1, 2] and first.extra == {"seq": 7, "note": {"a": "x"}}
    assert first.feedback[0] == 1 and np.isnan(first.feedback[1]) and first.propensity == 0.031
    assert first.prefix_propensities.tolist() == [0.5, 0.031] and np.isnan(first.position_propensities[1])
    assert first.target_propensity is None and first.target_prefix_propensities is None
    assert second.contexts.tolist() == LINES[1]["contexts"] and second.slate == [1] and second.model is None and second.final
    assert second.propensity is None and second.target_propensity == 0.5 and second.items is None and second.extra == {}
    assert third.slate == [] and third.feedback is None and third.line == 3 and third.target_prefix_propensities.tolist() == []


def test_wrong_lines(tmp_path):
    path = write(tmp_path / "log.jsonl", [LINES[1], {"slate": [0]}, LINES[1]])
    entries = superarm.read_log(path)
    next(entries)
    with pytest.raises(superarm.FormatError, match="log.jsonl:2: there are neither contexts nor items"):
        next(entries)
    with pytest.warns(UserWarning, match="1 line was skipped; the first: .*log.jsonl:2"):
        assert [entry.line for entry in superarm.read_log(path, skip_bad=True)] == [1, 3]
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(LINES[1]) + "\n" + json.dumps(LINES[1])[:-5])
    with pytest.warns(UserWarning, match="the last line, 2, is cut off and was left out"):
        assert len(list(superarm.read_log(path))) == 1
    with pytest.raises(superarm.FileError):
        superarm.read_log(tmp_path / "absent")
    with pytest.raises(superarm.FileError):
        next(superarm.read_log(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entries = superarm.read_log(write(path, LINES))
        next(entries)
        del entries  # not read to the end: nothing to warn of


def convert(*words):
    subprocess.run([os.environ["SUPERARM"], "convert", *map(str, words)], check=True, capture_output=True)


def test_obp_arrays(tmp_path):
    """As obp's dataset has them: what numpy.savez wrote comes out decision by decision, and the other way round."""
    rng = np.random.default_rng(1)
    feedback = {"n_rounds": 50, "n_actions": 4, "context": rng.normal(size=(50, 3)), "action_context": rng.normal(size=(4, 2)),
                "action": rng.integers(4, size=50), "reward": rng.integers(2, size=50).astype(float),
                "pscore": rng.uniform(0.1, 1, size=50), "position": None}
    np.savez(tmp_path / "in.npz", **feedback)
    convert("--from", "obp", "--to", "log", tmp_path / "in.npz", "--out", tmp_path / "log.jsonl")
    entries = list(superarm.read_log(tmp_path / "log.jsonl"))
    assert len(entries) == 50
    for i, entry in enumerate(entries):
        wanted = np.hstack([np.tile(feedback["context"][i], (4, 1)), feedback["action_context"]])
        assert np.array_equal(entry.contexts, wanted) and entry.slate == [feedback["action"][i]]
        assert entry.feedback[0] == feedback["reward"][i] and entry.propensity == feedback["pscore"][i]
    convert("--from", "log", "--to", "obp", tmp_path / "log.jsonl", "--out", tmp_path / "back.npz")
    back = np.load(tmp_path / "back.npz")
    for name in ("action", "reward", "pscore"):
        assert np.array_equal(back[name], feedback[name])
    assert back["n_rounds"] == 50 and back["n_actions"] == 4 and back["position"].tolist() == [0] * 50
    assert np.array_equal(back["context"].reshape(50, 4, 5), [entry.contexts for entry in entries])


def test_tables(tmp_path):
    with open(tmp_path / "shown.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["event", "item", "click", "city"], ["v1", "a, b", 1, 'say "x"\nhere'], ["v1", "c", "", "y"], ["v2", "c", 0, ""]])
    convert("--from", "csv", "--to", "log", tmp_path / "shown.csv", "--out", tmp_path / "log.jsonl")
    first, second = superarm.read_log(tmp_path / "log.jsonl")
    assert first.slate == ["a, b", "c"] and first.context == {"city": 'say "x"\nhere'} and np.isnan(first.feedback[1])
    assert second.slate == ["c"] and second.context is None and second.items == [{"id": "a, b"}, {"id": "c"}]
    convert("--from", "log", "--to", "csv", tmp_path / "log.jsonl", "--out", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["event"], row["position"], row["item"], row["feedback"], row["city"]) for row in rows] == [
        ("v1", "1", "a, b", "1", 'say "x"\nhere'), ("v1", "2", "c", "", 'say "x"\nhere'), ("v2", "1", "c", "0", "")]


def test_learning_from_a_log(tmp_path):
    """An agent that learnt from the log of a run goes on as that run's agent did."""
    options = {"algorithm": "cn-ts", "dim": 5, "hidden": 8, "slate": 3}
    superarm.run(environment="h2", rounds=50, arms=8, runs=1, log=tmp_path / "log.jsonl", **options)
    lines = (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "first.jsonl").write_text("".join(lines[:30]))
    agent = superarm.Agent(**options)
    assert agent.learn_log(tmp_path / "first.jsonl") == {"decisions": 30, "left_out": 0, "ignored": 0}
    for entry in list(superarm.read_log(tmp_path / "log.jsonl"))[30:]:
        decision = agent.select(entry.contexts)
        assert decision.arms.tolist() == entry.slate
        agent.update(decision, entry.feedback)


def test_learning_refused(tmp_path):
    agent = superarm.Agent("comblin-ucb", dim=2)
    path = write(tmp_path / "log.jsonl", [{**LINES[0], "final": True}])
    with pytest.raises(superarm.InputError, match="log.jsonl:1: items have named fields, and the agent has no schema"):
        agent.learn_log(path)
    write(path, LINES[:1])
    with pytest.raises(superarm.InputError, match="has nothing to learn from: 1 decisions are without feedback or not final"):
        agent.learn_log(path)
    write(path, [LINES[1], {"slate": 5}, {"contexts": [[1, 2]], "slate": [0]}])
    with pytest.raises(superarm.FormatError, match="log.jsonl:2: there are neither"):
        agent.learn_log(path)
    with pytest.warns(UserWarning, match="1 line was skipped"):
        assert agent.learn_log(path, skip_bad=True) == {"decisions": 1, "left_out": 1, "ignored": 0}
    with pytest.raises(superarm.FileError):
        agent.learn_log(tmp_path / "absent")
