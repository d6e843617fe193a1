"""Arrays of any kind as what C takes. NumPy's float32 and float64 in C order go through without a copy."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ._native import ffi
from .errors import InputError

SINGLE: Any = np.dtype(np.float32)
DOUBLE: Any = np.dtype(np.float64)
SIZE: Any = np.dtype(np.uintp)
_READY: Any = "CA"  # in C order, aligned
_from_buffer = ffi.from_buffer


def shape_text(shape: Tuple[int, ...]) -> str:
    return str(tuple(shape)) if shape else "() (a number)"


def as_array(value: Any, name: str) -> Any:
    """Lists, pandas, torch on the CPU: whatever NumPy can read."""
    if value is None:
        raise InputError(f"{name}: None was given, and an array is wanted")
    if isinstance(value, (set, frozenset)):
        raise InputError(f"{name}: a set was given, which has no order; an array or a list is wanted")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"{name}: no array can be made of it: {error}") from error
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):
        raise InputError(f"{name}: there are masked entries; leave these arms out, or use exclude or observed")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: the dtype is {array.dtype}, and real numbers are wanted")
    return array


def check_shape(array: Any, name: str, shape: Tuple[Optional[int], ...], meaning: str) -> Any:
    """None in the shape: any length."""
    if len(array.shape) != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape)):
        raise InputError(f"{name}: the shape is {shape_text(array.shape)}, and {meaning} is wanted")
    return array


def _ready(array: Any, dtype: Any) -> bool:
    flags = array.flags
    return bool(array.dtype == dtype and flags.c_contiguous and flags.aligned)


def reals(value: Any, name: str) -> Any:
    """In C order, float32 where it is that, else float64."""
    if type(value) is np.ndarray and (_ready(value, DOUBLE) or _ready(value, SINGLE)):
        return value
    array = as_array(value, name)
    return np.require(array, SINGLE if array.dtype == SINGLE else DOUBLE, _READY)


def doubles(value: Any, name: str) -> Any:
    if type(value) is np.ndarray and _ready(value, DOUBLE):
        return value
    return np.require(as_array(value, name), DOUBLE, _READY)


def indices(value: Any, name: str) -> Any:
    """Whole numbers from 0."""
    array = as_array(value, name)
    if array.dtype.kind == "b":
        raise InputError(f"{name}: there are True and False, and whole numbers from 0 are wanted")
    wrong = ~((array >= 0) & (array < 2.0**53) & (array == np.floor(array))) if array.dtype.kind == "f" else array < 0
    if np.any(wrong):
        raise InputError(f"{name}: there is {array[wrong].flat[0]}, and whole numbers from 0 are wanted")
    return np.require(array, SIZE, _READY)


def whole(value: Any, name: str) -> int:
    """A count, or an id: what uint64_t holds."""
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise InputError(f"{name} is {value!r}, and a whole number is wanted") from None
    if not 0 <= number < 1 << 64:
        raise InputError(f"{name} {number}: a whole number from 0 is wanted")
    return number


def flags(value: Any, name: str, count: int, meaning: str) -> Any:
    """A mask (count) of True and False, or of 0 and 1."""
    array = as_array(value, name)
    check_shape(array, name, (count,), f"({count},), a flag for {meaning},")
    if array.dtype.kind != "b" and not np.all((array == 0) | (array == 1)):
        raise InputError(f"{name}: there are values other than True and False")
    return np.require(array, np.bool_, _READY)


def flag_table(value: Any, name: str, meaning: str) -> Any:
    """Flags with two axes: bools, or 0 and 1."""
    array = check_shape(as_array(value, name), name, (None, None), meaning)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise InputError(f"{name}: flags are wanted, True and False or 1 and 0")
    return np.require(array, np.bool_, _READY)


def excluded(value: Any, arms: int) -> Any:
    """A mask (arms), or indices of arms."""
    array = as_array(list(value) if isinstance(value, (set, frozenset)) else value, "exclude")
    if array.dtype.kind == "b":
        return flags(array, "exclude", arms, "each arm")
    check_shape(array, "exclude", (None,), "one axis")
    array = indices(array, "exclude")
    if arms > 1 and len(array) == arms and len(np.unique(array)) < arms and array.max() <= 1:
        raise InputError(f"exclude: {arms} numbers that are 0 or 1 could be indices or a mask; make them bool for a mask")
    if array.size and array.max() >= arms:
        raise InputError(f"exclude: there is arm {array.max()}, and there are {arms} arms, counted from 0")
    mask = np.zeros(arms, np.bool_)
    mask[array] = True
    return mask


def empty(shape: Tuple[int, ...]) -> Any:
    return np.empty(shape, DOUBLE)


def double_pointer(array: Any) -> Any:
    return _from_buffer("double[]", array)


def float_pointer(array: Any) -> Any:
    return _from_buffer("float[]", array)


def size_pointer(array: Any) -> Any:
    return _from_buffer("size_t[]", array)


def bool_pointer(array: Any) -> Any:
    return _from_buffer("_Bool[]", array)


def from_doubles(pointer: Any, count: int) -> Any:
    """A copy of C's (count) doubles."""
    return np.frombuffer(ffi.buffer(pointer, count * 8), DOUBLE).copy()


def from_sizes(pointer: Any, count: int) -> Any:
    """A copy of C's (count) sizes, as NumPy indexes with them."""
    return np.frombuffer(ffi.buffer(pointer, count * SIZE.itemsize), np.intp).copy()


def from_bools(pointer: Any, count: int) -> Any:
    return np.frombuffer(ffi.buffer(pointer, count), np.bool_).copy()
