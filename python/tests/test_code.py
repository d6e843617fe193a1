"""Results know the code that they are of: what changes it, what does not, and how an agent is run again."""

import json
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import superarm
from superarm._code import describe

SMALL = {"rounds": 20, "arms": 6, "dim": 3, "slate": 2, "runs": 2, "progress": False}


def made(text, **names):
    """What a piece of source defines as `it`."""
    found = {"__name__": "__main__", "np": np, **names}
    exec(compile(textwrap.dedent(text), "made.py", "exec"), found)
    return found["it"]


BODY = """
FIRST = {first}

def start():
    return FIRST

class it:
    def select(self, contexts, k):
        return (start() + np.arange(k)) % len(contexts)  # {comment}

    def update(self, arms, scores):
        pass
"""


def test_what_counts():
    one = describe(made(BODY.format(first=0, comment="a")))
    assert one == describe(made(BODY.format(first=0, comment="b"))), "a comment is no other code"
    assert one != describe(made(BODY.format(first=1, comment="a"))), "a constant that a function of it reads is"

    def closed(value):
        class It:
            def select(self, contexts, k):
                return value

        return It

    assert describe(closed([1, 2])) == describe(closed([1, 2])) != describe(closed([1, 3]))

    class Holder:
        def __init__(self, value):
            self.value, self.words = value, {"b", "a", "c"}

        def select(self, contexts, k):
            return np.arange(k)

    assert describe(Holder(np.ones(3))) == describe(Holder(np.ones(3))) != describe(Holder(np.zeros(3)))
    assert describe(Holder) != describe(Holder(1))

    class Child(Holder):
        pass

    other = describe(Child)
    Holder.update = lambda self, arms, scores: None
    assert describe(Child) != other, "what is inherited counts"
    ring = Holder(1)
    ring.value = [ring]
    assert describe(ring) == describe(ring)


def test_same_in_another_process(tmp_path):
    """Sets, dicts and addresses are in another order there; an edit of a module that it uses counts."""
    (tmp_path / "helper.py").write_text("def top(x): return x\n")
    (tmp_path / "mine.py").write_text(textwrap.dedent("""
        import helper
        class Mine:
            names = {"a", "b", "c", "d", "e"}
            table = {("x", 1): object(), "y": lambda z: z}
            def select(self, contexts, k):
                return helper.top(self.names)
            def update(self, arms, scores): pass
    """))

    def there(seed):
        done = subprocess.run([sys.executable, "-c", "import mine; from superarm._code import describe; print(describe(mine.Mine()))"],
                              cwd=tmp_path, env={**__import__("os").environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    one = there("1")
    assert one.startswith("Mine of mine.py, Python 3.") and one == there("2")
    (tmp_path / "helper.py").write_text("def top(x): return list(x)\n")
    assert there("1") != one


@pytest.mark.parametrize("processes", [None, 2])
def test_changed_class(tmp_path, processes):
    """Two runs of old code, and resume with new code under the same label."""
    out = tmp_path / "out"
    old, new = (made(BODY.format(first=first, comment="")) for first in (0, 1))
    first = superarm.run("h1", {"mine": old, "plain": "random"}, out=out, processes=processes, **SMALL)
    with pytest.raises(superarm.InputError, match=r"the code of agent mine \(it of __main__.py, Python.*has changed since.*--replace mine"):
        superarm.run("h1", {"mine": new, "plain": "random"}, out=out, resume=True, processes=processes, **{**SMALL, "runs": 4})
    same = superarm.load(out)
    assert same.runs == 2 and (same.expected_regret["mine"] == first.expected_regret["mine"]).all()
    grown = superarm.run("h1", {"mine": made(BODY.format(first=0, comment="c"))}, out=out, resume=True, processes=processes, **{**SMALL, "runs": 3})
    assert (grown.expected_regret["mine"][:2] == first.expected_regret["mine"]).all()
    again = superarm.run("h1", {"mine": new}, out=out, replace=["mine"], processes=processes, **{**SMALL, "runs": 3})
    alone = superarm.run("h1", {"mine": new}, **{**SMALL, "runs": 3})
    assert (again.expected_regret["mine"] == alone.expected_regret["mine"]).all()
    assert (superarm.load(out).expected_regret["mine"] == alone.expected_regret["mine"]).all()
    assert (superarm.load(out).expected_regret["plain"] == grown.expected_regret["plain"]).all()
    sessions = json.loads((out / "summary.json").read_text())["sessions"]
    assert sessions[-1]["code"]["agent mine"]["what"] == describe(new) and len(sessions[-1]["code"]["agent mine"]["sha256"]) == 64


def test_failed_replacement_loses_nothing_else(tmp_path):
    """The new code raises: the other agents' runs are there, and so is the way on."""

    class Fails:
        def select(self, contexts, k):
            raise ValueError("no slate today")

        def update(self, arms, scores):
            pass

    out = tmp_path / "out"
    old = made(BODY.format(first=0, comment=""))
    first = superarm.run("h1", {"mine": old, "plain": "random"}, out=out, **SMALL)
    with pytest.raises(ValueError, match="no slate today") as caught:
        superarm.run("h1", {"mine": Fails, "plain": "random"}, out=out, replace="mine", **SMALL)
    if sys.version_info >= (3, 11):
        assert re.search("agent mine, run [01], t = 0", str(caught.value.__notes__)), caught.value.__notes__  # two threads: either
    back = superarm.run("h1", {"mine": old, "plain": "random"}, out=out, resume=True, **SMALL)
    for label in ("mine", "plain"):
        assert (back.expected_regret[label] == first.expected_regret[label]).all()
