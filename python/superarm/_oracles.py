"""Oracles: which slate has the largest reward for given scores? Ours as a function, and yours for our agents."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Protocol, Tuple

import numpy as np

from . import _arrays as arrays
from ._native import ffi, fields, keep_error, lib, text
from ._options import c_text, did_you_mean, option_text
from .errors import InputError, check, need

if TYPE_CHECKING:
    from numpy.typing import NDArray


# ---- a problem: what an oracle needs beside the scores ----


def problem_names() -> Dict[str, str]:
    """What a problem can have, and a line about each: the keywords of `solve` and `Agent.select`.

    >>> import superarm
    >>> superarm.problem_names()["costs"]
    'knapsack: costs, (N), 0 or more'
    """
    name, line = ffi.new("const char **"), ffi.new("const char **")
    found, index = {}, 0
    while lib.sa_problem_name_at(index, name, line):
        found[text(name[0]) or ""] = text(line[0]) or ""
        index += 1
    return found


PROBLEM_NAMES = frozenset(problem_names())
DATA_NAMES = PROBLEM_NAMES - {"scores", "slate"}


def _vector(value: Any, name: str) -> Any:
    return arrays.check_shape(arrays.doubles(value, name), name, (None,), "one axis")


def _indices(value: Any, name: str) -> Any:
    return arrays.check_shape(arrays.indices(value, name), name, (None,), "one axis")


class Problem:
    """A sa_problem, and the arrays that it borrows."""

    def __init__(self, data: Mapping[str, Any], keywords: Iterable[str]) -> None:
        """`keywords`: other names that the caller's function takes, and may have been meant."""
        self.handle = ffi.gc(need(lib.sa_problem_new()), lib.sa_problem_destroy)
        self._kept: List[Any] = []
        given = {name: value for name, value in data.items() if value is not None}
        if ("matrix" in given) != ("bounds" in given):
            raise InputError("matrix and bounds go together: matrix times the choices is at most bounds")
        for name, value in given.items():
            if name not in PROBLEM_NAMES:
                meant = did_you_mean(name, [*keywords, *sorted(PROBLEM_NAMES)])
                raise InputError(f"{name} is not part of a problem" + (meant or f"; there are {', '.join(sorted(PROBLEM_NAMES))}"))
            setter = _SETTERS.get(name)
            if setter:
                setter(self, value)
            elif name != "bounds":
                check(lib.sa_problem_set(self.handle, name.encode(), c_text(option_text(name, value), name)))
        if "matrix" in given:
            self._constraints(given["matrix"], given["bounds"])

    def keep(self, array: Any) -> Any:
        self._kept.append(array)
        return array

    def scores(self, value: Any) -> None:
        scores = self.keep(arrays.doubles(value, "scores"))
        pointer = arrays.double_pointer(scores)
        if scores.ndim == 2:
            lib.sa_problem_position_scores(self.handle, pointer, *scores.shape)
        else:
            arrays.check_shape(scores, "scores", (None,), "(arms,) or, for assignment, (arms, positions)")
            lib.sa_problem_scores(self.handle, pointer, len(scores))

    def slate(self, value: Any) -> None:
        lib.sa_problem_slate(self.handle, arrays.whole(value, "slate"))

    def exclude(self, value: Any, arms: int) -> None:
        lib.sa_problem_exclude(self.handle, arrays.bool_pointer(self.keep(arrays.excluded(value, arms))))

    def _vector(self, value: Any, name: str, give: Callable[..., None]) -> None:
        vector = self.keep(_vector(value, name))
        give(self.handle, arrays.double_pointer(vector), len(vector))

    def _indices(self, value: Any, name: str, give: Callable[..., None]) -> None:
        vector = self.keep(_indices(value, name))
        give(self.handle, arrays.size_pointer(vector), len(vector))

    def _edges(self, value: Any) -> None:
        edges = self.keep(arrays.check_shape(arrays.indices(value, "edges"), "edges", (None, 2), "(arms, 2)"))
        lib.sa_problem_edges(self.handle, arrays.size_pointer(edges), len(edges))

    def _exclusions(self, value: Any) -> None:
        pairs = self.keep(arrays.check_shape(arrays.indices(value, "exclusions"), "exclusions", (None, 2), "(pairs, 2)"))
        lib.sa_problem_exclusions(self.handle, arrays.size_pointer(pairs), len(pairs))

    def _eligible(self, value: Any) -> None:
        flags = self.keep(arrays.flag_table(value, "eligible", "(positions, arms)"))
        lib.sa_problem_eligible(self.handle, arrays.bool_pointer(flags), *flags.shape)

    def _topics(self, value: Any) -> None:
        topics = self.keep(arrays.check_shape(arrays.doubles(value, "topics"), "topics", (None, None), "(arms, topics)"))
        lib.sa_problem_topics(self.handle, arrays.double_pointer(topics), *topics.shape)

    def _constraints(self, matrix_value: Any, bounds_value: Any) -> None:
        matrix = self.keep(arrays.check_shape(arrays.doubles(matrix_value, "matrix"), "matrix", (None, None), "(rows, arms)"))
        bounds = self.keep(arrays.check_shape(_vector(bounds_value, "bounds"), "bounds", (len(matrix),), f"({len(matrix)},)"))
        lib.sa_problem_constraints(self.handle, arrays.double_pointer(matrix), arrays.double_pointer(bounds), *matrix.shape)


# The rest (capacity, source, target, reward) C reads from text.
_SETTERS: Dict[str, Callable[[Problem, Any], None]] = {
    "scores": Problem.scores,
    "slate": Problem.slate,
    "costs": lambda problem, value: problem._vector(value, "costs", lib.sa_problem_costs),
    "groups": lambda problem, value: problem._indices(value, "groups", lib.sa_problem_groups),
    "capacities": lambda problem, value: problem._indices(value, "capacities", lib.sa_problem_capacities),
    "edges": Problem._edges,
    "revenues": lambda problem, value: problem._vector(value, "revenues", lib.sa_problem_revenues),
    "topics": Problem._topics,
    "minimums": lambda problem, value: problem._indices(value, "minimums", lib.sa_problem_minimums),
    "exclusions": Problem._exclusions,
    "eligible": Problem._eligible,
    "discounts": lambda problem, value: problem._vector(value, "discounts", lib.sa_problem_discounts),
    "matrix": lambda problem, value: None,  # together with bounds
}


# ---- ours, as a function ----


class Solution(NamedTuple):
    """The slate with the largest reward, or one whose reward is at least `alpha` of it."""

    arms: NDArray[np.intp]  # (K) indices, best first or in the oracle's order
    reward: float
    alpha: float
    exact: bool


def solve(oracle: str, scores: Any, slate: Optional[int] = None, *, exclude: Any = None, **problem: Any) -> Solution:
    """The slate that an oracle finds for scores, (arms) or for `assignment` (arms, positions).

    What the oracle needs beside them goes by the names of `problem_names()`: costs, capacity, groups, edges...

    >>> import superarm
    >>> superarm.solve("knapsack", [0.9, 0.5, 0.6], costs=[3, 1, 2], capacity=3).arms.tolist()
    [2, 1]
    >>> superarm.solve("assignment", [[0.9, 0.8], [0.7, 0.1]])
    Solution(arms=array([1, 0]), reward=1.5, alpha=1.0, exact=True)
    """
    asked = Problem({"scores": scores, "slate": slate, **problem}, ("oracle", "scores", "slate", "exclude"))
    if exclude is not None:
        asked.exclude(exclude, len(asked._kept[0]))
    solution = ffi.new("sa_solution *")
    check(lib.sa_problem_solve(asked.handle, c_text(str(oracle), "oracle"), solution))
    return Solution(arrays.from_sizes(solution.slate, solution.length), solution.reward, solution.alpha, solution.exact)


class OracleInfo(NamedTuple):
    """A line of the list of oracles."""

    name: str
    summary: str
    needs: str  # "costs, capacity; slate": what it needs; what it also takes
    cost: str
    alpha: float
    exact: bool


def oracles() -> List[OracleInfo]:
    """The oracles that `solve` and agents know.

    >>> import superarm
    >>> superarm.oracles()[0].name
    'top-k'
    """
    info = ffi.new("sa_oracle_info *")
    found: List[OracleInfo] = []
    while lib.sa_oracle_at(len(found), info):
        found.append(OracleInfo(**fields(info[0])))
    return found


_DATA: Dict[str, FrozenSet[str]] = {}


def oracle_data(name: str) -> FrozenSet[str]:
    """What an oracle of ours looks at, out of a problem's names."""
    if not _DATA:
        _DATA.update({oracle.name: DATA_NAMES.intersection(re.findall(r"\w+", oracle.needs)) for oracle in oracles()})
    return _DATA.get(name, frozenset())


# ---- yours ----


class Oracle(Protocol):
    """An oracle of your own: any object with these. Excluded arms have the score -inf. Where arms have a score for each
    position, `positions` is True, scores are (arms, k), and each of the k positions gets an arm. Where `solve` (or `reward`) has a
    parameter `problem`, that is a dict of what the request has beside the scores: costs, groups... by the names of
    `problem_names()`."""

    alpha: float

    def solve(self, scores: Any, k: int) -> Any:
        """At most k different arms, best first. Experiments measure regret with `reward(scores, arms)`, where there is such a
        method, else with the sum of the scores."""


_READERS = ((lib.sa_problem_numbers, arrays.from_doubles), (lib.sa_problem_indices, arrays.from_sizes), (lib.sa_problem_flags, arrays.from_bools))


def problem_data(problem: Any) -> Dict[str, Any]:
    """What a problem of C has beside the scores; copies, single values as such."""
    found: Dict[str, Any] = {}
    rows, columns = ffi.new("size_t *"), ffi.new("size_t *")
    for name, (axes, in_c) in _NAMES_IN_C.items():
        for read, copy in _READERS:
            pointer = read(problem, in_c, rows, columns)
            if pointer:
                values = copy(pointer, rows[0] * columns[0])
                found[name] = values[0].item() if axes == 0 else values.reshape(rows[0], columns[0]) if axes == 2 else values
    if "reward" in found:
        found["reward"] = "sum" if found["reward"] else "click"
    return found


_TWO_AXES = {"edges", "exclusions", "eligible", "topics", "matrix"}
_SINGLE = {"capacity", "source", "target", "seconds", "reward", "exactly"}
_NAMES_IN_C = {name: (0 if name in _SINGLE else 2 if name in _TWO_AXES else 1, name.encode()) for name in sorted(DATA_NAMES)}


def _takes_problem(function: Any) -> bool:
    try:
        return "problem" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


class OracleCall:
    """A Python oracle as C calls it; an exception in it waits here until the call of C has returned."""

    def __init__(self, oracle: Any) -> None:
        if not callable(getattr(oracle, "solve", None)):
            raise InputError(f"the oracle {oracle!r} has no solve(scores, k)")
        if isinstance(oracle, type):
            try:
                oracle = oracle()
            except TypeError as error:
                raise InputError(f"the oracle is a class, and to make an object of it fails: {error}") from error
        if not hasattr(oracle, "alpha"):
            raise InputError(f"the oracle {oracle!r} has no alpha, the share of the best reward that is sure: 1.0 for an exact one")
        self.oracle = oracle
        self.error: Optional[BaseException] = None
        self._handle = ffi.new_handle(self)
        self.positions = bool(getattr(oracle, "positions", False))
        alpha = oracle.alpha
        try:
            self.callbacks = ffi.new("sa_oracle_callbacks *", {
                "solve": lib.superarm_python_oracle, "user": self._handle, "alpha": float(alpha), "positions": self.positions})
        except (TypeError, ValueError):
            raise InputError(f"the oracle's alpha is {alpha!r}, and a number is wanted") from None
        self.takes_problem = _takes_problem(oracle.solve)
        if self.takes_problem:
            self.callbacks.solve_problem = lib.superarm_python_oracle_problem
        if callable(getattr(oracle, "reward", None)):
            if _takes_problem(oracle.reward):
                self.callbacks.reward_problem = lib.superarm_python_reward_problem
            else:
                self.callbacks.reward = lib.superarm_python_reward

    def keep(self, error: BaseException) -> None:
        """Of several runs the first."""
        if self.error is None:
            self.error = error

    def take_error(self) -> Optional[BaseException]:
        error, self.error = self.error, None
        return error

    def call(self, scores: Any, arms: int, excluded: Any, most: int, slate: Any, length: Any, problem: Any = None) -> None:
        given = arrays.from_doubles(scores, arms * most if self.positions else arms)
        if self.positions:
            given = given.reshape(arms, most)
        if excluded:
            given[np.frombuffer(ffi.buffer(excluded, arms), np.bool_)] = -np.inf
        arms_given = self.oracle.solve(given, most) if problem is None else self.oracle.solve(given, most, problem=problem_data(problem))
        if arms_given is None:
            raise InputError(f"solve of {type(self.oracle).__name__} returned None")
        chosen = _indices(arms_given, "the oracle's arms")
        if len(chosen) > most:
            raise InputError(f"the oracle gave {len(chosen)} arms, and at most {most} are wanted")
        ffi.memmove(slate, chosen.tobytes(), chosen.nbytes)
        length[0] = len(chosen)


@ffi.def_extern(error=1, onerror=keep_error)
def superarm_python_oracle(user, scores, arms, excluded, most, slate, length):  # type: ignore[no-untyped-def]
    ffi.from_handle(user).call(scores, arms, excluded, most, slate, length)
    return 0


def _scores(problem: Any) -> Tuple[Any, int]:
    rows = ffi.new("size_t *")
    return lib.sa_problem_numbers(problem, b"scores", rows, ffi.NULL), rows[0]


@ffi.def_extern(error=1, onerror=keep_error)
def superarm_python_oracle_problem(user, problem, most, slate, length):  # type: ignore[no-untyped-def]
    excluded = lib.sa_problem_flags(problem, b"exclude", ffi.NULL, ffi.NULL)
    scores, arms = _scores(problem)
    ffi.from_handle(user).call(scores, arms, excluded, most, slate, length, problem)
    return 0


@ffi.def_extern(error=float("nan"), onerror=keep_error)
def superarm_python_reward_problem(user, problem, slate, length):  # type: ignore[no-untyped-def]
    scores, arms = _scores(problem)
    return float(ffi.from_handle(user).oracle.reward(arrays.from_doubles(scores, arms), arrays.from_sizes(slate, length), problem=problem_data(problem)))


@ffi.def_extern(error=float("nan"), onerror=keep_error)
def superarm_python_reward(user, scores, arms, slate, length):  # type: ignore[no-untyped-def]
    return float(ffi.from_handle(user).oracle.reward(arrays.from_doubles(scores, arms), arrays.from_sizes(slate, length)))
