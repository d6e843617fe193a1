"""Options: Python keywords and values as the C library's names and texts. The list itself is C's."""

from __future__ import annotations

import difflib
import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._native import ffi, lib, text
from .errors import InputError, check

_SCOPES = {lib.SA_SCOPE_AGENT: "agent", lib.SA_SCOPE_ENVIRONMENT: "environment", lib.SA_SCOPE_EXPERIMENT: "experiment",
           lib.SA_SCOPE_OUTPUT: "output"}


class Option(NamedTuple):
    """A line of the list of options."""

    name: str  # as a Python keyword
    alias: Optional[str]
    kind: str  # "integer", "number", "text", "path", "choice" or "flag"
    choices: Tuple[str, ...]
    help: str
    scope: str  # "agent", "environment", "experiment" or "output"
    group: str  # what it is listed under: "environment", "model", "exploration"...


def keyword(name: str) -> str:
    """The C library's `train-every` as the keyword `train_every`."""
    return name.replace("-", "_")


def option_name(name: str) -> str:
    """The keyword `train_every` as `train-every`; `lambda_` for the alias `lambda`, which Python keeps for itself."""
    return name.rstrip("_").replace("_", "-")


def option_text(name: str, value: Any) -> str:
    """A value as the text that C takes: True as "true", 0.1 as "0.1", [1, 0.5] as "1,0.5", [[0, 1], [1, 2]] as "0,1|1,2"."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        path = os.fspath(value)
        return path if isinstance(path, str) else os.fsdecode(path)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple)) and value and _is_datum(name) and all(isinstance(row, (list, tuple, np.ndarray)) for row in value):
        return "|".join(option_text(name, [int(one) if isinstance(one, (bool, np.bool_)) else one for one in row]) for row in value)
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return ",".join(option_text(name, entry) for entry in value)
    if isinstance(value, np.ndarray) and value.ndim == 2 and _is_datum(name):
        return "|".join(option_text(name, row) for row in (value.astype(int) if value.dtype == bool else value))
    raise InputError(f"{name} is a {type(value).__name__}, and text, a number, True, False or a list of these is wanted")


class Default(int):
    """The number that a parameter is unless given, told from the same number given."""


def set_options(options: Mapping[str, Any], set_one: Callable[[bytes, bytes], Any], parameters: Iterable[str] = ()) -> None:
    """Sets each that is not None, with sa_options_set, sa_experiment_set or the like. `parameters`: other names that the caller's
    function takes, and may have been meant."""
    for name, value in _check_names(options, parameters).items():
        check(set_one(c_text(option_name(name), "an option's name"), c_text(option_text(name, value), name)))


def _check_names(options: Mapping[str, Any], parameters: Iterable[str]) -> Dict[str, Any]:
    """Those that are not None, when no option is given by two names. What is no option at all, C says, unless a parameter is meant."""
    given = {name: value for name, value in options.items() if value is not None}
    meant: Dict[str, str] = {}
    for name in given:
        option = _ALIASES.get(name.rstrip("_"), name.rstrip("_"))
        if option in meant:
            raise InputError(f"{meant[option]} and {name} are the same option: give one of them")
        meant[option] = name
        if option not in _ALL and parameters and not _is_datum(option):
            near = did_you_mean(name, [*parameters, *_ALL])
            if near in [f"; did you mean {parameter}?" for parameter in parameters]:
                raise InputError(f"{name} is not an option{near}")
    return {"seed" if name == "random_state" else name: value for name, value in given.items()}


def _is_datum(name: str) -> bool:
    """Is this oracle data, such as edges or target, which runs take like options?"""
    found, line = ffi.new("const char **"), ffi.new("const char **")
    index = 0
    while lib.sa_problem_name_at(index, found, line):
        if text(found[0]) == name:
            return True
        index += 1
    return False


def is_option(name: str) -> bool:
    """Is this a keyword of an option, or another name of one?"""
    return name.rstrip("_") in _ALL or name.rstrip("_") in _ALIASES


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """"; did you mean costs?", or nothing."""
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {near[0]}?" if near else ""


def c_text(value: Union[str, bytes, "os.PathLike[Any]"], name: str) -> bytes:
    """Text, or a path, as C takes it."""
    try:
        encoded = os.fsencode(value)
    except UnicodeError as error:
        raise InputError(f"{name}: {error}") from None
    if b"\0" in encoded:
        raise InputError(f"{name} has a zero character in it")
    return encoded


def _infos() -> Iterator[Any]:
    info = ffi.new("sa_option_info *")
    for index in range(lib.sa_option_count()):
        lib.sa_option_at(index, info)
        yield info


def options() -> List[Option]:
    """All options, in the order of the list that the program's flags and YAML keys come from too.

    >>> import superarm
    >>> {option.name: option for option in superarm.options()}["train_every"].help
    'answered decisions between two trainings'
    """
    return [Option(keyword(text(info.name) or ""), text(info.alias), text(info.kind) or "",
                   tuple((text(info.choices) or "").split("|")) if info.choices else (), text(info.help) or "",
                   _SCOPES[info.scope], text(info.group) or "") for info in _infos()]


_ALIASES = {"random_state": "seed", **{option.alias: option.name for option in options() if option.alias}}
_SHARED = ("dim", "slate", "seed", "first_run", "rounds")  # of the environment or experiment, and an agent looks at them
OF_AGENTS = frozenset(option.name for option in options() if option.scope == "agent" or option.name in _SHARED)
_ALL = frozenset(option.name for option in options())
_OTHERS = _ALL - OF_AGENTS


def check_agents_own(options: Mapping[str, Any], problem_names: Iterable[str]) -> None:
    """No option that an agent would not look at."""
    for name, value in options.items():
        if value is not None and (name.rstrip("_") in _OTHERS or name in problem_names) and name not in OF_AGENTS:
            taker = "Agent.select" if name in problem_names else "superarm.run"
            raise InputError(f"{name} is not an option of an agent; {taker} takes it")


def reads(algorithm: str, name: str) -> bool:
    """Does this algorithm look at this option of agents?"""
    handle = ffi.gc(lib.sa_options_new(ffi.NULL), lib.sa_options_destroy)
    check(lib.sa_options_set(handle, b"algorithm", c_text(algorithm, "algorithm")))
    return bool(lib.sa_option_is_read(handle, option_name(name).encode()))


_READERS: Dict[str, Callable[[str], Any]] = {"integer": int, "number": float, "flag": lambda value: value == "true"}


def _read(kind: str, value: str) -> Any:
    try:
        return _READERS.get(kind, str)(value)
    except ValueError:  # a number that is the word theory
        return value


def read_options(handle: Any) -> Dict[str, Any]:
    """The values of a sa_options, by keyword."""
    buffer = ffi.new("char[]", 1 << 16)
    found = {}
    for info in _infos():
        check(lib.sa_options_get(handle, info.name, buffer, len(buffer)))
        found[keyword(text(info.name) or "")] = _read(text(info.kind) or "", os.fsdecode(ffi.string(buffer)))
    return found


def read_option(handle: Any, name: str) -> str:
    """One value, as text."""
    buffer = ffi.new("char[]", 1 << 16)
    check(lib.sa_options_get(handle, name.encode(), buffer, len(buffer)))
    return os.fsdecode(ffi.string(buffer))
