"""The tables behind `superarm list`."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from ._native import ffi, lib, text
from ._options import c_text
from .errors import InputError


class Algorithm(NamedTuple):
    """A line of the list of algorithms."""

    name: str
    summary: str
    model: Optional[str]  # what it learns with: "mlp", "linear"...


class Choice(NamedTuple):
    """A name and a line about it."""

    name: str
    summary: str


def algorithms() -> List[Algorithm]:
    """The named algorithms.

    >>> import superarm
    >>> superarm.algorithms()[0].name
    'cn-ucb'
    """
    name, line = ffi.new("const char **"), ffi.new("const char **")
    found: List[Algorithm] = []
    while lib.sa_algorithm_at(len(found), name, line):
        found.append(Algorithm(text(name[0]) or "", text(line[0]) or "", text(lib.sa_algorithm_model(name[0]))))
    return found


_KINDS = ("environments", "oracles", "confidence", "feedback", "presets")


def choices(kind: str) -> List[Choice]:
    """The "environments", "oracles", "confidence" engines, "feedback" models or "presets", whose lines begin with their versions.

    >>> import superarm
    >>> [choice.name for choice in superarm.choices("environments")][:3]
    ['h1', 'h2', 'h3']
    """
    if kind not in _KINDS:
        raise InputError(f"kind {kind!r}: there are {', '.join(_KINDS)}")
    name, line = ffi.new("const char **"), ffi.new("const char **")
    found: List[Choice] = []
    while lib.sa_choice_at(c_text(kind, "kind"), len(found), name, line):
        found.append(Choice(text(name[0]) or "", text(line[0]) or ""))
    return found
