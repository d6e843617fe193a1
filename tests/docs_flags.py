#!/usr/bin/env python3
"""docs_flags.py PROGRAM: what README, docs and examples name exists: every --flag, in the program or in a tool of the repository, every
page and heading that a link leads to, every `source.c` in backquotes; every preset's version is the present one (`tuned-2`), and the table
of what `tuned` changes is what the program's specs say."""

import pathlib
import re
import subprocess
import sys

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
ROOT = pathlib.Path(__file__).resolve().parent.parent
# of other programs, where they are named
OTHERS = {"--time", "--mem", "--parsable", "--array", "--dependency", "--wrap", "--ntasks", "--cpus-per-task", "--job-name", "--output",  # sbatch
          "--prefix", "--build", "--install", "--test-dir", "--output-on-failure",  # cmake, ctest
          "--user", "--break-system-packages", "--no-deps", "--cov",  # pip, pytest
          "--data-binary", "--silent", "--fail", "--retry", "--recursive", "--depth", "--since", "--rm", "--publish", "--volume", "--name", "--read-only",
          "--solver-seconds",  # of the service
          "--partition", "--system-site-packages", "--fail-with-body", "--gama",  # sbatch, venv, curl, and a mistake that is shown
          "--now", "--system", "--global", "--cflags", "--libs", "--interleaved", "--restart", "--grep"}


def said(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    return done.stdout + done.stderr


def flags(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*", text))


def known():
    found = {"--help", "--version"}
    options = said("list", "options").splitlines()[1:]
    found |= {"--" + line.split()[0] for line in options} | {"--no-" + line.split()[0] for line in options if line.split()[2] == "flag"}
    found |= flags(said("list", "options"))
    commands = re.findall(r"^  ([a-z]+)\s", said("--help"), re.M)
    assert len(commands) > 8, commands
    for command in commands:
        found |= flags(said(command, "--help"))
    for tool in [*(ROOT / "tools").iterdir(), *(ROOT / "bench").glob("*.py")]:
        if tool.is_file():
            found |= flags(tool.read_text(errors="ignore"))
    found |= flags((ROOT / "Makefile").read_text())
    return found


def pages():
    yield ROOT / "README.md"
    yield ROOT / "CONTRIBUTING.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from sorted((ROOT / "examples").rglob("*"))


def slug(heading):
    """As GitHub makes it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def headings(page):
    found, inside, counts = set(), False, {}
    for line in page.read_text().splitlines():
        inside ^= line.startswith("```")
        if not inside and re.match(r"#{1,6} ", line):
            name = slug(line.lstrip("#"))
            found.add(name if name not in counts else f"{name}-{counts[name]}")
            counts[name] = counts.get(name, 0) + 1
    return found


def dead_links(page):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for path, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", path):
                continue
            target = (page.parent / path) if path else page
            where = f"{page.relative_to(ROOT)}:{number}"
            if not target.exists():
                yield f"{where}: there is no {path}"
            elif anchor and target.suffix == ".md" and anchor not in headings(target):
                yield f"{where}: {path or page.name} has no heading #{anchor}"


FOLDERS = ("src", "cli", "serve", "include", "tests", "bench", "python", "examples", "tools", "clients")
SOURCES = {str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()}
NO_SOURCES = {"Python.h", "epsilon.c", "ridge.py", "_real.c"}  # of Python, of the tutorial, and the end of a name


def missing_sources(page):
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r"`([\w./-]+\.(?:c|h|py|sh|inc))`", line):
            if "NAME" not in name and name not in NO_SOURCES and not any(path == name or path.endswith("/" + name) for path in SOURCES):
                yield f"{page.relative_to(ROOT)}:{number}: there is no {name}"


def old_presets(page):
    present = dict(re.findall(r"^\S+ +((?:paper|icml23|tuned|section5))-(\d+):", said("list", "presets"), re.M))
    assert len(present) == 4, present
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for preset, version in re.findall(r"\b(paper|icml23|tuned|section5)-(\d+)\b", line):
            if version != present[preset]:
                yield f"{page.relative_to(ROOT)}:{number}: {preset}-{version} is not the present one, {preset}-{present[preset]}"


def measured_presets(page):
    """A page of docs/measured names the preset that it was made with, and that is the present one or is said to be older."""
    present = dict(re.findall(r"^\S+ +((?:paper|icml23|tuned|section5))-(\d+):", said("list", "presets"), re.M))
    rows = [line for line in page.read_text().partition("<!-- measured -->")[2].splitlines() if line.startswith("|")]
    cell = rows[2].strip("|").split("|")[1].strip() if len(rows) > 2 else ""
    where = page.relative_to(ROOT)
    if cell == "none":
        return
    named = re.findall(r"(before )?\b(paper|icml23|tuned|section5)-(\d+)\b", cell)
    if not named:
        yield f"{where}: its preset is {cell!r}, and a name with its version is wanted: tuned-{present['tuned']}, or none"
    for older, preset, version in named:
        if version != present[preset]:
            yield f"{where}: made with {older}{preset}-{version}, and the present one is {preset}-{present[preset]}: make it again, or say before {preset}-{present[preset]}"


def versions():
    """The program, CITATION.cff and the last version of CHANGELOG.md name the same version and day."""
    told = "{} ({})".format(*re.search(r"^## \[(\d\S*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M).groups())
    cited = (ROOT / "CITATION.cff").read_text()
    quoted = "{} ({})".format(re.search(r"^version: (\S+)$", cited, re.M)[1], re.search(r"^date-released: (\S+)$", cited, re.M)[1])
    program = said("--version").strip().partition(" ")[2]
    if not told == quoted == program:
        yield f"the program is {program}, CHANGELOG.md has {told}, CITATION.cff {quoted}"


def tuning_table():
    made = subprocess.run([ROOT / "tools" / "tuning-table", PROGRAM], capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "TUNING.md").read_text()
    if made not in page:
        yield "docs/TUNING.md: its table is not what tools/tuning-table prints"
    choices = {name.removeprefix("--"): value for name, value in re.findall(r"^\| `(\S+)` \| `(\S+)` \|", made, re.M)}
    for cell in re.findall(r"^\|[^|]*\| `([^`]*)` \|", page.partition("## All that differs")[0], re.M):
        words = cell.replace("--", "").split()
        for name, value in zip(words[::2], words[1::2]):
            if name in choices and choices[name] != value:
                yield f"docs/TUNING.md: {name} is {choices[name]}, not {value}"


def main():
    there, wrong = known() | OTHERS, []
    wrong += [*versions(), *tuning_table()]
    for page in pages():
        if page.suffix == ".md" and "measured" in page.parts and page.name != "README.md":
            wrong += measured_presets(page)
        if page.suffix == ".md" and "history" not in page.parts:
            wrong += [*dead_links(page), *missing_sources(page), *([] if "measured" in page.parts else old_presets(page))]  # those say what they were made with
    for page in pages():
        if not page.is_file() or page.suffix in (".png", ".svg", ".npy", ".npz") or "history" in page.parts:
            continue
        for number, line in enumerate(page.read_text(errors="ignore").splitlines(), 1):
            for flag in sorted(flags(line) - there):
                wrong.append(f"{page.relative_to(ROOT)}:{number}: {flag} is no flag of the program")
    print("\n".join(wrong) or "every flag that is named exists")
    return 1 if wrong else 0


sys.exit(main())
