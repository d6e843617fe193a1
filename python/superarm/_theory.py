"""The paper's theory as numbers, for a set of contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

import numpy as np

from . import _arrays as arrays
from ._native import ffi, fields, lib, text
from ._options import read_option, set_options
from .errors import InputError, check, need

if TYPE_CHECKING:
    from numpy.typing import NDArray


_USED = {"depth": "depth", "regularization": "lambda", "hidden": "hidden", "delta": "delta", "sub-gaussian": "sub_gaussian"}


def _read(contexts: Any) -> Tuple[Any, Any]:
    """The array as it is, and its rows."""
    array = arrays.doubles(contexts, "contexts")
    if array.ndim not in (2, 3):
        raise InputError(f"contexts: the shape is {arrays.shape_text(array.shape)}, and (n, d) or (T, N, d) is wanted")
    return array, array.reshape(int(np.prod(array.shape[:-1])), array.shape[-1])


def theory(contexts: Any, scores: Any = None, *, preset: str = "paper", **options: Any) -> Dict[str, Any]:
    """The paper's quantities for contexts, (n, d) or (T, N, d): the neural tangent kernel's log det and effective dimension, and
    what the theorems prescribe (gamma, nu, M, eta, J, the smallest width). docs/THEORY.md has the formulas.

    `scores` are the expected ones, (n) or (T, N); options are those of `superarm theory`: depth, regularization, slate, rounds
    (T; as long as the contexts' first axis unless given), hidden, delta, norm_bound... What is not known is NaN. These are all the numbers that
    the program prints, by the same names, with those of the options that they were computed with, and `notes`, sentences.

    >>> import superarm
    >>> numbers = superarm.theory([[1, 0], [0.6, 0.8], [0, 1]], depth=2, slate=1)
    >>> numbers["rank"], numbers["effective_dimension"] < 3
    (3, True)
    """
    array, rows = _read(contexts)
    expected = ffi.NULL
    if scores is not None:
        kept = arrays.check_shape(arrays.doubles(scores, "scores"), "scores", array.shape[:-1], f"{array.shape[:-1]}")
        expected = arrays.double_pointer(kept)
    handle = ffi.gc(need(lib.sa_options_new(ffi.NULL)), lib.sa_options_destroy)
    given = {"preset": preset, "rounds": max(1, len(array)), **options}
    set_options(given, lambda name, value: lib.sa_options_set(handle, name, value))
    numbers = ffi.new("sa_theory_numbers *")
    check(lib.sa_theory_compute(handle, arrays.double_pointer(rows), *rows.shape, expected, numbers))
    found = fields(numbers[0])
    found.update({"e": found["error"], **{name: float(read_option(handle, option)) for option, name in _USED.items()}})
    note, found["notes"] = ffi.new("char[]", lib.SA_THEORY_NOTE), []
    while lib.sa_theory_note(numbers, len(found["notes"]), note, lib.SA_THEORY_NOTE):
        found["notes"].append(text(note))
    return found


def ntk(contexts: Any, depth: int = 2) -> NDArray[np.float64]:
    """The neural tangent kernel matrix H of Definition 1, (n, n), for contexts (n, d).

    >>> import superarm
    >>> superarm.ntk([[1, 0], [0, 1]]).shape
    (2, 2)
    """
    _, rows = _read(contexts)
    kernel = np.empty((len(rows), len(rows)))
    pointer = ffi.from_buffer("double[]", kernel, require_writable=True)
    layers = arrays.whole(depth, "depth")
    check(lib.sa_theory_ntk(arrays.double_pointer(rows), *rows.shape, layers, pointer))
    return kernel
