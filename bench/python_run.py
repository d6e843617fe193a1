"""What superarm.run takes beside the program, for the same work: wall clock and processor time, in turn, the fastest of each.

    PYTHONPATH=build/python python3 bench/python_run.py [repeats]
"""

import os
import subprocess
import sys
import time

import superarm

PROGRAM = os.environ.get("SUPERARM", "build/superarm")
WORK = {"environment": "h2", "rounds": 600, "runs": 2, "threads": 2}
ALGORITHMS = ["cn-ucb", "comblin-ucb"]


def program():
    flags = [word for name, value in WORK.items() for word in (f"--{name}", str(value))]
    subprocess.run([PROGRAM, "run", *flags, "--algorithm", ",".join(ALGORITHMS), "--quiet"], check=True)


def python():
    superarm.run(agents=ALGORITHMS, **WORK)


def measure(work):
    wall, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    return time.perf_counter() - wall, sum(after[:4]) - sum(before[:4])


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    taken = {"program": [], "superarm.run": []}
    for _ in range(repeats):
        taken["program"].append(measure(program))
        taken["superarm.run"].append(measure(python))
    print(f"{', '.join(ALGORITHMS)} in {WORK}, the fastest of {repeats}")
    print(f"{'':14}{'seconds':>9}{'processor':>11}")
    fastest = {who: [min(column) for column in zip(*times)] for who, times in taken.items()}
    for who, (wall, processor) in fastest.items():
        print(f"{who:14}{wall:9.3f}{processor:11.3f}")
    print(f"{'ratio':14}" + "".join(f"{ours / theirs:{width}.3f}" for ours, theirs, width in zip(fastest["superarm.run"], fastest["program"], (9, 11))))


if __name__ == "__main__":
    main()
