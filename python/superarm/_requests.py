"""A request: what can be chosen now. Everything that `Agent.select` takes is checked here, and handed to C as it wants it."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _arrays as arrays
from ._native import ffi, lib, text
from ._oracles import DATA_NAMES, Problem, oracle_data, oracles
from .errors import InputError, check, need
from .schema import Schema, are_named, request_json

_NULL = ffi.NULL
_NO_DRAW = 2**64 - 1
_JOINS: Dict[str, int] = {name[len("SA_JOIN_"):].lower(): number for name, number in ffi.typeof("sa_join").relements.items()}


def _join(join: str) -> int:
    if join not in _JOINS:
        raise InputError(f"join is {join!r}, and one of {', '.join(_JOINS)} is wanted")
    return _JOINS[join]


def join_dim(join: str, item_dim: int, shared_dim: int) -> int:
    """The features that an arm has when items are joined with what they share, for an agent's `dim`: "concat" of both, all
    "products" of one with the other, or "both".

    >>> import superarm
    >>> superarm.join_dim("both", 10, 3)
    43
    """
    return lib.sa_join_dim(_join(join), arrays.whole(item_dim, "item_dim"), arrays.whole(shared_dim, "shared_dim"))


def _expected(expected: Any, arms: int, slate: int) -> Any:
    scores = arrays.doubles(expected, "expected")
    want: Tuple[int, ...] = (arms, slate) if scores.ndim == 2 else (arms,)
    return arrays.check_shape(scores, "expected", want, str(want))


_KEYWORDS = ("contexts", "context", "slate", "exclude", "event", "expected", "items", "shared", "join", "draw")  # of select beside a problem's


def _problem(data: Dict[str, Any]) -> Problem:
    if "scores" in data:
        raise InputError("scores: the agent's own go to its oracle; superarm.solve takes yours")
    return Problem(data, _KEYWORDS)


class Takes:
    """What an agent looks at beside contexts: anything else is a mistake, as the caller thinks that it matters."""

    __slots__ = ("_expected", "_oracle", "_discounts", "own_oracle", "own_takes_problem", "positions", "schema")

    def __init__(self, algorithm: str, oracle: str, feedback: str, positions: bool) -> None:
        self._expected = algorithm == "best"
        self._oracle = oracle
        self._discounts = feedback == "cascade"
        self.positions = positions
        self.own_oracle = False
        self.own_takes_problem = False
        self.schema: Optional[Schema] = None

    def check(self, expected: Any, problem: Mapping[str, Any]) -> None:
        if expected is not None and not self._expected:
            raise InputError("expected is for the algorithm best alone")
        for name, value in problem.items():
            if value is None or (name == "discounts" and self._discounts):
                continue
            if name in DATA_NAMES and (not self.own_takes_problem if self.own_oracle else name not in oracle_data(self._oracle)):
                takers = " and ".join(oracle.name for oracle in oracles() if name in oracle_data(oracle.name))
                mine = "an oracle of your own whose solve has no parameter problem" if self.own_oracle else self._oracle
                raise InputError(f"{name} is not for {mine}; the oracles that look at it: {takers}")


class Request:
    """A sa_request, used again and again; it keeps the arrays that C borrows."""

    __slots__ = ("handle", "_kept", "_named", "_asks_more")

    def __init__(self) -> None:
        self.handle = ffi.gc(need(lib.sa_request_new()), lib.sa_request_destroy)
        self._kept: Any = None
        self._named = False  # items have fields, and perhaps ids
        self._asks_more = False  # the C request has a draw, or is to have propensities

    def fill(self, takes: Takes, dim: int, contexts: Any, slate: int, exclude: Any = None, event: int = 0, expected: Any = None, items: Any = None,
             shared: Any = None, join: Optional[str] = None, draw: Optional[int] = None, context: Any = None, propensities: bool = False, **problem: Any) -> int:
        """Returns the number of arms."""
        self._named = context is not None or (items is not None and are_named(items))
        if self._named:
            if contexts is not None or shared is not None or join is not None:
                raise InputError("items with named fields go with context alone: contexts, shared and join are for arrays")
            return self._fill_named(takes, items, context, slate, exclude, event, expected, draw, problem, propensities)
        joined = None
        if items is None and shared is None:
            if join is not None:
                raise InputError("join is for items and shared; contexts are joined already")
            features = arrays.reals(contexts, "contexts")
        else:
            if contexts is not None:
                raise InputError("contexts: items and shared stand for them; give one or the other")
            features = arrays.reals(items, "items")
            joined = arrays.check_shape(arrays.reals(shared, "shared"), "shared", (None,), "one axis"), _join("concat" if join is None else join)
        shape = features.shape
        if len(shape) != 2 or (joined is None and shape[1] != dim):
            name, columns = ("contexts", dim) if joined is None else ("items", "features")
            raise InputError(f"{name}: the shape is {arrays.shape_text(shape)}, and (arms, {columns}) is wanted: a row for each arm, and "
                             f"the agent's dim is {dim}")
        count = arrays.whole(slate, "slate")
        number = arrays.whole(event, "event") if event else 0
        drawn = _NO_DRAW if draw is None else arrays.whole(draw, "draw")
        extras = None
        if exclude is not None or expected is not None or problem:
            takes.check(expected, problem)
            extras = (None if exclude is None else arrays.excluded(exclude, shape[0]),
                      None if expected is None else _expected(expected, shape[0], count),
                      _problem(problem) if problem else None)
        # nothing can fail from here on
        handle = self.handle
        if joined:
            self._set_items(features, *joined)
        elif features.dtype == arrays.DOUBLE:
            lib.sa_request_contexts(handle, arrays.double_pointer(features), shape[0])
        else:
            lib.sa_request_contexts_float(handle, arrays.float_pointer(features), shape[0])
        lib.sa_request_slate(handle, count)
        lib.sa_request_event(handle, number)
        if draw is not None or propensities or self._asks_more:
            self._ask_more(drawn, bool(propensities))
        if extras:
            self._set_extras(*extras)
        self._kept = features, extras, joined
        return int(shape[0])

    def _fill_named(self, takes: Takes, items: Any, context: Any, slate: int, exclude: Any, event: int, expected: Any, draw: Optional[int],
                    problem: Dict[str, Any], propensities: bool) -> int:
        schema = takes.schema
        if schema is None:
            raise InputError("items have named fields, and the agent has no schema to read them with: Agent(schema=...)")
        count, number = arrays.whole(slate, "slate"), arrays.whole(event, "event") if event else 0
        drawn = _NO_DRAW if draw is None else arrays.whole(draw, "draw")
        request = request_json(items, context).encode()
        check(lib.sa_request_json(self.handle, schema.handle, request, len(request)))
        arms = len(items)
        takes.check(expected, problem)
        extras = (None if exclude is None else arrays.excluded(self._indices(exclude, arms), arms),
                  None if expected is None else _expected(expected, arms, count), _problem(problem) if problem else None)
        lib.sa_request_slate(self.handle, count)
        lib.sa_request_event(self.handle, number)
        self._ask_more(drawn, bool(propensities))
        self._set_extras(*extras)
        self._kept = None, extras, None
        return arms

    def _ask_more(self, draw: int, propensities: bool) -> None:
        lib.sa_request_draw(self.handle, draw)
        lib.sa_request_propensities(self.handle, propensities)
        self._asks_more = draw != _NO_DRAW or propensities

    def _indices(self, exclude: Any, arms: int) -> Any:
        """Ids as indices; anything else as it is."""
        if not isinstance(exclude, (list, tuple, set, frozenset)) or not any(isinstance(name, str) for name in exclude):
            return exclude
        places = {self.id(arm): arm for arm in range(arms)}
        for name in exclude:
            if name not in places:
                raise InputError(f"exclude: there is {name!r}, and no item has this id")
        return [places[name] for name in exclude]

    def id(self, arm: int) -> Optional[str]:
        """The id of an item with named fields; None where it has none."""
        return text(lib.sa_request_id(self.handle, arm))

    def ids(self, decision: Any) -> Optional[Dict[str, Any]]:
        """What a Decision keeps of a request with named items: the ids of those that were chosen."""
        if not self._named or self.id(0) is None:
            return None
        arms = lib.sa_decision_arms(decision)
        return {"ids": [self.id(arms[k]) for k in range(lib.sa_decision_slate(decision))]}

    def _set_items(self, items: Any, shared: Any, join: int) -> None:
        if items.dtype == arrays.DOUBLE:
            lib.sa_request_items(self.handle, arrays.double_pointer(items), *items.shape)
        else:
            lib.sa_request_items_float(self.handle, arrays.float_pointer(items), *items.shape)
        if shared.dtype == arrays.DOUBLE:
            lib.sa_request_shared(self.handle, arrays.double_pointer(shared), len(shared))
        else:
            lib.sa_request_shared_float(self.handle, arrays.float_pointer(shared), len(shared))
        lib.sa_request_join(self.handle, join)

    def _set_extras(self, mask: Any, scores: Any, problem: Optional[Problem]) -> None:
        lib.sa_request_exclude(self.handle, _NULL if mask is None else arrays.bool_pointer(mask))
        if scores is not None and scores.ndim == 2:
            lib.sa_request_expected_positions(self.handle, arrays.double_pointer(scores))
        else:
            lib.sa_request_expected(self.handle, _NULL if scores is None else arrays.double_pointer(scores))
        lib.sa_request_problem(self.handle, _NULL if problem is None else problem.handle)

    def clear(self) -> None:
        """Lets go of the arrays."""
        if self._kept and self._kept[1]:
            self._set_extras(None, None, None)
        self._kept = None


class Requests:
    """Requests that are not in use."""

    def __init__(self) -> None:
        self._free: List[Request] = []

    def take(self) -> Request:
        try:
            return self._free.pop()
        except IndexError:
            return Request()

    def give(self, request: Request) -> None:
        request.clear()
        if len(self._free) < 4:
            self._free.append(request)
