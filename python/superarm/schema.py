"""Schemas: named fields of items and of a context to feature vectors. Encoding is done in C."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays as arrays
from ._native import ffi, lib, text
from ._options import c_text
from .errors import InputError, check, need


class Column(NamedTuple):
    """Where a field is in a feature vector."""

    part: str  # "context", "item" or "cross"
    field: str
    kind: str
    start: int  # its first column
    size: int  # columns; the last is the missing flag, which crosses do not have


class Schema:
    """How named fields become features. `schema` is YAML or JSON text, or the same as a dict; `Schema.load` reads a file.

    >>> import superarm
    >>> schema = superarm.Schema({"context": {"hour": "cyclic 24"}, "item": {"price": "log", "kind": "category [a, b]"}})
    >>> schema.dim
    9
    >>> contexts, ids = schema.encode([{"id": "x", "price": 0, "kind": "b"}, {"id": "y"}], {"hour": 0})
    >>> contexts.tolist()[1], ids
    ([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], ['x', 'y'])
    """

    def __init__(self, schema: Union[str, Mapping[str, Any]]) -> None:
        content = (schema if isinstance(schema, str) else to_json(schema, "schema")).encode()
        out = ffi.new("sa_schema **")
        check(lib.sa_schema_parse(content, len(content), b"schema", out))
        self._begin(out[0])

    def _begin(self, pointer: Any) -> None:
        self.handle = ffi.gc(pointer, lib.sa_schema_release)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Schema":
        """A schema from a YAML or JSON file."""
        out = ffi.new("sa_schema **")
        check(lib.sa_schema_load(c_text(path, "path"), out))
        return cls._of(out[0])

    @classmethod
    def _of(cls, pointer: Any) -> "Schema":
        """Takes over one reference."""
        schema = cls.__new__(cls)
        schema._begin(pointer)
        return schema

    @property
    def dim(self) -> int:
        """Features of an arm."""
        return int(lib.sa_schema_dim(self.handle))

    @property
    def columns(self) -> List[Column]:
        """Fields and crosses, in the order of their columns."""
        found: List[Column] = []
        column = ffi.new("sa_schema_column *")
        while lib.sa_schema_column_at(self.handle, len(found), column):
            found.append(Column(text(column.part) or "", text(column.field) or "", text(column.kind) or "", column.start, column.size))
        return found

    def encode(self, items: Any, context: Optional[Mapping[str, Any]] = None) -> Tuple[NDArray[np.float64], Optional[List[str]]]:
        """Contexts (N, dim) of the items, a list of dicts or a pandas frame, and their ids, None where they have none."""
        encoding = Encoding(self)
        encoding.take(items, context)
        contexts = arrays.from_doubles(lib.sa_encoding_contexts(encoding.handle), encoding.arms * self.dim)
        return contexts.reshape(encoding.arms, self.dim), encoding.ids()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        """The schema as JSON, which `Schema` reads."""
        return text(lib.sa_schema_text(self.handle)) or ""

    def __repr__(self) -> str:
        return f"Schema({str(self)!r})"

    def __reduce__(self) -> Any:
        return Schema, (str(self),)


class Encoding:
    """Room for encoded items, used again and again."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.handle = ffi.gc(need(lib.sa_encoding_new()), lib.sa_encoding_destroy)

    def take(self, items: Any, context: Optional[Mapping[str, Any]]) -> None:
        request = request_json(items, context).encode()
        check(lib.sa_schema_encode(self._schema.handle, request, len(request), self.handle))

    @property
    def arms(self) -> int:
        return int(lib.sa_encoding_arms(self.handle))

    def ids(self) -> Optional[List[str]]:
        names = lib.sa_encoding_ids(self.handle)
        return None if names == ffi.NULL else [ffi.string(names[i]).decode() for i in range(self.arms)]


def as_schema(schema: Any) -> Schema:
    """A Schema as it is; a dict; the path of a file."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, Mapping):
        return Schema(schema)
    if isinstance(schema, (str, os.PathLike)):
        return Schema.load(schema)
    raise InputError(f"schema is a {type(schema).__name__}, and a Schema, a dict or the path of a file is wanted")


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is no JSON")


def _not_finite(value: Any, path: str) -> Optional[str]:
    """Where a number is that JSON does not have."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"{path} is {value}, and a finite number or None is wanted"
    pairs: Any = ()
    if isinstance(value, Mapping):
        pairs = ((f"{path}.{name}" if path else str(name), entry) for name, entry in value.items())
    elif isinstance(value, (list, tuple, np.ndarray)):
        pairs = ((f"{path}[{index}]", entry) for index, entry in enumerate(value))
    return next((found for name, entry in pairs for found in [_not_finite(entry, name)] if found), None)


def to_json(value: Any, name: str) -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        found = _not_finite(value, "") if not isinstance(error, RecursionError) else None
        raise InputError(found or f"{name}: {error}") from None


def is_frame(value: Any) -> bool:
    """Is it a pandas frame? pandas is not imported for that."""
    return type(value).__name__ == "DataFrame" and hasattr(value, "to_dict")


def _records(frame: Any) -> Sequence[Dict[str, Any]]:
    """The rows of a frame; what is missing there is None."""
    records: Sequence[Dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return records


def are_named(items: Any) -> bool:
    """Are these items with named fields, and no array of numbers?"""
    return is_frame(items) or (isinstance(items, (list, tuple)) and len(items) > 0 and isinstance(items[0], Mapping))


def request_json(items: Any, context: Optional[Mapping[str, Any]]) -> str:
    """The JSON of a request, as sa_schema_encode takes it."""
    if is_frame(items):
        items = _records(items)
    if not isinstance(items, (list, tuple)):
        raise InputError(f"items: a {type(items).__name__} was given, and a list of dicts or a pandas frame is wanted")
    if context is not None and not isinstance(context, Mapping):
        raise InputError(f"context: a {type(context).__name__} was given, and a dict is wanted")
    request: Dict[str, Any] = {"items": items}
    if context is not None:
        request["context"] = context
    return to_json(request, "items")
