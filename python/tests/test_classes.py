"""The environments classes and classes-joined against NumPy, which reads the table and makes the contexts with code of its own."""

import csv
import os
import subprocess

import numpy as np
import pytest

import superarm

ROWS, PROGRAM = 40, os.environ.get("SUPERARM", "superarm")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Numbers, numbers with gaps, letters, and three classes in the first column."""
    path = tmp_path_factory.mktemp("classes") / "table.csv"
    random = np.random.default_rng(5)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["kind", "length", "colour", "width"])
        for i in range(ROWS):
            width = "?" if random.random() < 0.3 else repr(float(random.normal()))
            writer.writerow([["x", "w", "10"][i % 3 if i % 7 else 1], repr(float(100 * random.normal())),
                             "rgb"[int(random.integers(3))], width])
    return path


def features(path):
    """(rows, inputs) of unit length, and each row's class."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [[float(row["length"]) for row in rows]]
    columns += [[float(row["colour"] == colour) for row in rows] for colour in sorted({row["colour"] for row in rows})]
    columns += [[0.0 if row["width"] == "?" else float(row["width"]) for row in rows], [float(row["width"] == "?") for row in rows]]
    x = np.array(columns).T
    names = sorted({row["kind"] for row in rows})
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.array([names.index(row["kind"]) for row in rows])


def encoded(x, classes, joined):
    """The contexts of one row, (classes, dim)."""
    if joined:
        return np.array([np.concatenate([x, one]) for one in np.eye(classes)]) / np.sqrt(2)
    return np.kron(np.eye(classes), x)


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
def test_contexts(table, tmp_path, joined, rows):
    x, label = features(table)
    rounds = 2 * (ROWS // rows)
    subprocess.run([PROGRAM, "draw", "--environment", "classes-joined" if joined else "classes", "--data", table, "--header",
                    "--label", "kind", "--arms", str(3 * rows), "--rounds", str(rounds), "--runs", "2", "--quiet", "--out",
                    tmp_path / "draws"], check=True)
    contexts, scores, noise = (np.load(tmp_path / "draws" / f"{name}.npy") for name in ("contexts", "scores", "noise"))
    wanted = np.array([encoded(row, 3, joined) for row in x])
    assert contexts.shape == (2, rounds, 3 * rows, wanted.shape[2]) and not noise.any()
    blocks = contexts.reshape(2, -1, 3, wanted.shape[2])
    worth = scores.reshape(2, -1, 3)
    passes = []
    for run in range(2):
        far = np.abs(blocks[run][:, None] - wanted[None]).max((2, 3))  # (rows shown, rows of the file)
        shown = far.argmin(1)
        assert far.min(1).max() < 1e-15
        assert np.array_equal(worth[run], np.eye(3)[label[shown]])
        half = len(shown) // 2
        assert len(set(shown[:half])) == half == len(set(shown[half:]))  # no row twice in a pass
        passes += [tuple(shown[:half]), tuple(shown[half:])]
    assert len(set(passes)) == 4  # every pass of every run has an order of its own


def test_agents_learn(table, tmp_path):
    """A class that a feature tells: a linear agent finds it, and the best agent has no regret."""
    path = tmp_path / "signs.csv"
    values = np.random.default_rng(3).normal(size=(300, 3))
    path.write_text("".join(f"{a},{b},{c},{'up' if a > 0 else 'down'}\n" for a, b, c in values))
    results = superarm.run(algorithm=["comblin-ucb", "best", "random"], environment="classes", data=str(path), slate=1, rounds=300,
                           runs=2, seed=4)
    regret = {label: curves[:, -1].mean() for label, curves in results.expected_regret.items()}
    assert regret["best"] == 0 and regret["comblin-ucb"] < 40 and 120 < regret["random"] < 180
    with pytest.raises(superarm.InputError, match="not a multiple of the 2 classes"):
        superarm.run(algorithm="random", environment="classes", data=str(path), slate=1, arms=3, rounds=3, runs=1)
