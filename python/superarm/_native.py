"""The C library: `lib` has its calls, `ffi` their types (cffi). Everything else in the package goes through here."""

from __future__ import annotations

from typing import Any, Dict, Optional

from ._superarm import ffi, lib


def text(pointer: Any) -> Optional[str]:
    """A C string; None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode()


def fields(struct: Any) -> Dict[str, Any]:
    """A C struct of numbers, strings and structs of these as a dict."""
    values: Dict[str, Any] = {}
    for name, field in ffi.typeof(struct).fields:
        value = getattr(struct, name)
        if field.type.kind == "struct":
            value = fields(value)
        values[name] = text(value) if isinstance(value, ffi.CData) else value
    return values


def keep_error(kind: Any, error: BaseException, traceback: Any) -> None:
    """cffi's `onerror` of a callback whose first argument, `user`, is the handle of an object with `keep(error)`. It sees Ctrl-C, too,
    which Python delivers at the very beginning of a callback, before any `try` in it, when it came while C was at work."""
    if traceback is not None:
        ffi.from_handle(traceback.tb_frame.f_locals["user"]).keep(error)


__all__ = ["__version__", "ffi", "fields", "keep_error", "lib", "text"]
__version__: str = text(lib.sa_version()) or ""
