"""The type hints hold, and are there for those who check theirs."""

import importlib.util
import os
import subprocess
import sys

import pytest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_the_types_hold(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", os.path.join(FOLDER, "..", "pyproject.toml"), "--cache-dir",
                           str(tmp_path), os.path.join(FOLDER, "superarm")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
