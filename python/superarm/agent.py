"""The agent: asks for nothing but contexts and feedback, and returns slates."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import uuid
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union

import numpy as np

from . import _arrays as arrays
from ._blas import guard
from ._native import ffi, fields, lib
from ._options import read_option, read_options, set_options
from ._oracles import OracleCall, Problem
from .errors import Error, InputError, check, failure, need

_NULL = ffi.NULL


class Decision:
    """What was chosen, and why. It stays valid whatever happens to the agent.

    Arrays are made when they are asked for: `arms` (K), best first, and arm by arm as in it `estimate` (the model's mean),
    `width` (sqrt(g' Z^-1 g / m); NaN without one) and `score` (the optimistic score); `all_estimates`, `all_widths` and
    `all_scores` are (N), or (N, K) for agents that tell positions apart.
    """

    __slots__ = ("id", "_agent", "_handle", "_values", "__weakref__")

    def __init__(self, agent: str, handle: Any, values: Optional[Dict[str, Any]] = None) -> None:
        self._agent = agent  # whose it is
        self._handle = handle
        self._values: Dict[str, Any] = values or {}
        self.id: int = values["id"] if values else lib.sa_decision_id(handle)

    def _value(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = _READERS[name](self._handle)
        return self._values[name]

    @property
    def arms(self) -> Any:
        """(K) indices of the chosen arms, best first or in the oracle's order."""
        return self._value("arms")

    @property
    def estimate(self) -> Any:
        """(K) the model's mean of each chosen arm."""
        return self._value("estimate")

    @property
    def width(self) -> Any:
        """(K) the confidence width of each chosen arm."""
        return self._value("width")

    @property
    def score(self) -> Any:
        """(K) the optimistic score of each chosen arm."""
        return self._value("score")

    @property
    def event(self) -> int:
        """The id of your own that was given to `select`."""
        return int(self._value("event"))

    @property
    def candidates(self) -> int:
        """N, how many arms there were."""
        return int(self._value("candidates"))

    @property
    def all_estimates(self) -> Any:
        """The model's mean of each candidate, (N), or (N, K) by position."""
        return self._value("all_estimates")

    @property
    def all_widths(self) -> Any:
        """The width of each candidate; with widths="needed" an upper bound for arms that could not reach the slate."""
        return self._value("all_widths")

    @property
    def all_scores(self) -> Any:
        """The optimistic score of each candidate; with widths="needed" an upper bound for arms that could not reach the slate."""
        return self._value("all_scores")

    def __len__(self) -> int:
        return len(self.arms)

    def __repr__(self) -> str:
        return f"Decision(id={self.id}, arms={self.arms.tolist()})"

    def __reduce__(self) -> Any:
        return Decision, (self._agent, None, {"id": self.id, **{name: self._value(name) for name in _READERS}})


def _all(pointer: Any, handle: Any) -> Any:
    candidates, positions = lib.sa_decision_candidates(handle), lib.sa_decision_positions(handle)
    values = arrays.from_doubles(pointer, candidates * (positions or 1))
    return values.reshape(candidates, positions) if positions else values


_READERS: Dict[str, Callable[[Any], Any]] = {
    "arms": lambda handle: arrays.from_sizes(lib.sa_decision_arms(handle), lib.sa_decision_slate(handle)),
    "estimate": lambda handle: arrays.from_doubles(lib.sa_decision_estimates(handle), lib.sa_decision_slate(handle)),
    "width": lambda handle: arrays.from_doubles(lib.sa_decision_widths(handle), lib.sa_decision_slate(handle)),
    "score": lambda handle: arrays.from_doubles(lib.sa_decision_scores(handle), lib.sa_decision_slate(handle)),
    "event": lambda handle: lib.sa_decision_event(handle),
    "candidates": lambda handle: lib.sa_decision_candidates(handle),
    "all_estimates": lambda handle: _all(lib.sa_decision_all_estimates(handle), handle),
    "all_widths": lambda handle: _all(lib.sa_decision_all_widths(handle), handle),
    "all_scores": lambda handle: _all(lib.sa_decision_all_scores(handle), handle),
}


class _Spares:
    """C objects of dropped decisions, to be used again: a select then allocates nothing, however many arms there are."""

    def __init__(self) -> None:
        self._pointers: List[Any] = []

    def take(self) -> Any:
        try:
            return self._pointers.pop()
        except IndexError:
            return _NULL

    def give(self, pointer: Any) -> None:
        if len(self._pointers) < 2 and pointer:
            self._pointers.append(pointer)
        else:
            lib.sa_decision_destroy(pointer)

    def __del__(self) -> None:
        for pointer in self._pointers:
            lib.sa_decision_destroy(pointer)


class _Turn:
    """One thread at a time uses an agent's C object: the interpreter lock is not held during its calls."""

    __slots__ = ("handle", "reason", "_lock", "_busy")

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.reason = "the agent is closed"
        self._lock = threading.RLock()
        self._busy = False

    def __enter__(self) -> Any:
        self._lock.acquire()
        if self._busy or self.handle is None:
            busy = self._busy
            self._lock.release()
            raise Error("an agent cannot be used by its own oracle") if busy else InputError(self.reason)
        self._busy = True
        guard.__enter__()
        return self.handle

    def __exit__(self, *_: Any) -> None:
        guard.__exit__()
        self._busy = False
        self._lock.release()

    def close(self) -> None:
        with self._lock:
            if self._busy:
                raise Error("an agent cannot be closed by its own oracle")
            if self.handle is not None:
                ffi.release(self.handle)
            self.handle = None

    def after_fork(self) -> None:
        """In the child: a call that another thread had begun never ends here, so its agent is lost to the child."""
        if not self._lock.acquire(blocking=False):
            if self.handle is not None:
                ffi.gc(self.handle, None)  # whatever state it is in: left alone
            self.handle = None
            self.reason = "the process was forked while another thread used the agent, and the copy cannot go on"
            self._lock = threading.RLock()
            self._busy = False
        else:
            self._lock.release()


_agents: "weakref.WeakSet[Agent]" = weakref.WeakSet()


def _after_fork() -> None:
    for agent in list(_agents):
        agent._turn.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Agent:
    """An agent that chooses slates and learns from what came of them.

    `algorithm` is one of `superarm.algorithms()`, `preset` "tuned", "paper" or "icml23", `random_state` the seed of all its
    random numbers (None: a new one each time). Any option of `superarm.options()` may follow, with underscores for dashes;
    numbers, True and False, text and lists are fine. `oracle` is a name, or an object of your own with `solve(scores, k)` and
    `alpha`.

    >>> import superarm
    >>> agent = superarm.Agent("cn-ts", dim=3, preset="tuned", random_state=1, hidden=20)
    >>> decision = agent.select([[1, 0, 0], [0, 1, 0], [0, 0, 1]], slate=2)
    >>> agent.update(decision, [1.0, 0.0])
    >>> agent.counts["decisions"], agent.options["hidden"]
    (1, 20)

    One agent serves one thread at a time (others wait); agents in different threads run at the same time. An agent closes
    itself when it is dropped, at the end of a `with` block, or with `close()`.
    """

    def __init__(self, algorithm: str = "cn-ucb", *, dim: Optional[int] = None, preset: Optional[str] = "tuned",
                 random_state: Optional[int] = 1, oracle: Any = None, **options: Any) -> None:
        if random_state is None:
            random_state = secrets.randbits(62)
        own = oracle is not None and not isinstance(oracle, str)
        handle = ffi.gc(need(lib.sa_options_new(_NULL)), lib.sa_options_destroy)
        given = {"preset": preset, "algorithm": algorithm, "dim": dim, "seed": random_state,
                 "oracle": None if own else oracle, **options}
        set_options(given, lambda name, value: lib.sa_options_set(handle, name, value))
        out = ffi.new("sa_agent **")
        check(lib.sa_agent_create(handle, out))
        self._begin(out[0], oracle if own else None)

    def _begin(self, pointer: Any, oracle: Any) -> None:
        handle = ffi.gc(pointer, lib.sa_agent_destroy)
        self._turn = _Turn(handle)
        self._name = uuid.uuid4().hex  # so that decisions know whose they are
        self._request = ffi.gc(need(lib.sa_request_new()), lib.sa_request_destroy)
        self._out = ffi.new("sa_decision **")
        self._spares = _Spares()
        options = lib.sa_agent_options(handle)
        self._dim = int(read_option(options, "dim"))
        self._slate = int(read_option(options, "slate"))
        self._algorithm = read_option(options, "algorithm")
        self._oracle: Optional[OracleCall] = None
        _agents.add(self)
        if oracle is not None:
            self.oracle = oracle

    # ---- choosing and learning ----

    def select(self, contexts: Any, slate: Optional[int] = None, *, exclude: Any = None, event: int = 0, expected: Any = None,
               **problem: Any) -> Decision:
        """Chooses a slate of the candidate arms whose features are the rows of `contexts`, (N, dim).

        `slate` is K; unless given, the option slate. For an oracle that may leave arms out it is the most, and 0 no limit.
        `exclude` has arms that must not be chosen: flags (N), or indices. `event` is an id of your own. `expected` scores, (N) or
        (N, K), are for the algorithm `best` alone. What the oracle needs goes by the names of `superarm.problem_names()`:
        costs, capacity, groups, discounts...

        float32 and float64 in C order are used where they are; anything else that NumPy can read is copied.
        """
        features = arrays.reals(contexts, "contexts")
        shape = features.shape
        if len(shape) != 2 or shape[1] != self._dim:
            raise InputError(f"contexts: the shape is {arrays.shape_text(shape)}, and (arms, {self._dim}) is wanted: a row for each arm, "
                             f"of the agent's dim")
        count = self._slate if slate is None else arrays.whole(slate, "slate")
        mask = None if exclude is None else arrays.excluded(exclude, shape[0])
        scores = None if expected is None else self._expected(expected, shape[0], count)
        asked = self._problem(problem) if problem else None
        number = arrays.whole(event, "event") if event else 0
        with self._turn as agent:
            request = self._request
            if features.dtype == arrays.DOUBLE:
                lib.sa_request_contexts(request, arrays.double_pointer(features), shape[0])
            else:
                lib.sa_request_contexts_float(request, arrays.float_pointer(features), shape[0])
            lib.sa_request_slate(request, count)
            lib.sa_request_event(request, number)
            if mask is not None or scores is not None or asked is not None:
                self._select_extras(request, mask, scores, asked)
            out = self._out
            out[0] = self._spares.take()
            status = lib.sa_agent_select(agent, request, out)
            if mask is not None or scores is not None or asked is not None:
                self._select_extras(request, None, None, None)
            if status:
                self._spares.give(out[0])
                self._fail(status)
            return Decision(self._name, ffi.gc(out[0], self._spares.give))

    @staticmethod
    def _problem(data: Dict[str, Any]) -> Problem:
        if "scores" in data:
            raise InputError("scores: the agent's own go to its oracle; superarm.solve takes yours")
        return Problem(data)

    @staticmethod
    def _expected(expected: Any, arms: int, slate: int) -> Any:
        scores = arrays.doubles(expected, "expected")
        want: Tuple[int, ...] = (arms, slate) if scores.ndim == 2 else (arms,)
        return arrays.check_shape(scores, "expected", want, str(want))

    @staticmethod
    def _select_extras(request: Any, mask: Any, scores: Any, problem: Optional[Problem]) -> None:
        lib.sa_request_exclude(request, _NULL if mask is None else arrays.bool_pointer(mask))
        if scores is not None and scores.ndim == 2:
            lib.sa_request_expected_positions(request, arrays.double_pointer(scores))
        else:
            lib.sa_request_expected(request, _NULL if scores is None else arrays.double_pointer(scores))
        lib.sa_request_problem(request, _NULL if problem is None else problem.handle)

    def _fail(self, status: int) -> None:
        """An exception in an oracle of the caller's own comes out as itself."""
        error = self._oracle.take_error() if self._oracle else None
        raise error or failure(status)

    def update(self, decision: Union[Decision, int], scores: Any, observed: Any = None) -> None:
        """Feedback for a decision, or for the id of one: scores (K) in the order of `decision.arms`.

        `observed` (K) says which of them were seen; unseen is not zero: what was not seen teaches nothing, and may come in a
        later call. Feedback may come late, in any order, in parts, or never. Trains when the schedule says so.
        """
        if isinstance(decision, Decision):
            if decision._agent != self._name:
                raise InputError(f"decision {decision.id} was made by another agent; an agent that was loaded from a file takes ids: "
                                 f"update(decision.id, ...)")
            number = decision.id
        else:
            number = arrays.whole(decision, "decision")
        values = arrays.doubles(scores, "scores")
        if values.ndim != 1:
            raise InputError(f"scores: the shape is {arrays.shape_text(values.shape)}, and one for each arm of the slate is wanted")
        seen = None if observed is None else arrays.flags(observed, "observed", len(values), "each score")
        pointer = _NULL if seen is None else arrays.bool_pointer(seen)
        with self._turn as agent:
            check(lib.sa_agent_update(agent, number, arrays.double_pointer(values), pointer, len(values)))

    def train(self) -> None:
        """Trains now on the feedback so far; fine when there is none."""
        with self._turn as agent:
            check(lib.sa_agent_train(agent))

    # ---- keeping ----

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The whole agent as an .npz file that numpy.load opens, written atomically. An oracle of your own is not in it."""
        with self._turn as agent:
            check(lib.sa_agent_save(agent, os.fsencode(path)))

    @classmethod
    def load(cls: Type["Agent"], path: Union[str, "os.PathLike[str]"], *, oracle: Any = None) -> "Agent":
        """A saved agent; it goes on bit for bit. `oracle`: the object of your own that it had."""
        out = ffi.new("sa_agent **")
        check(lib.sa_agent_load(os.fsencode(path), out))
        agent = cls.__new__(cls)
        agent._begin(out[0], oracle)
        return agent

    def _bytes(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="superarm-") as folder:
            path = os.path.join(folder, "agent.npz")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __reduce__(self) -> Any:
        return _from_bytes, (type(self), self._bytes(), self.oracle, self._name)

    def __copy__(self) -> "Agent":
        return _from_bytes(type(self), self._bytes(), self.oracle, None)

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Agent":
        import copy

        return _from_bytes(type(self), self._bytes(), copy.deepcopy(self.oracle, memo), None)

    def close(self) -> None:
        """Frees the agent's memory; any later use raises. Closing twice is fine."""
        self._turn.close()

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- looking ----

    @property
    def algorithm(self) -> str:
        return self._algorithm

    @property
    def dim(self) -> int:
        """Features of an arm."""
        return self._dim

    @property
    def oracle(self) -> Any:
        """The oracle of your own; None where the option oracle names one of ours. Set it to None to go back to that."""
        return self._oracle.oracle if self._oracle else None

    @oracle.setter
    def oracle(self, oracle: Any) -> None:
        call = None if oracle is None else OracleCall(oracle)
        with self._turn as agent:
            check(lib.sa_agent_oracle(agent, _NULL if call is None else call.callbacks))
            self._oracle = call

    @property
    def counts(self) -> Dict[str, Any]:
        """Decisions made, answered, pending, trainings, bytes of memory...: sa_agent_counts of the C library."""
        counts = ffi.new("sa_agent_counts *")
        with self._turn as agent:
            lib.sa_agent_count(agent, counts)
        return fields(counts[0])

    @property
    def options(self) -> Dict[str, Any]:
        """The options in force."""
        with self._turn as agent:
            return read_options(lib.sa_agent_options(agent))

    def __repr__(self) -> str:
        closed = " (closed)" if self._turn.handle is None else ""
        return f"Agent({self._algorithm!r}, dim={self._dim}){closed}"


def _from_bytes(kind: Type[Agent], content: bytes, oracle: Any, name: Optional[str]) -> Agent:
    with tempfile.TemporaryDirectory(prefix="superarm-") as folder:
        path = os.path.join(folder, "agent.npz")
        with open(path, "wb") as file:
            file.write(content)
        agent = kind.load(path, oracle=oracle)
    if name:
        agent._name = name  # a pickle is the same agent elsewhere: it knows its decisions
    return agent
