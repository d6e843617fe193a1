#!/usr/bin/env python3
"""cli_older.py PROGRAM: agents and a spec of an earlier version, whose settings are gone since, are read and go on as they would have.

tests/data/settings-70571ba.tar.gz has what the program of commit 70571ba wrote: agents of `superarm learn first.jsonl`, the spec.yaml of a run and its
regrets. An old agent that learns rest.jsonl must become, array by array, what an agent of this version becomes that learnt first.jsonl too; networks of tuned but for their weights."""
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PROGRAM = os.path.abspath(sys.argv[1])
OLD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "settings-70571ba.tar.gz")
NEWER = {"rewards_outliers.npy", "inputs_newer.npy", "rewards_newer.npy"}  # statistics that came later
# What follows from the weights, which tuned-1 had trained otherwise until then, and with which an agent of it goes on.
TRAINED = {name + ".npy" for name in ("W1", "W2", "V", "error", "posterior", "companion_numbers", "last_delta1", "last_input2", "factor", "theta", "linear_z", "linear_factor", "linear_b")}


def run(*arguments, fails=None):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == (2 if fails else 0), (arguments, done)
    assert not fails or fails in done.stderr, (fails, done.stderr)


def arrays(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name not in NEWER}


def agents_go_on():
    count = 0
    for name in sorted(os.listdir(".")):
        if not name.endswith(".npz"):
            continue
        preset, algorithm = name[:-4].split("-", 1)
        network = ["--hidden", "4", "--train-steps", "5"] if algorithm in ("cn-ucb", "cn-ts-d", "neural-linear") else []
        run("learn", "first.jsonl", "--out", "own", "--preset", preset, "--algorithm", algorithm, *network, "--quiet")
        run("learn", "rest.jsonl", "--agent", "own", "--out", "own", "--quiet")
        run("learn", "rest.jsonl", "--agent", name, "--out", "old", "--quiet")
        own, old = arrays("own"), arrays("old")
        assert own.keys() == old.keys() and len(own) > 10, name
        changed = TRAINED if preset == "tuned" and network else set()
        for array, bytes_ in own.items():
            assert bytes_ == old[array] or (array in changed and len(bytes_) == len(old[array])), (name, array)
        count += 1
    assert count == 10, count


def specs_repeat():
    """tuned is another since, and its specs are refused; what it did not change, and the other presets, repeat to the byte."""
    run("run", "spec.yaml", "--out", "again", "--quiet", fails="the spec is of the preset tuned-1, and this program has tuned-2")
    text = open("spec.yaml").read().replace("tuned-1", "tuned-2")
    with open("present.yaml", "w") as present:
        present.write(text)
    run("run", "present.yaml", "--out", "again", "--quiet")
    for label in ("cc-mab", "old"):
        with open(f"again/{label}/expected_regret.npy", "rb") as new, open(f"{label}.npy", "rb") as old:
            assert new.read() == old.read(), label
    for before, after, sentence in (("paper-1 error-decay=0", "paper-1 error-decay=5", "error-decay is gone: it is always 0, and not 5"),
                                    ("tuned-2 scale-to=0.04", "tuned-2 scale-to=1", "scale-to is gone: it is always 0.04, and not 1"),
                                    ("shared-scores: false", "shared-scores: true", "shared-scores is gone: it is always false, and not true"),
                                    ("epoch-hidden-growth: 1\n", "epoch-hidden-growth: 3\n", "epoch-hidden-growth is gone: it is always 1, and not 3"),
                                    ("tuned-2 exact-form=auto", "tuned-2 exact-forms=auto", "which this program does not have")):
        assert before in text, before
        with open("changed.yaml", "w") as changed:
            changed.write(text.replace(before, after))
        run("run", "changed.yaml", "--out", "changed", "--quiet", fails=sentence)


with tempfile.TemporaryDirectory() as folder:
    with tarfile.open(OLD) as tar:
        tar.extractall(folder)
    os.chdir(folder)
    agents_go_on()
    specs_repeat()
