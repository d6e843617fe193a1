"""The C library: `lib` has its calls, `ffi` their types (cffi). Everything else in the package goes through here."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any, Dict, Optional


def _find_cffi_backend() -> None:
    """A wheel carries cffi's runtime, for where cffi is not installed."""
    try:
        importlib.import_module("_cffi_backend")
    except ImportError:
        folder = os.path.join(os.path.dirname(__file__), "_bundled")
        spec = importlib.machinery.PathFinder.find_spec("_cffi_backend", [folder])
        if spec is None or spec.loader is None:
            raise
        module = importlib.util.module_from_spec(spec)
        sys.modules["_cffi_backend"] = module
        spec.loader.exec_module(module)


_find_cffi_backend()

from ._superarm import ffi, lib  # noqa: E402


def text(pointer: Any) -> Optional[str]:
    """A C string; None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode()


def fields(struct: Any) -> Dict[str, Any]:
    """A C struct of numbers and strings as a dict."""
    values = {name: getattr(struct, name) for name, _ in ffi.typeof(struct).fields}
    return {name: text(value) if isinstance(value, ffi.CData) else value for name, value in values.items()}


def keep_error(kind: Any, error: BaseException, traceback: Any) -> None:
    """cffi's `onerror` of a callback whose first argument, `user`, is the handle of an object with `keep(error)`. It sees Ctrl-C, too,
    which Python delivers at the very beginning of a callback, before any `try` in it, when it came while C was at work."""
    if traceback is not None:
        ffi.from_handle(traceback.tb_frame.f_locals["user"]).keep(error)


__all__ = ["__version__", "ffi", "fields", "keep_error", "lib", "text"]
__version__: str = text(lib.sa_version()) or ""
