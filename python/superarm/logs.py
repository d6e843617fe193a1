"""Decision logs, read as a stream."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from ._native import ffi, lib, text
from ._options import c_text
from .errors import check

_NULL = ffi.NULL


class LogEntry(NamedTuple):
    """One decision of a log. N: candidates, K: arms of the slate. What is not in the log is None."""

    line: int  # in the file, from 1
    event: Optional[str]
    time: Optional[str]
    agent: Optional[str]
    model: Optional[int]
    final: bool  # False where feedback may still change
    contexts: Optional[NDArray[np.float64]]  # (N, d)
    context: Optional[Dict[str, Any]]
    items: Optional[List[Dict[str, Any]]]  # (N)
    slate: List[Any]  # (K) ids, or indices where items have none
    arms: NDArray[np.intp]  # (K) indices
    feedback: Optional[NDArray[np.float64]]  # (K) NaN: not seen
    total: Optional[float]  # where only the slate's total is known
    propensity: Optional[float]
    prefix_propensities: Optional[NDArray[np.float64]]  # (K) NaN: unknown
    position_propensities: Optional[NDArray[np.float64]]
    target_propensity: Optional[float]
    target_prefix_propensities: Optional[NDArray[np.float64]]
    target_position_propensities: Optional[NDArray[np.float64]]
    extra: Dict[str, Any]  # all other fields


def _doubles(pointer: Any, count: int) -> Any:
    return None if pointer == _NULL else arrays.from_doubles(pointer, count)


def _known(number: float) -> Optional[float]:
    return None if number != number else number


def _json(pointer: Any, size: int) -> Any:
    return None if pointer == _NULL else json.loads(bytes(ffi.buffer(pointer, size)))


def _entry(entry: Any) -> LogEntry:
    slate = entry.slate
    arms = arrays.from_sizes(entry.arms, slate)
    contexts = _doubles(entry.contexts, entry.candidates * entry.dim)
    named = entry.ids != _NULL
    return LogEntry(
        entry.line, text(entry.event), text(entry.time), text(entry.agent), None if entry.model < 0 else entry.model, bool(entry.final),
        None if contexts is None else contexts.reshape(entry.candidates, entry.dim), _json(entry.context, entry.context_size),
        _json(entry.items, entry.items_size), [ffi.string(entry.ids[arm]).decode() for arm in arms] if named else arms.tolist(), arms,
        _doubles(entry.feedback, slate), _known(entry.total), _known(entry.propensity), _doubles(entry.prefix_propensities, slate),
        _doubles(entry.position_propensities, slate), _known(entry.target_propensity), _doubles(entry.target_prefix_propensities, slate),
        _doubles(entry.target_position_propensities, slate), _json(entry.extra, entry.extra_size) or {})


def read_log(path: Union[str, "os.PathLike[str]"], *, skip_bad: bool = False) -> Iterator[LogEntry]:
    """The decisions of a log, one after the other; memory does not grow with the file. A line that is wrong raises FormatError with its
    number; with `skip_bad` it is skipped and counted. What was skipped, and a last line that is cut off, is told as a warning.

    >>> import os, superarm, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = os.path.join(folder, "log.jsonl")
    ...     _ = superarm.run(environment="h1", algorithm="random", rounds=3, arms=5, slate=2, dim=4, runs=1, log=log)
    ...     [(entry.event, len(entry.slate), entry.contexts.shape) for entry in superarm.read_log(log)]
    [('random-0-1', 2, (5, 4)), ('random-0-2', 2, (5, 4)), ('random-0-3', 2, (5, 4))]
    """
    out = ffi.new("sa_log_reader **")
    check(lib.sa_log_reader_open(c_text(path, "path"), skip_bad, out))
    return _read(ffi.gc(out[0], lib.sa_log_reader_close))


def _read(reader: Any) -> Iterator[LogEntry]:
    entry = ffi.new("sa_log_entry **")
    while True:
        check(lib.sa_log_reader_next(reader, entry))
        if entry[0] == _NULL:
            break
        yield _entry(entry[0])
    warning = text(lib.sa_log_reader_warning(reader))
    if warning:
        warnings.warn(warning, stacklevel=2)
