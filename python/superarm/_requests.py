"""A request: what can be chosen now. Everything that `Agent.select` takes is checked here, and handed to C as it wants it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from . import _arrays as arrays
from ._native import ffi, lib
from ._oracles import Problem
from .errors import InputError, need

_NULL = ffi.NULL


def _expected(expected: Any, arms: int, slate: int) -> Any:
    scores = arrays.doubles(expected, "expected")
    want: Tuple[int, ...] = (arms, slate) if scores.ndim == 2 else (arms,)
    return arrays.check_shape(scores, "expected", want, str(want))


def _problem(data: Dict[str, Any]) -> Problem:
    if "scores" in data:
        raise InputError("scores: the agent's own go to its oracle; superarm.solve takes yours")
    return Problem(data)


class Request:
    """A sa_request, used again and again; it keeps the arrays that C borrows."""

    __slots__ = ("handle", "_kept")

    def __init__(self) -> None:
        self.handle = ffi.gc(need(lib.sa_request_new()), lib.sa_request_destroy)
        self._kept: Any = None

    def fill(self, dim: int, contexts: Any, slate: int, exclude: Any, event: int, expected: Any, problem: Dict[str, Any]) -> None:
        features = arrays.reals(contexts, "contexts")
        shape = features.shape
        if len(shape) != 2 or shape[1] != dim:
            raise InputError(f"contexts: the shape is {arrays.shape_text(shape)}, and (arms, {dim}) is wanted: a row for each arm, of the "
                             f"agent's dim")
        count = arrays.whole(slate, "slate")
        number = arrays.whole(event, "event") if event else 0
        extras = None
        if exclude is not None or expected is not None or problem:
            extras = (None if exclude is None else arrays.excluded(exclude, shape[0]),
                      None if expected is None else _expected(expected, shape[0], count),
                      _problem(problem) if problem else None)
        # nothing can fail from here on
        handle = self.handle
        if features.dtype == arrays.DOUBLE:
            lib.sa_request_contexts(handle, arrays.double_pointer(features), shape[0])
        else:
            lib.sa_request_contexts_float(handle, arrays.float_pointer(features), shape[0])
        lib.sa_request_slate(handle, count)
        lib.sa_request_event(handle, number)
        if extras:
            self._set_extras(*extras)
        self._kept = features, extras

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
