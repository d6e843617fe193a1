"""A log of every run, written while it runs: a line of JSON every so many rounds and one at the end of each run. W&B, TensorBoard and MLflow
take their five lines in the same place: `wandb.log({...}, step=played.round)`, say.

    python3 file_logger.py [--quick]
"""

import json
import sys

import superarm

rounds = 100 if "--quick" in sys.argv else 1000
with open("rounds.jsonl", "w", encoding="utf-8") as file:

    def on_round(played):
        if played.round % 50 == 49:
            print(json.dumps({"agent": played.label, "run": played.run, "round": played.round + 1, "regret": played.expected_regret}), file=file, flush=True)

    def on_run(played):
        print(f"{played.label}, run {played.run}: regret {played.expected_regret:.2f}, reward {played.reward:.2f}")

    superarm.run("h2", ["cn-ucb", "comblin-ucb", "random"], dim=8, rounds=rounds, runs=2, on_round=on_round, on_run=on_run, progress=False)
