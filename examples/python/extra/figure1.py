"""The paper's Figure 1: cumulative regret of CN-UCB and CN-TS, and of linear models, in figure1.png.

    python3 figure1.py [--quick]        an hour of two processors, or some seconds
"""

import sys

from matplotlib import pyplot

import superarm

quick = "--quick" in sys.argv
agents = ["cn-ucb", "cn-ts", "cn-ts1", "comblin-ucb", "comblin-ts"]
titles = {"h1": r"$h_1(x) = x^\top a$", "h2": r"$h_2(x) = (x^\top a)^2$", "h3": r"$h_3(x) = \cos(\pi x^\top a)$"}
figure, panels = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for panel, environment in zip(panels, titles):
    rounds = 20 if quick else 4000 if environment == "h3" else 2000
    results = superarm.run(environment, agents, rounds=rounds, runs=2 if quick else 20)
    results.plot(ax=panel).set_title(titles[environment])
    print(results.summary(as_dict=True)["cn-ucb"]["expected_regret"], f"is the mean regret of cn-ucb in {environment}")
figure.savefig("figure1.png", dpi=150)
