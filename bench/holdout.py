#!/usr/bin/env python3
"""The pages numbers, holdout, uci, worlds and judging of docs/measured.

    bench/holdout.py numbers | holdout | tables | tuning | worlds | judging [--only NAME;...] [--runs R] [--seed S] [--superarm build/superarm] [--data FOLDER]

`tuning` are worlds that the preset was chosen on, `worlds` others of the same kinds, for judging; with seed 3000 these were looked at, too. The preset was not made on the other
settings, but results of the one before on them had been read. Unless --seed says otherwise, seeds of `tuning` are 7, of the others 5000 (3000 and 4000 were run on 18 November 2026, for
candidates: docs/history/tuning.md; then they became seeds of tuning, too). `judging` are worlds that nobody had run until tuned-2 was frozen; they were run once, with 5000.
Each line has, for each agent, the mean regret over the runs, its standard error, and the worst run. `tables` needs the
folder with the four UCI tables (magic04.csv, agaricus-lepiota.data, optdigits.tra, shuttle.csv), and prints the reward.
`tuning`, `worlds` and `judging` print one table, with the regret of cn-ucb over that of the best rival in each world; --before PROGRAM adds cn-ucb of another one.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

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

RIVALS = "cn-ucb,cn-ts,greedy,comblin-ucb"
TUNING = {
    "h1": ("--environment h1 --rounds 200", RIVALS, 4),
    "h2": ("--environment h2 --rounds 400", RIVALS, 6),
    "h3": ("--environment h3 --rounds 300", RIVALS, 4),
    "h1, noise 0.3": ("--environment h1 --noise 0.3 --rounds 400", RIVALS, 4),
    "h3, d 5": ("--environment h3 --dim 5 --rounds 400", RIVALS, 4),
    "h2, K 1, d 20": ("--environment h2 --dim 20 --slate 1 --rounds 400", RIVALS, 6),
    "h2, N 200, d 20": ("--environment h2 --dim 20 --arms 200 --rounds 300", RIVALS, 6),
    "logistic clicks": (PLACES.split(" --examination")[0] + " --examination 1,1,1,1 --rounds 500", RIVALS, 4),
    "clicks, 1 to 5%": ("--environment formula --dim 20 --clicks position --examination 1,1,1,1 --score 0.03+0.02*4.4*x.a --rounds 1000", RIVALS, 4),
    **{name: ("world", RIVALS, 4) for name in ("hill", "AR features", "ids", "ids, K 1", "flags", "units", "catalogue", "user x item", "steps", "labels")},
}
WORLDS = {
    "-h1, d 40": ("--environment formula --score -x.a --dim 40 --rounds 300", RIVALS, 6),
    "h2, d 30": ("--environment h2 --dim 30 --rounds 400", RIVALS, 10),
    "h3, d 10": ("--environment h3 --dim 10 --rounds 400", RIVALS, 6),
    "h1, noise 0.5, d 30": ("--environment h1 --noise 0.5 --dim 30 --rounds 400", RIVALS, 6),
    "h2, K 1, d 15": ("--environment h2 --dim 15 --slate 1 --rounds 400", RIVALS, 10),
    "h2, N 100, d 15": ("--environment h2 --dim 15 --arms 100 --rounds 300", RIVALS, 10),
    "clicks, 8%": (logistic(-2.8, 1, 12) + " --rounds 600", RIVALS, 6),
    "clicks, 2 to 4%": ("--environment formula --dim 15 --clicks position --examination 1,1,1,1 --score 0.03+0.01*3.8*x.a --rounds 1000", RIVALS, 6),
    **{name: ("world", RIVALS, 6) for name in ("two hills", "AR features, d 20", "ids, 30", "ids, 12, K 1", "flags, d 30", "units, twice", "catalogue, 40",
                                              "user x item, d 6", "ramps", "labels, 8 groups")},
}
# Of the same kinds and one more. None had been run when tuned-2 was frozen.
JUDGING = {
    "-h1, d 25": ("--environment formula --score -x.a --dim 25 --rounds 300", RIVALS, 12),
    "h2, d 50": ("--environment h2 --dim 50 --rounds 400", RIVALS, 12),
    "h3, d 7": ("--environment h3 --dim 7 --rounds 400", RIVALS, 12),
    "h1, noise 0.4, d 12": ("--environment h1 --noise 0.4 --dim 12 --rounds 400", RIVALS, 12),
    "h2, K 1, d 25": ("--environment h2 --dim 25 --slate 1 --rounds 500", RIVALS, 12),
    "h2, N 150, d 10": ("--environment h2 --dim 10 --arms 150 --rounds 300", RIVALS, 12),
    "clicks, 5%": (logistic(-3.4, 1, 16) + " --rounds 800", RIVALS, 12),
    "clicks, 1 to 3%": ("--environment formula --dim 10 --clicks position --examination 1,1,1,1 --score 0.02+0.01*3.1*x.a --rounds 1000", RIVALS, 12),
    **{name: ("world", RIVALS, 12) for name in ("three hills", "AR features, d 40", "ids, 16", "ids, 25, K 1", "flags, d 12", "units, of all", "catalogue, 100",
                                               "user x item, d 4", "stairs", "labels, 4 groups", "lognormal features")},
}

TABLES = {
    "magic (developed on)": ("--environment csv --data {data}/magic04.csv --header --positive g --rounds 1000", NEURAL + ",random", 10),
    "mushroom (developed on)": ("--environment csv --data {data}/agaricus-lepiota.data --label 1 --positive e --rounds 1000",
                                NEURAL + ",random", 10),
    "optdigits": ("--environment csv --data {data}/optdigits.tra --header --positive 3 --rounds 1000", NEURAL + ",random", 10),
    "shuttle": ("--environment csv --data {data}/shuttle.csv --positive 4 --rounds 1000", NEURAL + ",random", 10),
}


def arrays(name, runs, folder, seed, rounds=1000, arms=20):
    """Contexts, scores and noise of the settings that no formula says, one draw a run."""
    rng = np.random.default_rng(seed)
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


KINDS = {  # of each kind, what a world of it is made with: one for tuning, one of WORLDS, one of JUDGING
    "hill": ("hills", 5, 4, 1), "two hills": ("hills", 6, 5, 2), "three hills": ("hills", 4, 3, 3),
    "AR features": ("AR", 30, 0.95), "AR features, d 20": ("AR", 20, 0.9), "AR features, d 40": ("AR", 40, 0.8),
    "ids": ("ids", 20), "ids, 30": ("ids", 30), "ids, 16": ("ids", 16),
    "ids, K 1": ("ids", 20), "ids, 12, K 1": ("ids", 12), "ids, 25, K 1": ("ids", 25),
    "flags": ("flags", 20), "flags, d 30": ("flags", 30), "flags, d 12": ("flags", 12),
    "units": ("units", 10, 1, 5), "units, twice": ("units", 10, 5, 5), "units, of all": ("units", 6, 1, 10),
    "catalogue": ("catalogue", 60), "catalogue, 40": ("catalogue", 40), "catalogue, 100": ("catalogue", 100),
    "user x item": ("user", 8), "user x item, d 6": ("user", 6), "user x item, d 4": ("user", 4),
    "steps": ("bends", lambda z: z > 0), "ramps": ("bends", lambda z: np.clip(z + 0.5, 0, 1)), "stairs": ("bends", lambda z: np.clip(np.floor(2 * z), -1, 1)),
    "labels": ("labels", 6, 12), "labels, 8 groups": ("labels", 8, 15), "labels, 4 groups": ("labels", 4, 10),
    "lognormal features": ("lognormal", 10),
}


def world(name, rng, rounds=300):
    """Contexts, expected scores and noise of one run."""
    kind, *given = KINDS[name]
    arms = given[0] if kind in ("ids", "catalogue") else 20

    def normal(*shape):
        return rng.normal(size=shape)

    def of(x, v, noise):
        return x, v, noise * normal(*v.shape)

    if kind == "hills":
        dim, width, count = given
        x = normal(rounds, arms, dim)
        return of(x, sum(np.exp(-((x - 0.7 * normal(dim)) ** 2).sum(-1) / width) for _ in range(count)), 0.05)
    if kind == "AR":
        dim, kept = given
        x = normal(rounds, arms, dim)
        for j in range(1, dim):
            x[..., j] = kept * x[..., j - 1] + np.sqrt(1 - kept**2) * x[..., j]
        return of(x, np.tanh(x @ normal(dim) / 3) + 0.5 * np.abs(x @ normal(dim) / 3), 0.1)
    if kind == "ids":
        return of(np.tile(np.eye(arms), (rounds, 1, 1)), np.tile(0.3 * normal(arms), (rounds, 1)), 0.3)
    if kind == "flags":
        dim = given[0]
        x = (rng.random((rounds, arms, dim)) < np.linspace(0.01, 0.2, dim)).astype(float)
        return of(x, x @ normal(dim), 0.1)
    if kind == "units":  # the first features are tenfold for a quarter of the time, and of a third unit in the second half
        dim, later, changing = given
        z, a, time = normal(rounds, arms, dim), normal(dim) / np.sqrt(dim), np.arange(rounds)
        unit = np.where(time < rounds // 4, 10.0, 1.0) * np.where(time > rounds // 2, float(later), 1.0)
        z[..., :changing] *= unit[:, None, None]
        return of(z, z @ a, 0.1)
    if kind == "catalogue":
        items = normal(arms, 20)
        v = np.tanh(items @ normal(20) / np.sqrt(20)) + 0.25 * (items @ normal(20)) ** 2 / 20 + 0.3 * normal(arms)
        return of(np.tile(items, (rounds, 1, 1)), np.tile(v, (rounds, 1)), 0.3)
    if kind == "user":
        dim = given[0]
        user, item = np.broadcast_to(normal(rounds, 1, dim), (rounds, arms, dim)), normal(rounds, arms, dim)
        return of(np.concatenate([user, item], -1), np.einsum("tni,ij,tnj->tn", user, normal(dim, dim) / dim, item), 0.1)
    if kind == "bends":
        up, x = given[0], normal(rounds, arms, 10)
        return of(x, 1.0 * up(x[..., 0]) + 0.7 * up(x[..., 1] - 0.5) - 0.8 * up(x[..., 2]) * up(x[..., 3]), 0.2)
    if kind == "lognormal":
        dim = given[0]
        z = normal(rounds, arms, dim)
        return of(np.exp(z), np.tanh(z @ normal(dim) / np.sqrt(dim)), 0.2)
    groups, dim = given  # labels: 0 or 1, by a chance that each cluster has
    centre, chance, of_group = 0.8 * normal(groups, dim), rng.random(groups), rng.integers(0, groups, size=(rounds, arms))
    return of(centre[of_group] + normal(rounds, arms, dim), (rng.random((rounds, arms)) < chance[of_group]).astype(float), 0)


def worlds(name, runs, folder, seed):
    drawn = [world(name, np.random.default_rng([seed, run, sum(map(ord, name))])) for run in range(runs)]
    for file, index, kind in (("x", 0, np.float32), ("v", 1, np.float64), ("e", 2, np.float64)):
        np.save(f"{folder}/{file}.npy", np.array([one[index] for one in drawn], dtype=kind))
    rounds, arms, dim = drawn[0][0].shape
    return (f"--environment npy --contexts {folder}/x.npy --scores {folder}/v.npy --noise-values {folder}/e.npy --rounds {rounds} "
            f"--arms {arms} --dim {dim} --slate {1 if 'K 1' in name else 4}")


def run(given, name, options, agents, runs, superarm, out):
    """Runs a setting; returns {agent: (mean, standard error, worst)}."""
    folder, told = tempfile.mkdtemp(), {}
    seed = given.seed or (7 if given.group == "tuning" else 5000)
    agents = given.agents or agents
    try:
        if options == "npy":
            options = arrays(name, runs, folder, seed)
        if options == "world":
            options = worlds(name, runs, folder, seed)
        words = options.format(data=given.data).split() + given.options.split()
        command = [superarm, "run", *words, "--algorithm", agents, "--runs", str(runs), "--seed", str(seed), "--threads", str(given.threads),
                   "--quiet", "--out", f"{folder}/out"]
        print("$", " ".join(command[1:-3]), file=out, flush=True)
        subprocess.run(command, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        for agent in agents.split(","):
            kind = "reward" if given.group == "tables" else "expected_regret"
            end = np.load(f"{folder}/out/{agent}/{kind}.npy").reshape(runs, -1)
            end = end[:, -1]
            worst = end.min() if kind == "reward" else end.max()
            line = {"setting": name, "agent": agent, "runs": runs, "mean": float(end.mean()),
                    "se": float(end.std(ddof=1) / np.sqrt(runs)), "median": float(np.median(end)), "worst": float(worst)}
            told[agent] = (line["mean"], line["se"], line["worst"])
            print(f"| {name} | {agent} | {line['mean']:.1f} ± {line['se']:.1f} | {line['median']:.1f} | {worst:.1f} |", file=out, flush=True)
            with open(given.json, "a") as file:
                file.write(json.dumps(line) + "\n")
    finally:
        shutil.rmtree(folder)
    return told


def row(cells):
    return "| " + " | ".join(cells) + " |"


def compare(given, settings):
    """A row a world, and what cn-ucb's regret comes to over the best of the others in each."""
    ratios, older = [], []
    print(row(["world", "cn-ucb", "worst", *RIVALS.split(",")[1:], "over the best"] + ["before", "over the best"] * bool(given.before)))
    print("|---" * (7 + 2 * bool(given.before)) + "|")
    for name, (options, agents, runs) in settings.items():
        told = run(given, name, options, agents, given.runs or runs, given.superarm, sys.stderr)
        best = min(told[agent][0] for agent in told if agent != "cn-ucb")
        ratios.append((told["cn-ucb"][0] / best, name))
        cells = [name, "{:.1f} ± {:.1f}".format(*told["cn-ucb"]), f"{told['cn-ucb'][2]:.1f}", *(f"{told[a][0]:.1f} ± {told[a][1]:.1f}" for a in told if a != "cn-ucb"),
                 f"{ratios[-1][0]:.2f}"]
        if given.before:
            before = run(given, name, options, "cn-ucb", given.runs or runs, given.before, sys.stderr)["cn-ucb"]
            older.append((before[0] / best, name))
            cells += ["{:.1f} ± {:.1f}".format(*before), f"{older[-1][0]:.2f}"]
        print(row(cells), flush=True)
    print()
    for told, title in ((ratios, "cn-ucb"), (older, "before")):
        if told:
            print(f"{title}: geometric mean {np.exp(np.mean([np.log(ratio) for ratio, _ in told])):.2f}, worst {max(told)[0]:.2f} ({max(told)[1]}).")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=["numbers", "holdout", "tables", "tuning", "worlds", "judging"])
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--agents", default="", help="these instead of the usual ones")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--superarm", default="build/superarm")
    parser.add_argument("--data", default="data")
    parser.add_argument("--json", default="/dev/null")
    parser.add_argument("--before", default="", help="another superarm, to compare with")
    parser.add_argument("--with", dest="options", default="", help="further options of superarm run")
    given = parser.parse_args()
    settings = {"numbers": NUMBERS, "holdout": HOLDOUT, "tables": TABLES, "tuning": TUNING, "worlds": WORLDS, "judging": JUDGING}[given.group]
    only = [word for word in given.only.split(";") if word]
    settings = {name: setting for name, setting in settings.items() if not only or name in only}
    if given.group in ("tuning", "worlds", "judging") and not given.agents:
        compare(given, settings)
    else:
        for name, (options, agents, runs) in settings.items():
            run(given, name, options, agents, given.runs or runs, given.superarm, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
