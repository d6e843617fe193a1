"""The code of docs/PYTHON.md, docs/PAGES.md and docs/LOGS.md runs, from the first block to the last, in one namespace a page."""

import os
import re

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


@pytest.mark.parametrize("name, least", [("PYTHON.md", 6), ("PAGES.md", 4), ("LOGS.md", 1)])
def test_the_page(tmp_path, monkeypatch, name, least):
    path = os.path.join(ROOT, "docs", name)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    assert len(blocks) >= least
    for block in blocks:
        line = page[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], path, "exec"), names)
