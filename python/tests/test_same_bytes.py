"""The same seed and options give the same bytes from Python as from C and from the program."""

import json
import os
import subprocess

import numpy as np
import pytest

import superarm

PROGRAM = os.environ.get("SUPERARM", "build/superarm")
IN_C = os.path.join(os.path.dirname(PROGRAM), "same_bytes")  # same_bytes.c
WORLD = {"environment": "h2", "arms": 12, "dim": 6, "rounds": 40, "runs": 1, "seed": 3}


def flags(**options):
    return [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", str(value))]


@pytest.fixture(scope="module")
def draws(tmp_path_factory):
    folder = tmp_path_factory.mktemp("draws")
    subprocess.run([PROGRAM, "draw", *flags(**WORLD, out=folder)], check=True)
    return {name: np.load(folder / f"{name}.npy")[0] for name in ("contexts", "scores", "noise")}


def trace_of_program(folder, algorithm, options):
    path = folder / "trace.json"
    subprocess.run([PROGRAM, "run", *flags(**WORLD, slate=3, algorithm=algorithm, trace=path, **options), "--quiet"], check=True)
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("algorithm, options", [
    ("cn-ucb", {"hidden": 20}),
    ("cn-ts", {"hidden": 20, "preset": "paper", "train_steps": 20}),
    ("comblin-ucb", {}),
    ("random", {}),
])
def test_the_program_chooses_the_same(algorithm, options, draws, tmp_path):
    options = {**options, "precision": "double"}  # a trace has 17 digits then
    if algorithm != "random":
        options["widths"] = "all"
    agent = superarm.Agent(algorithm, random_state=WORLD["seed"], dim=WORLD["dim"], rounds=WORLD["rounds"], slate=3, **options)
    for t, line in enumerate(trace_of_program(tmp_path, algorithm, options)):
        decision = agent.select(draws["contexts"][t])
        assert decision.arms.tolist() == line["slate"]
        for name, values in (("mean", decision.all_estimates), ("width", decision.all_widths), ("score", decision.all_scores)):
            theirs = np.array([np.nan if value is None else value for value in line[name]])
            np.testing.assert_array_equal(values, theirs)
        feedback = (draws["scores"][t] + draws["noise"][t])[decision.arms]
        agent.update(decision, feedback)


@pytest.mark.parametrize("algorithm, options", [
    ("cn-ucb", {"hidden": 20}),
    ("cn-ucb", {"hidden": 20, "precision": "double", "seed": 2**40}),
    ("cn-ts", {"hidden": 20, "train_steps": 20}),
    ("neural-linear", {"hidden": 20, "train_steps": 20}),
    ("comblin-ts", {"preset": "paper"}),
])
def test_an_agent_in_c_chooses_the_same(algorithm, options):
    contexts = np.random.default_rng(4).normal(size=(40, 12, 6))
    given = {"preset": "tuned", "algorithm": algorithm, "dim": 6, **options}
    words = [word for name, value in given.items() for word in (name.replace("_", "-"), str(value))]
    in_c = subprocess.run([IN_C, "3", "12", "6", *words], input=contexts.tobytes(), stdout=subprocess.PIPE, check=True).stdout
    agent, shown = superarm.Agent(**given), []
    for x in contexts:
        decision = agent.select(x, slate=3)
        shown += [decision.arms.astype(float), decision.all_estimates, decision.all_widths, decision.all_scores]
        agent.update(decision, x[decision.arms, 0])
    assert np.concatenate(shown).tobytes() == in_c


def test_float32_and_float64_are_the_same_numbers(draws):
    """Contexts of single precision are exact in double, so nothing may differ."""
    contexts = draws["contexts"].astype(np.float32)
    agents = [superarm.Agent("cn-ucb", dim=WORLD["dim"], hidden=20) for _ in range(2)]
    for t in range(10):
        decisions = [agent.select(contexts[t].astype(kind), slate=3) for agent, kind in zip(agents, (np.float32, np.float64))]
        np.testing.assert_array_equal(decisions[0].all_scores, decisions[1].all_scores)
        for agent, decision in zip(agents, decisions):
            agent.update(decision, draws["scores"][t][decision.arms])


def test_a_seed_repeats_and_another_does_not():
    contexts = np.random.default_rng(1).normal(size=(30, 4))
    arms = [superarm.Agent("random", dim=4, random_state=seed).select(contexts, slate=10).arms.tolist() for seed in (1, 1, 2)]
    assert arms[0] == arms[1] != arms[2]
    assert superarm.Agent(dim=4, random_state=None).options["seed"] != superarm.Agent(dim=4, random_state=None).options["seed"]
