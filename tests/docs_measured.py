#!/usr/bin/env python3
"""docs_measured.py: the pages of docs/measured are whole (tools/measured --check), and no other page of docs/ has a measured number of its own.

A measured number is taken for one with a decimal point in prose or in a table. Not meant are what stands in code, formulas (indented by four or in
backquotes), options and definitions in backquotes, and the numbers of sections, versions and years.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMED = r"(?:Sections?|Python|version|Lemma|Theorem|Experiment|Eq\.|arXiv:?|Debian|gcc|PMLR|UCI)\s*\(?\d+(?:\.\d+)+(?: (?:and|to|or) \d+(?:\.\d+)+)?"


def prose(text):
    """(number, line) of what is neither code nor a formula."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and not line.startswith("    "):
            yield number, re.sub(NAMED, "", re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "", line)))


def decimals(text):
    return [(number, found) for number, line in prose(text) for found in re.findall(r"(?<![\w.:/])\d+\.\d+(?![\w.]*[\w]\.)", line)]


def main():
    samples = [("It takes 0.1 ms.", 1), ("`--gamma 0.1`", 0), ("Section 4.4 says", 0), ("version 0.1.0", 0), ("```\n0.5\n```", 0), ("    x = 0.5", 0),
               ("arXiv:2306.00242", 0), ("| 3.5 | 2.5 |", 2)]
    for text, count in samples:
        assert len(decimals(text)) == count, text
    wrong = [f"docs/{page.name}:{number}: {found} is a measured number: put it on a page of docs/measured and link to that"
             for page in sorted((ROOT / "docs").glob("*.md")) for number, found in decimals(page.read_text(encoding="utf-8"))]
    print("\n".join(wrong))
    return subprocess.run([ROOT / "tools" / "measured", "--check"]).returncode or (1 if wrong else 0)


sys.exit(main())
