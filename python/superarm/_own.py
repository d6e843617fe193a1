"""Your own algorithms and environments in the runner: Python objects as the callbacks that C takes (superarm/own.h)."""

from __future__ import annotations

import copy
import inspect
import sys
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Protocol, Tuple

import numpy as np

from . import _arrays as arrays
from ._code import describe
from ._native import ffi, lib
from ._options import c_text
from ._oracles import problem_data
from .errors import Error, InputError


class OwnAlgorithm(Protocol):
    """An algorithm of your own: any object with these, or a class or function that makes one.

    Every run has an object of its own: a class or function is called for each run, with the run's number where it has a parameter
    `run`; of an object each run gets a deep copy. A method `begin(run)` is called first where there is one. `select` may have the
    parameters `round`, which counts from 0, and `problem`, a dict of what the oracle asks of a slate: costs, capacity, groups, edges... by
    the names of `superarm.problem_names()`. A slate that breaks these rules is an error, unless the option own_slates says otherwise.
    `update` may have `round`, `contexts`, those of its arms, (K, d), and `observed`, (K). Without `observed` it gets only the arms that
    were seen.
    """

    def select(self, contexts: Any, k: int) -> Any:
        """k different arms out of contexts (N, d), best first."""

    def update(self, arms: Any, scores: Any) -> None:
        """What came of the arms that were chosen."""


class OwnEnvironment(Protocol):
    """An environment of your own: any object with these, or a class or function that makes one; runs get objects of their own
    as algorithms do, and each agent plays each run by itself, so the same run must always give the same.

    `arms`, `dim` and `rounds` may be attributes; else the first contexts tell, and the option `rounds`. Where rounds have different
    numbers of arms, `varies` is True, and `arms` the most. Without `feedback` an arm's score is what is expected and Gaussian noise,
    of the option `noise`, or what a method `noise(t)` gives, (N).
    """

    def contexts(self, t: int) -> Any:
        """What can be chosen in round t, counted from 0: (N, d)."""

    def expected(self, t: int) -> Any:
        """The expected scores of the same round, (N), which regret is measured with."""

    def feedback(self, t: int, arms: Any) -> Any:
        """The scores of the arms that were chosen, (K), or scores and a mask of those that were observed."""


# ---- what goes wrong in them ----


def note(error: BaseException, words: str) -> None:
    """Says where an exception came from, and leaves it as it is."""
    if sys.version_info >= (3, 11):
        error.add_note(words)
        return
    error.__notes__ = [*getattr(error, "__notes__", []), words]  # type: ignore[attr-defined]
    if error.__cause__ is None:  # tracebacks show this one
        error.__cause__ = Error(words)


class Failures:
    """The first exception in a callback, which waits here until C has returned."""

    def __init__(self) -> None:
        self.first: Optional[BaseException] = None

    def keep(self, error: BaseException, words: str) -> None:
        if self.first is None:
            self.first = error
            note(error, words)


def _parameters(method: Any, names: Tuple[str, ...]) -> FrozenSet[str]:
    """Which of these the method asks for by name."""
    try:
        return frozenset(inspect.signature(method).parameters).intersection(names)
    except (TypeError, ValueError):
        return frozenset()


def _returned(value: Any, made: Any, method: str) -> Any:
    if value is None:
        raise InputError(f"{method} of {type(made).__name__} returned None")
    return value


class Own:
    """What C has as `user`: makes the object of each run."""

    def __init__(self, source: Any, what: str, failures: Failures, methods: Tuple[str, ...], player: Callable[..., Any]) -> None:
        self.what, self.failures = what, failures
        self._source, self._methods, self._player = source, methods, player
        self._makes = isinstance(source, type) or (callable(source) and not hasattr(source, methods[0]))
        self._alive: Dict[int, Any] = {}  # what C holds pointers to
        self.handle = ffi.new_handle(self)
        self.code = ffi.new("char[]", c_text(describe(source), "code"))
        if not self._makes or isinstance(source, type):
            self.check(source)

    def check(self, found: Any) -> None:
        for method in self._methods:
            if not callable(getattr(found, method, None)):
                raise InputError(f"{self.what}: {found!r} has no method {method}")

    def make(self, run: int) -> Any:
        if self._makes:
            made = self._source(**({"run": run} if _parameters(self._source, ("run",)) else {}))
            self.check(made)
        else:
            made = copy.deepcopy(self._source)
        if callable(getattr(made, "begin", None)):
            made.begin(run)
        return made

    def begin(self, run: int) -> Any:
        player = self._player(self, self.make(run), run)
        player.handle = ffi.new_handle(player)
        self._alive[id(player)] = player
        return player.handle

    def end(self, player: Any) -> None:
        del self._alive[id(player)]
        player.handle = None  # it holds the player: without it, what a run has learnt is freed at once


class Player:
    """A run of an object of the caller's own."""

    handle: Any

    def __init__(self, own: Own, made: Any, run: int) -> None:
        self.own, self.made, self.run = own, made, run

    def failed(self, error: BaseException, t: int) -> int:
        self.own.failures.keep(error, f"{self.own.what}, run {self.run}, t = {t}")
        return 1


# ---- algorithms ----


class AgentPlayer(Player):
    def __init__(self, own: Own, made: Any, run: int) -> None:
        super().__init__(own, made, run)
        self.select_takes = _parameters(made.select, ("round", "problem"))
        self.update_takes = _parameters(made.update, ("round", "contexts", "observed"))
        self.shown: Dict[int, Any] = {}  # by round: the contexts of slates that wait for their feedback

    def select(self, seen: Any, arms: Any, length: Any) -> None:
        contexts = arrays.from_doubles(seen.contexts, seen.arms * seen.dim).reshape(seen.arms, seen.dim)
        extras: Dict[str, Any] = {"round": seen.round} if "round" in self.select_takes else {}
        if "problem" in self.select_takes:
            extras["problem"] = problem_data(seen.problem)
        kept = contexts.copy() if "contexts" in self.update_takes else None  # the algorithm may write into its own
        chosen = arrays.indices(_returned(self.made.select(contexts, seen.slate, **extras), self.made, "select"), "select")
        arrays.check_shape(chosen, "select", (None,), f"one axis of {seen.slate} arms")
        if len(chosen) > seen.slate:
            raise InputError(f"select chose {len(chosen)} arms, and {seen.slate} are wanted")
        if kept is not None:
            self.shown[seen.round] = kept[chosen[chosen < len(kept)]]  # C says what is wrong with the others
        ffi.memmove(arms, chosen.tobytes(), chosen.nbytes)
        length[0] = len(chosen)

    def update(self, t: int, arms: Any, scores: Any, observed: Any, length: int) -> None:
        chosen, values = arrays.from_sizes(arms, length), arrays.from_doubles(scores, length)
        seen = np.frombuffer(ffi.buffer(observed, length), np.bool_).copy() if observed else np.ones(length, np.bool_)
        extras: Dict[str, Any] = {"round": t, "contexts": self.shown.pop(t, None), "observed": seen}
        if "observed" not in self.update_takes and not seen.all():
            chosen, values = chosen[seen], values[seen]
            if extras["contexts"] is not None:
                extras["contexts"] = extras["contexts"][seen]
        self.made.update(chosen, values, **{name: extras[name] for name in self.update_takes})


def own_agent(source: Any, label: str, failures: Failures) -> Tuple[Own, Any]:
    """The object that C's pointers are valid as long as, and a sa_own_agent."""
    own = Own(source, f"agent {label}", failures, ("select", "update"), AgentPlayer)
    return own, ffi.new("sa_own_agent *", {
        "user": own.handle, "begin": lib.superarm_python_begin, "select": lib.superarm_python_select,
        "update": lib.superarm_python_update, "end": lib.superarm_python_end, "code": own.code})


# ---- environments ----


class EnvironmentPlayer(Player):
    arms = dim = 0  # of the experiment

    def contexts(self, t: int, out: Any, count: Any) -> None:
        most, dim = self.arms, self.dim
        contexts = arrays.doubles(_returned(self.made.contexts(t), self.made, "contexts"), "contexts")
        arrays.check_shape(contexts, "contexts", (None, dim), f"({most}, {dim})")
        if len(contexts) > most:
            raise InputError(f"contexts: there are {len(contexts)} arms, and there were to be at most {most}")
        ffi.memmove(out, arrays.double_pointer(contexts), contexts.nbytes)
        count[0] = len(contexts)

    def vector(self, method: str, t: int, out: Any, arms: int) -> None:
        values = arrays.doubles(_returned(getattr(self.made, method)(t), self.made, method), method)
        arrays.check_shape(values, method, (arms,), f"({arms},), one for each arm,")
        ffi.memmove(out, arrays.double_pointer(values), values.nbytes)

    def feedback(self, t: int, arms: Any, length: int, out: Any) -> None:
        found = _returned(self.made.feedback(t, arrays.from_sizes(arms, length)), self.made, "feedback")
        seen = None
        if isinstance(found, tuple) and len(found) == 2:
            found, mask = found
            seen = None if mask is None else arrays.flags(mask, "observed", length, "each arm of the slate")
        values = np.array(arrays.doubles(found, "feedback"))
        arrays.check_shape(values, "feedback", (length,), f"({length},), a score for each arm of the slate,")
        if seen is None and np.isnan(values).any():
            raise InputError("feedback: there is nan; say which scores were observed: return scores, observed")
        if seen is not None:
            values[~seen] = np.nan
            if np.isnan(values[seen]).any():
                raise InputError("feedback: a score that was observed is nan")
        ffi.memmove(out, arrays.double_pointer(values), values.nbytes)


def _size(made: Any, name: str, shape: Any) -> int:
    value = getattr(made, name, None)
    return int(shape()) if value is None or callable(value) else arrays.whole(value, f"the environment's {name}")


def own_environment(source: Any, first_run: int, failures: Failures) -> Tuple[Own, Any]:
    """The object that C's pointers are valid as long as, and a sa_own_environment."""

    class Sized(EnvironmentPlayer):
        pass

    own = Own(source, "the environment", failures, ("contexts", "expected"), Sized)
    made = own.make(first_run)
    first: List[Any] = []

    def shape(axis: int) -> int:
        if not first:
            found = arrays.doubles(_returned(made.contexts(0), made, "contexts"), "contexts")
            first.append(arrays.check_shape(found, "contexts", (None, None), "(arms, dim)"))
        return int(first[0].shape[axis])

    Sized.arms, Sized.dim = _size(made, "arms", lambda: shape(0)), _size(made, "dim", lambda: shape(1))
    calls = {"rounds": _size(made, "rounds", lambda: 0), "arms": Sized.arms, "dim": Sized.dim, "varies": bool(getattr(made, "varies", False)),
             "user": own.handle, "begin": lib.superarm_python_begin, "contexts": lib.superarm_python_contexts,
             "expected": lib.superarm_python_expected, "end": lib.superarm_python_end, "code": own.code}
    for optional in ("noise", "feedback"):
        if callable(getattr(made, optional, None)):
            calls[optional] = getattr(lib, f"superarm_python_{optional}")
    return own, ffi.new("sa_own_environment *", calls)


# ---- what C calls ----


@ffi.def_extern(error=1)
def superarm_python_begin(user, run, state):  # type: ignore[no-untyped-def]
    own = ffi.from_handle(user)
    try:
        state[0] = own.begin(run)
    except BaseException as error:
        own.failures.keep(error, f"{own.what}, run {run}, before its first round")
        return 1
    return 0


@ffi.def_extern()
def superarm_python_end(state):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    player.own.end(player)


def _guarded(player: Any, t: int, work: Callable[..., None], *arguments: Any) -> int:
    try:
        work(*arguments)
    except BaseException as error:  # KeyboardInterrupt too: it is raised again when C has returned
        return int(player.failed(error, t))
    return 0


@ffi.def_extern(error=1)
def superarm_python_select(state, seen, arms, length):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    return _guarded(player, seen.round, player.select, seen, arms, length)


@ffi.def_extern(error=1)
def superarm_python_update(state, t, arms, scores, observed, length):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    return _guarded(player, t, player.update, t, arms, scores, observed, length)


@ffi.def_extern(error=1)
def superarm_python_contexts(state, run, t, contexts, arms):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    return _guarded(player, t, player.contexts, t, contexts, arms)


@ffi.def_extern(error=1)
def superarm_python_expected(state, run, t, expected, arms):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    return _guarded(player, t, player.vector, "expected", t, expected, arms)


@ffi.def_extern(error=1)
def superarm_python_noise(state, run, t, noise, arms):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    return _guarded(player, t, player.vector, "noise", t, noise, arms)


@ffi.def_extern(error=1)
def superarm_python_feedback(state, run, t, arms, length, scores):  # type: ignore[no-untyped-def]
    player = ffi.from_handle(state)
    return _guarded(player, t, player.feedback, t, arms, length, scores)
