"""What a caller's own code is, as a line of text that changes when the code does: results keep its hash.

Of a class or a function: the instructions of its methods, their constants, defaults and closures, its class attributes and its bases,
whatever of its module these name, and the files of modules of the caller's own that they use. Of an object also its attributes. What runs
counts and not what the file says by now, so a comment changes nothing, and neither does an edit that has not been loaded."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import sysconfig
import types
from typing import Any, Dict, List, Set

import numpy as np

_SHIPPED = tuple(os.path.realpath(path) + os.sep for name, path in sysconfig.get_paths().items() if name in ("stdlib", "platstdlib", "purelib", "platlib"))
_IGNORED = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__", "__annotations__",
            "__annotate_func__", "__abstractmethods__", "_abc_impl"}


def describe(source: Any) -> str:
    """`Ridge of ridge.py, Python 3.11, code 8f3c...`"""
    kind = source if isinstance(source, (type, types.FunctionType)) else type(source)
    if isinstance(source, functools.partial):
        kind = source.func
    seen = _Seen()
    try:
        seen.value(source)
    except Exception as error:  # an attribute that cannot be looked at: what was seen until then counts
        seen.word(type(error).__name__)
    module = sys.modules.get(getattr(kind, "__module__", ""), None)
    path = getattr(module, "__file__", None)
    of = f" of {os.path.basename(path)}" if path else ""
    return f"{getattr(kind, '__qualname__', str(kind))}{of}, Python {sys.version_info[0]}.{sys.version_info[1]}, code {seen.hash.hexdigest()}"


class _Seen:
    """Walks what a value is made of, each object once, and in an order that does not depend on hashes."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self._met: Dict[int, int] = {}
        self._kept: List[Any] = []  # so that no two objects have the same id
        self._files: Set[str] = set()

    def word(self, *words: Any) -> None:
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogatepass")
            self.hash.update(f"{len(data)}:".encode() + data)

    def value(self, value: Any) -> None:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) and type(value).__module__ == "builtins":
            self.word(type(value).__name__, repr(value))
            return
        if id(value) in self._met:
            self.word("again", self._met[id(value)])
            return
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        if isinstance(value, (np.ndarray, np.generic)):
            array = np.asarray(value)
            self.word("array", array.dtype, array.shape, b"" if array.dtype.hasobject else array.tobytes())
            if array.dtype.hasobject:
                self.value(array.tolist())
        elif isinstance(value, types.CodeType):
            self._instructions(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, dict):
            self.word("dict", len(value))
            for key in sorted(value, key=_order):
                self.value(key)
                self.value(value[key])
        elif isinstance(value, (set, frozenset)):
            self.word("set", len(value), *sorted(_order(item) for item in value))
        elif isinstance(value, (list, tuple)):
            self.word("list", len(value))
            for item in value:
                self.value(item)
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            self.word(type(value).__name__)
            self.value(value.__func__)
        elif isinstance(value, property):
            for part in (value.fget, value.fset, value.fdel):
                self.value(part)
        elif isinstance(value, functools.partial):
            self.value([value.func, value.args, value.keywords])
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        """One of the caller's classes with its attributes; of others the class alone."""
        self.value(type(value))
        if isinstance(value, np.random.Generator):
            self.value(value.bit_generator.state)
        elif isinstance(value, np.random.RandomState):
            self.value(value.get_state())
        elif not _is_shipped(type(value)) or isinstance(getattr(value, "__dict__", None), dict):
            self.value(dict(getattr(value, "__dict__", {})))
        elif isinstance(value, range):
            self.word(repr(value))

    def _instructions(self, code: types.CodeType) -> None:
        self.word("code", code.co_name, code.co_code, code.co_flags, code.co_argcount, code.co_kwonlyargcount, *code.co_names,
                  *code.co_varnames, *code.co_freevars)
        for constant in code.co_consts:
            self.value(constant)

    def _function(self, function: Any) -> None:
        if _is_shipped(function):
            self.word("function", function.__module__, function.__qualname__)
            return
        self.value(function.__code__)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.value(cell.cell_contents)
            except ValueError:
                self.word("empty")
        for name in _names(function.__code__):
            if name in function.__globals__:
                self.word("global", name)
                self.value(function.__globals__[name])

    def _class(self, kind: type) -> None:
        self.word("class", kind.__module__, kind.__qualname__)
        if _is_shipped(kind):
            return
        for base in kind.__bases__:
            self.value(base)
        for name in sorted(vars(kind)):
            if name not in _IGNORED and not isinstance(vars(kind)[name], (types.GetSetDescriptorType, types.MemberDescriptorType)):
                self.word(name)
                self.value(vars(kind)[name])
        if kind.__module__ != "__main__":
            self._module(sys.modules.get(kind.__module__))

    def _module(self, module: Any) -> None:
        self.word("module", getattr(module, "__name__", ""))
        path = getattr(module, "__file__", None)
        if not path or _in_shipped(path) or path in self._files or module.__name__.partition(".")[0] == "superarm":
            return
        self._files.add(path)
        try:
            with open(path, "rb") as file:
                self.word(file.read())
        except OSError:
            self.word("gone")


def _order(item: Any) -> str:
    """The same for the same item in another process: no address in it."""
    plain = isinstance(item, (bool, int, float, complex, str, bytes, type(None)))
    return f"{type(item).__qualname__} {item!r}" if plain else f"{type(item).__qualname__} {getattr(item, '__qualname__', '')}"


def _names(code: types.CodeType) -> List[str]:
    """All that the code and what is defined in it name."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _names(constant)
    return sorted(set(found))


def _in_shipped(path: str) -> bool:
    return os.path.realpath(path).startswith(_SHIPPED)


def _is_shipped(thing: Any) -> bool:
    """Of Python, of an installed package, or of ours."""
    name = getattr(thing, "__module__", None) or "builtins"
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    if name == "__main__" or module is None:
        return False
    return name.partition(".")[0] == "superarm" or not path or _in_shipped(path)
