"""docs_blocks.py SUPERARM SCRATCH [PAGE ...]: every command, every block of C and of Python in the README and in docs/ runs.

Blocks of one page run in order in one folder. The program is the real one, with fewer rounds and runs. What needs another machine, root or
a long time is called through a stand-in below, which checks what can be checked here (targets of make exist, benchmarks have a source).
LOGS.md, STRUCTURE.md, TUTORIAL.md and PERSONALIZER.md have tests of their own that check what is printed, too; the Python of PYTHON.md, PAGES.md and LOGS.md is
run by python/tests/test_docs.py.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap

PROGRAM, SCRATCH = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
BUILD, ROOT = os.path.dirname(PROGRAM), os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ELSEWHERE = {"LOGS.md": {"sh", "c", "python", "yaml"}, "STRUCTURE.md": {"sh", "c"}, "TUTORIAL.md": {"sh", "c", "python"},
             "PYTHON.md": {"python"}, "PAGES.md": {"python"}, "PERSONALIZER.md": {"sh"}}
SECONDS = 900  # a slow laptop, busy with other things, keeps this; a page that hangs does not

# What the run is asked for is made small; all else is as it stands on the page.
SUPERARM = """#!/usr/bin/env python3
import os, subprocess, sys, time, urllib.request
words = sys.argv[1:]
def least(flag, most, missing):
    if flag in words: words[words.index(flag) + 1] = str(min(int(words[words.index(flag) + 1]), most))
    elif missing: words.extend([flag, str(most)])
if words[:1] in (["run"], ["reproduce"], ["sweep"], ["draw"]):
    spec = len(words) > 1 and words[1].endswith(".yaml") and words[0] != "reproduce"
    least("--rounds", 20, not spec); least("--runs", 6, False)
    if not spec and "--runs" not in words: words.extend(["--runs", "2"])
if words[:1] == ["serve"] and "--dir" in words and "--backup" not in words:
    if os.path.exists("pid"): os.kill(int(open("pid").read()), 15); time.sleep(1)
    server = subprocess.Popen(["%(program)s", *words, "--port", "%(port)d", "--quiet"])
    open("pid", "w").write(str(server.pid))
    for attempt in range(100):
        try: urllib.request.urlopen("http://127.0.0.1:%(port)d/healthz"); sys.exit(0)
        except OSError: time.sleep(0.1)
    sys.exit("the service does not answer")
os.execv("%(program)s", ["%(program)s", *words])
"""

STAND_INS = {
    "make": '%(make)s -n -C "%(root)s" "$@" >/dev/null',
    "sudo": 'exec "$@"',
    "ldconfig": ":",
    "pip": '[ "$*" = "install ." ] && [ -f "%(root)s/pyproject.toml" ]',
    "python3": 'exec "%(python)s" "$@" </dev/null',
    "perf": 'while [ "$1" != superarm ]; do shift; done; exec "$@"',
    "ssh": 'mkdir -p "$1" && cp -f *.yaml "$1" && cd "$1" && shift && exec sh -c "$*"',
    "rsync": 'from=$(echo "$2" | tr : /); mkdir -p "$3" && exec cp -r "$from." "$3"',
    "parallel": 'for i in 0 1 2 3 4 5 6 7; do $(echo "$*" | sed "s/ ::: .*//; s/{}/$i/") || exit 1; done',
    "sbatch": "cat >/dev/null; echo 1",  # cli_slurm has a real one
    "squeue": ":", "sacct": ":", "scontrol": "echo MaxArraySize = 1001",
}


def blocks(page, kind):
    return re.findall(r"^```%s\n(.*?)^```" % kind, page, re.DOTALL | re.MULTILINE)


def die(name, what):
    sys.exit("%s: %s" % (name, what))


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def folder_of(name, python):
    """A folder with the stand-ins, and build/ as the README has it."""
    folder, port = os.path.join(SCRATCH, name), free_port()
    names = {"program": PROGRAM, "root": ROOT, "python": python, "port": port, "make": shutil.which("make")}
    os.makedirs(os.path.join(folder, "bin"))
    os.makedirs(os.path.join(folder, "build"))
    for place in "bin", "build":
        write(os.path.join(folder, place, "superarm"), SUPERARM % names, 0o755)
    for word, script in STAND_INS.items():
        write(os.path.join(folder, "bin", word), "#!/bin/sh\n" + script % names + "\n", 0o755)
    for bench in (entry[:-2] for entry in os.listdir(os.path.join(ROOT, "bench")) if re.fullmatch(r"bench_\w+\.c", entry)):
        write(os.path.join(folder, "build", bench), "#!/bin/sh\n:\n", 0o755)
    os.symlink(os.path.join(BUILD, "python"), os.path.join(folder, "build", "python"))
    with open(os.path.join(ROOT, "examples", "quickstart.c"), encoding="utf-8") as file:
        write(os.path.join(folder, "shop.c"), file.read())
    return folder, port


def run(name, folder, words, prefix):
    environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"], OPENBLAS_NUM_THREADS="1",
                       PKG_CONFIG_PATH=prefix + "/lib/pkgconfig", LD_LIBRARY_PATH=prefix + "/lib",
                       PYTHONPATH=os.path.join(BUILD, "python"), PYTHONDONTWRITEBYTECODE="1")
    try:
        with open(os.path.join(folder, "said"), "w", encoding="utf-8") as said:
            done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                  timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        die(name, "%s takes more than %d seconds" % (words, SECONDS))
    with open(os.path.join(folder, "said"), encoding="utf-8", errors="replace") as said:
        text = said.read()
    if done.returncode:
        die(name, "%s: status %d\n%s" % (words, done.returncode, text[-3000:]))
    return text


def run_commands(name, page, folder, port, prefix):
    for block in blocks(page, "yaml"):
        write(os.path.join(folder, "sweep.yaml"), re.sub(r"(?m)^runs: .*", "runs: 2", re.sub(r"(?m)^rounds: .*", "rounds: 20", block)))
    script = "set -e\n" + "\n".join(blocks(page, "sh"))
    script = script.replace("8080", str(port)).replace("0.0.0.0", "127.0.0.1").replace("curl ", "curl -sS --fail-with-body ")
    write(os.path.join(folder, "commands.sh"), script)
    said = run(name, folder, ["bash", "-x", "commands.sh"], prefix)
    return said.count("superarm ") + said.count("make ") + said.count("curl ")


PRELUDE = """#include <stdio.h>
#include <stdlib.h>
%s
int main(void) {
    size_t n_arms = 20;
    double *contexts = calloc(n_arms * 80, sizeof *contexts), scores[4] = {1, 0, 1, 0};
    for (size_t i = 0; i < n_arms * 80; i++) contexts[i] = (double)(i * 7919 %% 1000) / 1000 - 0.5;
%s
    return sa_agent_save(agent, "again.npz");
}
"""


def run_c(name, page, folder, prefix):
    code = "\n".join(blocks(page, "c"))
    code = code.replace("#include <superarm/superarm.h>\n", "")
    write(os.path.join(folder, "page.c"), PRELUDE % ("#include <superarm/superarm.h>", textwrap.indent(code, "    ")))
    run(name, folder, ["sh", "-c", "cc page.c -o page $(pkg-config --cflags --libs superarm) && ./page"], prefix)


PYTHON = """import numpy as np
import superarm
contexts, scores = np.random.default_rng(1).normal(size=(20, %d)), [1, 0, 1, 0]
agent = superarm.Agent("cn-ucb", dim=%d, slate=3, floor=0.1) if %r == "EVALUATION.md" else None
%s"""


def run_python(name, page, folder, port, prefix):
    code = "\n".join(blocks(page, "python"))
    if "8080" in code:  # a service without keys
        run(name, folder, ["superarm", "serve", "--dir", "without-keys"], prefix)
        code = code.replace("8080", str(port))
    dim = 80 if name == "README.md" else 5
    write(os.path.join(folder, "page.py"), PYTHON % (dim, dim, name, code))
    run(name, folder, ["python3", "page.py"], prefix)


def stop(folder):
    path = os.path.join(folder, "pid")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            os.kill(int(file.read()), 9)


def main():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        python = re.search(r"^SUPERARM_PYTHON_FOUND:INTERNAL=(.*)$", cache.read(), re.MULTILINE)[1]
    prefix = os.path.join(SCRATCH, "installed")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    pages = sys.argv[3:] or ["README.md", "CONTRIBUTING.md"] + sorted("docs/" + page for page in os.listdir(os.path.join(ROOT, "docs")) if page.endswith(".md"))
    count = 0
    for path in pages:
        name = os.path.basename(path)
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            page = file.read()
        kinds = {kind for kind in ("sh", "c", "python") if blocks(page, kind)} - ELSEWHERE.get(name, set())
        if not kinds:
            continue
        folder, port = folder_of(name, python)
        try:
            if "sh" in kinds:
                count += run_commands(name, page, folder, port, prefix)
            if "c" in kinds:
                run_c(name, page, folder, prefix)
            if "python" in kinds:
                run_python(name, page, folder, port, prefix)
        finally:
            stop(folder)
    if count < 60 and not sys.argv[3:]:
        sys.exit("only %d commands were found" % count)
    print("%d commands ran" % count)


main()
