#!/usr/bin/env python3
"""bench/regrets.py TABLE [--quick] [--data FOLDER] [--superarm build/superarm]: tables of docs/measured, a row an agent, a column a setting.

A cell is the mean expected regret after the last round, its standard error and the worst run. All agents of a column run on the same draws.
--quick has 20 rounds and 2 runs: it says whether the commands still run. `clicks` and `classes` need the UCI tables in FOLDER, and leave
out those that are not there.
"""

import argparse
import json
import math
import os
import re
import subprocess
import tempfile

CLICKS = "--environment formula --score 0.03+0.02*4.4*x.a --dim 20 --clicks position --examination 1,1,1,1 --rounds 1500"
LOGISTIC = "--environment formula --score sigmoid(-2+1.2*x.a*sqrt(10)) --dim 10 --clicks position --examination 1,1,1,1 --rounds 500"
NAVIGATIONAL = "--user navigational --clicks cascade --feedback cascade --rounds 1000"
CLASSES = {"mushroom": "{data}/agaricus-lepiota.data --label 1", "magic": "{data}/magic04.csv --header", "shuttle": "{data}/shuttle.csv"}
ALGORITHMS = ["cn-ucb", "cn-ts", "cn-ts1", "cn-ucb-d", "cn-ts-d", "neural-linear", "comblin-ucb", "comblin-ts", "c2ucb", "cc-mab", "acc-ucb", "greedy", "random"]


def changed(*rows):
    """cn-ucb with one option changed at a time."""
    return {row: "algorithm=cn-ucb" + ("" if row == "nothing" else "," + row) for row in rows}


# table: seed, runs, {column: options of the setting}, {row: options of the agent}
TABLES = {
    "algorithms": (1, 3, {f"{h}, d {d}": f"--environment {h} --dim {d} --rounds 1000" for h, d in
                          (("h1", 2), ("h1", 4), ("h2", 4), ("h3", 4), ("h1", 80), ("h2", 80), ("h3", 80))},
                   {name: "algorithm=" + name for name in ALGORITHMS}),
    "choices": (7, 8, {"h1": "--environment h1 --rounds 300", "h2": "--environment h2 --rounds 400", "h3": "--environment h3 --rounds 300",
                       "h1, noise 0.3": "--environment h1 --noise 0.3 --rounds 400", "clicks at about 20%": LOGISTIC},
                changed("nothing", "companion=false", "bonus=width", "normalize=none", "gamma=0.3", "gamma=3", "train-batch=0", "confidence=exact")),
    "linear": (7, 8, {"h1": "--environment h1 --rounds 400", "h2": "--environment h2 --rounds 400", "h3": "--environment h3 --rounds 400",
                      "h1, noise 0.3": "--environment h1 --noise 0.3 --rounds 400", "clicks, 1 to 5%": CLICKS},
               {**{f"comblin-ucb gamma={g}": f"algorithm=comblin-ucb,gamma={g}" for g in (0.1, 0.3, 1, 2)},
                **{f"comblin-ts nu={n}": f"algorithm=comblin-ts,nu={n}" for n in (0.1, 0.3, 1)},
                "comblin-ucb as defined": "algorithm=comblin-ucb,linear-form=defined", "comblin-ts as defined": "algorithm=comblin-ts,linear-form=defined,nu=1"}),
    "drift": (1, 3, {h: f"--environment {h} --turn 0.0031416 --dim 20 --rounds 2000" for h in ("h1", "h2")},
              {f"{a}{', ' + o if o else ''}": f"algorithm={a}{',' + o if o else ''}" for a in ("cn-ucb", "comblin-ucb") for o in ("", "discount=0.98", "window=100")}),
    "auto": (11, 20, {h: f"--environment {h} --rounds 1500" for h in ("h1", "h2", "h3")},
             {"auto": "algorithm=cn-ucb,confidence=auto", "exact": "algorithm=cn-ucb,confidence=exact"}),
    "positions": (1, 5, {"noise 0.01": "--environment h2 --dim 10 --clicks position --examination 0.4,1,0.2,0.7 --click-noise gaussian",
                         "clicks": "--environment h2 --dim 10 --clicks position --examination 0.4,1,0.2,0.7"},
                  {"cn-ucb": "algorithm=cn-ucb,feedback=position", "cn-ts": "algorithm=cn-ts,feedback=position",
                   "cn-ucb, the network alone": "algorithm=cn-ucb,feedback=position,companion=false", "greedy": "algorithm=greedy,feedback=position",
                   "cn-ucb that ignores positions": "algorithm=cn-ucb,feedback=semi-bandit", "random": "algorithm=random,feedback=position"}),
    "cascade": (1, 5, {"clicks": "--environment h2 --dim 10 --clicks cascade",
                       "noise 0.01, discounted": "--environment h2 --dim 10 --clicks cascade --click-noise gaussian --discounts 1,0.8,0.6,0.4 --reward sum"},
                {**{a: f"algorithm={a},feedback=cascade" for a in ("cn-ucb", "cn-ts", "greedy", "comblin-ucb", "random")},
                 "cn-ucb, the network alone": "algorithm=cn-ucb,feedback=cascade,companion=false"}),
    "total": (1, 3, {"h1, d 20": "--environment h1 --dim 20"},
              {f"{a}, {f}": f"algorithm={a},feedback={f}" for a in ("comblin-ucb", "cn-ucb") for f in ("semi-bandit", "total")}),
    "clicks": (1, 10, {"shuttle, positive 4": "--environment csv --data {data}/shuttle.csv --positive 4 " + NAVIGATIONAL,
                       "magic04, positive h": "--environment csv --data {data}/magic04.csv --header --positive h " + NAVIGATIONAL,
                       "optdigits, positive 3": "--environment csv --data {data}/optdigits.tra --header --positive 3 " + NAVIGATIONAL,
                       "mushroom, positive p": "--environment csv --data {data}/agaricus-lepiota.data --label 1 --positive p " + NAVIGATIONAL,
                       "shuttle, positive 5": "--environment csv --data {data}/shuttle.csv --positive 5 " + NAVIGATIONAL},
               {a: f"algorithm={a}" for a in ("cn-ucb", "cn-ts", "comblin-ucb", "greedy", "random")}),
    "classes": (1, 5, {f"{name}, K {k}": f"--environment classes --data {table} --slate {k} --rounds {t}" for name, table in CLASSES.items() for k, t in ((1, 2000), (4, 500))},
                {**{a: f"algorithm={a}" for a in ("cn-ucb", "cn-ts", "neural-linear", "comblin-ucb", "comblin-ts", "greedy", "random")},
                 "neural-ucb (paper)": "algorithm=neural-ucb,preset=paper"}),
}


def column(given, options, rows, seed, runs):
    words, folder = options.format(data=given.data).split(), tempfile.mkdtemp()
    if given.quick:
        runs = 2
        words = [word for i, word in enumerate(words) if word != "--rounds" and (not i or words[i - 1] != "--rounds")] + ["--rounds", "20"]
    for number, agent in enumerate(rows.values()):
        words += ["--agent", f"r{number}:{agent}"]
    command = [given.superarm, "run", *words, "--runs", str(runs), "--seed", str(seed), "--quiet", "--out", folder]
    subprocess.run(command, check=True)
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        agents = json.load(file)["agents"]
    for number in range(len(rows)):
        regret = agents[f"r{number}"]["expected_regret"]
        yield f"{regret['mean']:.4g} ± {regret['sd'] / math.sqrt(runs):.2g} ({regret['worst']:.4g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=sorted(TABLES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", default="data")
    parser.add_argument("--superarm", default="build/superarm")
    given = parser.parse_args()
    seed, runs, columns, rows = TABLES[given.table]
    cells = {name: list(column(given, options, rows, seed, runs)) for name, options in columns.items()
             if all(os.path.exists(path.format(data=given.data)) for path in re.findall(r"{data}\S+", options))}
    print("| |", " | ".join(cells), "|")
    print("|---" * (len(cells) + 1) + "|")
    for number, row in enumerate(rows):
        print(f"| `{row}` |", " | ".join(values[number] for values in cells.values()), "|")


if __name__ == "__main__":
    main()
