#!/usr/bin/env python3
"""The tables "Numbers" and "Hold-out" of docs/TUNING.md.

    bench/holdout.py numbers | holdout | tables [--only NAME,...] [--runs R] [--superarm build/superarm] [--data FOLDER]

The preset was not made on these settings, but results of the one before on them had been read; seeds are 2000 and above, new ones.
Each line has, for each agent, the mean regret over the runs, its standard error, and the worst run. `tables` needs the
folder with the four UCI tables (magic04.csv, agaricus-lepiota.data, optdigits.tra, shuttle.csv), and prints the reward.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

SEED = 2000
NEURAL = "cn-ucb,cn-ts,greedy"
ALL = NEURAL + ",comblin-ucb,comblin-ts,random"


def logistic(shift, slope, dim):
    return f"--environment formula --dim {dim} --clicks position --examination 1,1,1,1 --score sigmoid({shift}+{slope}*x.a*sqrt({dim}))"


PLACES = "--environment formula --dim 10 --clicks position --score sigmoid(-2+1.2*x.a*sqrt(10)) --examination 0.35,1,0.2,0.7"

NUMBERS = {
    "h1": ("--environment h1 --rounds 2000", "cn-ucb,cn-ts,greedy,comblin-ucb", 20),
    "h2": ("--environment h2 --rounds 2000", "cn-ucb", 100),
    "h2, others": ("--environment h2 --rounds 2000", "cn-ts,greedy", 20),
    "h3": ("--environment h3 --rounds 4000", "cn-ucb,cn-ts", 20),
    "h1, noise 0.3": ("--environment h1 --noise 0.3 --rounds 1000", "cn-ucb,cn-ts,greedy,comblin-ucb", 20),
    "places": (PLACES + " --rounds 1500 --feedback position", "cn-ucb,cn-ts,greedy", 20),
    "places ignored": (PLACES + " --rounds 1500", "cn-ucb", 20),
}

# Bernoulli clicks need no noise; a tree of thresholds is a product of signs.
HOLDOUT = {
    "(x'a)(x'b)": ("--environment formula --dim 20 --rounds 1000 --score (x.a)*(x.b)", ALL, 10),
    "sparse quadratic": ("--environment formula --dim 20 --rounds 1000 --score x[0]*x[0]-x[1]*x[2]+0.5*x[3]", ALL, 10),
    "tree of thresholds": ("--environment formula --dim 20 --rounds 1000 --noise 0.1 "
                           "--score 0.5*(1+sign(x[0]))*(0.5+0.5*sign(x[1]))+0.25*(1-sign(x[0]))*(1+sign(x[2]-0.2))", ALL, 10),
    "clicks, 1%": (logistic(-5.1, 1, 20) + " --rounds 2000", ALL, 10),
    "clicks, 3%": (logistic(-3.9, 1, 20) + " --rounds 2000", ALL, 10),
    "clicks, 10%": (logistic(-2.5, 1, 20) + " --rounds 2000", ALL, 10),
    "heavy-tailed noise": ("npy", ALL, 10),
    "correlated features": ("npy", ALL, 10),
    "one-hot features": ("npy", ALL, 10),
}

TABLES = {
    "magic (developed on)": ("--environment csv --data {data}/magic04.csv --header --positive g --rounds 1000", NEURAL + ",random", 10),
    "mushroom (developed on)": ("--environment csv --data {data}/agaricus-lepiota.data --label 1 --positive e --rounds 1000",
                                NEURAL + ",random", 10),
    "optdigits": ("--environment csv --data {data}/optdigits.tra --header --positive 3 --rounds 1000", NEURAL + ",random", 10),
    "shuttle": ("--environment csv --data {data}/shuttle.csv --positive 4 --rounds 1000", NEURAL + ",random", 10),
}


def arrays(name, runs, folder, rounds=1000, arms=20):
    """Contexts, scores and noise of the settings that no formula says, one draw a run."""
    rng = np.random.default_rng(SEED)
    dim = 20
    contexts, scores, noise = [], [], []
    for _ in range(runs):
        a = rng.normal(size=dim)
        if name == "one-hot features":  # 4 fields of 6 values, as in a catalogue; a score is main effects and one pair
            dim = 24
            picks = rng.integers(0, 6, size=(rounds, arms, 4))
            x = np.eye(6)[picks].reshape(rounds, arms, dim)
            pair = rng.normal(size=(6, 6))
            v = (x @ rng.normal(size=dim)) * 0.2 + 0.3 * pair[picks[..., 0], picks[..., 1]]
            e = 0.3 * rng.normal(size=v.shape)
        elif name == "correlated features":  # 3 hidden causes of 20 features
            load = rng.normal(size=(3, dim))
            hidden = rng.normal(size=(rounds, arms, 3))
            x = hidden @ load + 0.1 * rng.normal(size=(rounds, arms, dim))
            v = np.tanh(hidden[..., 0]) + 0.5 * np.abs(hidden[..., 1])
            e = 0.1 * rng.normal(size=v.shape)
        else:  # Student's t with 2 degrees of freedom: no variance
            x = rng.normal(size=(rounds, arms, dim))
            x /= np.linalg.norm(x, axis=-1, keepdims=True)
            z = x @ a / np.linalg.norm(a) * np.sqrt(dim)
            v = 0.3 * z + 0.2 * np.abs(z)
            e = 0.1 * rng.standard_t(2, size=v.shape)
        contexts.append(x.astype(np.float32))
        scores.append(v)
        noise.append(e)
    np.save(f"{folder}/x.npy", np.array(contexts))
    np.save(f"{folder}/v.npy", np.array(scores))
    np.save(f"{folder}/e.npy", np.array(noise))
    return (f"--environment npy --contexts {folder}/x.npy --scores {folder}/v.npy --noise-values {folder}/e.npy "
            f"--rounds {rounds} --arms {arms} --dim {dim}")


def run(given, name, options, agents, runs):
    folder = tempfile.mkdtemp()
    try:
        if options == "npy":
            options = arrays(name, runs, folder)
        words = options.format(data=given.data).split() + given.options.split()
        command = [given.superarm, "run", *words, "--algorithm", agents, "--runs", str(runs), "--seed", str(SEED), "--threads", "2",
                   "--quiet", "--out", f"{folder}/out"]
        print("$", " ".join(command[1:-3]), flush=True)
        subprocess.run(command, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        for agent in agents.split(","):
            kind = "reward" if given.group == "tables" else "expected_regret"
            end = np.load(f"{folder}/out/{agent}/{kind}.npy").reshape(runs, -1)
            end = end[:, -1]
            worst = end.min() if kind == "reward" else end.max()
            line = {"setting": name, "agent": agent, "runs": runs, "mean": float(end.mean()),
                    "se": float(end.std(ddof=1) / np.sqrt(runs)), "median": float(np.median(end)), "worst": float(worst)}
            print(f"| {name} | {agent} | {line['mean']:.1f} ± {line['se']:.1f} | {line['median']:.1f} | {worst:.1f} |", flush=True)
            with open(given.json, "a") as file:
                file.write(json.dumps(line) + "\n")
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=["numbers", "holdout", "tables"])
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--superarm", default="build/superarm")
    parser.add_argument("--data", default="data")
    parser.add_argument("--json", default="/dev/null")
    parser.add_argument("--with", dest="options", default="", help="further options of superarm run")
    given = parser.parse_args()
    settings = {"numbers": NUMBERS, "holdout": HOLDOUT, "tables": TABLES}[given.group]
    only = [word for word in given.only.split(";") if word]
    for name, (options, agents, runs) in settings.items():
        if not only or name in only:
            run(given, name, options, agents, given.runs or runs)


if __name__ == "__main__":
    sys.exit(main())
