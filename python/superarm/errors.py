"""What goes wrong: one exception for each status of the C library, all of them superarm.Error."""

from __future__ import annotations

from typing import Any, Dict, Type

from ._native import lib, text


class Error(Exception):
    """A call failed, and changed nothing (but see AgentClosed). The message is the C library's sentence; `status` is its number, `status_name` its
    name in C.

    >>> import superarm
    >>> try:
    ...     superarm.Agent("cn-ucb", dim=5, gama=0.3)
    ... except superarm.Error as error:
    ...     print(error.status, error.status_name)
    2 SA_INVALID
    """

    status: int = -1

    @property
    def status_name(self) -> str:
        return text(lib.sa_status_name(self.status)) or ""


class InputError(Error, ValueError):
    """An argument or option is wrong; the message names it and its value."""

    status = lib.SA_INVALID


class UnknownDecision(Error, LookupError):
    """No decision has this id, or it was forgotten (the option pending_limit)."""

    status = lib.SA_UNKNOWN_DECISION


class AlreadyAnswered(Error):
    """One of the arms has its feedback; nothing was changed. Where feedback is delivered at least once, pass over it."""

    status = lib.SA_ALREADY_ANSWERED


class OutOfMemory(Error, MemoryError):
    """Memory could not be had."""

    status = lib.SA_OUT_OF_MEMORY


class FileError(Error, OSError):
    """A file could not be read or written."""

    status = lib.SA_FILE


class DiskError(Error, OSError):
    """The disk is full or failed."""

    status = lib.SA_DISK


class FormatError(Error):
    """A file is truncated, damaged or of another kind."""

    status = lib.SA_FORMAT


class NewerVersion(Error):
    """A file was written by a newer version."""

    status = lib.SA_NEWER


class Unsupported(Error):
    """This build or version cannot do that."""

    status = lib.SA_UNSUPPORTED


class CallbackFailed(Error):
    """A function of the caller's own failed, and raised nothing."""

    status = lib.SA_CALLBACK


class AgentClosed(Error):
    """The agent ran out of memory or disk while it learnt, and cannot go on: load what was saved."""

    status = lib.SA_CLOSED


class Interrupted(Error):
    """The caller asked to stop."""

    status = lib.SA_INTERRUPTED


_BY_STATUS: Dict[int, Type[Error]] = {kind.status: kind for kind in Error.__subclasses__()}


def failure(status: int) -> Error:
    """The exception for a failed call of this thread."""
    error = _BY_STATUS.get(status, Error)(text(lib.sa_last_error()) or text(lib.sa_status_message(status)))
    error.status = status
    return error


def check(status: int) -> None:
    """Raises what a call's status says."""
    if status:
        raise failure(status)


def need(pointer: Any) -> Any:
    """The handle that a constructor returned; it is NULL when memory is short."""
    if not pointer:
        raise OutOfMemory(text(lib.sa_status_message(lib.SA_OUT_OF_MEMORY)))
    return pointer
