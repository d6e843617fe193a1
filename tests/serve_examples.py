#!/usr/bin/env python3
"""serve_examples.py PROGRAM: the examples with curl, Node and Python run, and the systemd unit names what there is."""
import os
import re
import shutil
import subprocess
import sys

from service import home, main

PROGRAM = sys.argv[1]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "service")


def find_python(folder):
    """The Python that the package was built for."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.path.exists(python) and not subprocess.run([python, "-Bc", "import superarm"], capture_output=True, env={**os.environ, "PYTHONPATH": folder}).returncode:
            return python
    return "no python with superarm"


def examples_run():
    with home(PROGRAM) as server:
        python = os.path.join(os.path.dirname(PROGRAM), "python")
        interpreter = find_python(python)
        for name, command in (("curl", ["sh", "shop.sh"]), ("node", ["node", "shop.js"]), ("python", [interpreter, "-B", "shop.py"])):
            if name == "python" and os.environ.get("SUPERARM_SANITIZED"):
                continue  # that build has no Python package
            if not shutil.which(command[0]):
                assert not os.environ.get("CI"), name + " is missing, and CI is set"
                print(name, "is missing: its example is not run")
                continue
            command[-1] = os.path.join(EXAMPLES, command[-1])
            done = subprocess.run([*command, f"http://127.0.0.1:{server.port}"], capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": python})
            assert done.returncode == 0 and "learnt" in done.stdout, (name, done)
            assert server.call("GET", "/v1/agents/" + name)[1]["counts"]["learnt"] == 1, name


def the_lines_of_the_docs_run():
    docs = open(os.path.join(EXAMPLES, "..", "..", "docs", "SERVICE.md")).read()
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", docs, re.S) if "curl" in block]
    assert len(blocks) >= 4, blocks
    with home(PROGRAM) as server:
        for block in blocks:
            script = 'set -e\ncurl() { command curl -sS --fail-with-body "$@"; }\n' + block.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=30)
            assert done.returncode == 0, (block, done)


def the_docs_name_tests_that_there_are():
    here = os.path.dirname(os.path.abspath(__file__))
    docs, made = open(os.path.join(EXAMPLES, "..", "..", "docs", "SERVICE.md")).read(), open(os.path.join(here, "CMakeLists.txt")).read()
    named = [name for group in re.findall(r"[Tt]ests? ((?:`[a-z_]+`(?:, | and )?)+)", docs) for name in re.findall(r"`([a-z_]+)`", group)]
    assert len(set(named)) > 10, named
    for name in named:
        there = any(os.path.exists(os.path.join(here, file)) for file in (name + ".py", f"test_{name}.c", name + ".c"))
        assert there or f"NAME {name} " in made, name


def the_unit_starts_it_as_documented():
    unit = open(os.path.join(EXAMPLES, "superarm.service")).read()
    flags = set(word for line in unit.splitlines() if "ExecStart" in line for word in line.split() if word.startswith("--"))
    helped = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True).stdout
    assert flags and all(flag + " " in helped for flag in flags), flags


if __name__ == "__main__":
    main(examples_run, the_lines_of_the_docs_run, the_docs_name_tests_that_there_are, the_unit_starts_it_as_documented)
