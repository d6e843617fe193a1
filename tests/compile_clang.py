#!/usr/bin/env python3
"""compile_clang.py SOURCE BUILD: clang takes serve/ without a warning, with the flags that the build has; and the benchmarks that need no BLAS, which no test builds. Without clang it is
left out; in CI it must be there."""
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys

SOURCE, BUILD = (os.path.realpath(path) for path in sys.argv[1:3])
clang = shutil.which("clang")
if not clang:
    print("compile_clang: clang is missing: tools/setup --test installs it")
    sys.exit(1 if os.environ.get("CI") else 77)


def flags(command):
    """Without compiler, launcher, input and output, and without what only gcc knows."""
    words, kept = shlex.split(command), []
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    for i, word in enumerate(words):
        if word in ("-o", "-c") or (i and words[i - 1] in ("-o", "-c")) or word == "-fno-sanitize-recover=all" or word.startswith("-fsanitize"):
            continue
        kept.append(word)
    return kept


groups = {}
for each in json.load(open(BUILD + "/compile_commands.json")):
    path = os.path.realpath(os.path.join(each["directory"], each["file"]))
    if os.path.dirname(path) == SOURCE + "/serve":
        groups.setdefault(tuple(flags(each["command"])), []).append(path)
seen = {path for paths in groups.values() for path in paths}
assert len(seen) > 100, f"{len(seen)} files of serve/ in compile_commands.json"
largest = max(groups, key=lambda key: len(groups[key]))
without = [path for path in glob.glob(SOURCE + "/serve/*.c") if path not in seen]  # what a build without libpq has
groups[largest] += without
benches = [path for path in glob.glob(SOURCE + "/bench/*.c") if "cblas" not in (text := open(path).read()) and "lapacke" not in text and "coin/" not in text]
assert len(benches) > 10, benches
groups[(*largest, f"-I{SOURCE}/src", f"-I{SOURCE}/include", f"-I{SOURCE}/serve", f"-I{SOURCE}/bench", "-DSA_REAL_BITS=32")] = benches
for options, paths in groups.items():
    done = subprocess.run([clang, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options, *sorted(paths)], cwd=BUILD)
    if done.returncode:
        sys.exit(1)
print(f"compile_clang: {len(seen) + len(without)} files of serve/, {len(benches)} benchmarks")
