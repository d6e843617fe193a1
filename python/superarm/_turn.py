"""Whose turn it is: one thread at a time uses an agent's C object, for the interpreter lock is not held during its calls."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from ._native import ffi
from .errors import Error, InputError


class Turn:
    """`with turn.lock, turn as handle:` around every use of the C object. The lock is one of Python's own, because theirs alone are
    sure to be released when Ctrl-C comes at the worst moment."""

    __slots__ = ("handle", "_reason", "_lock", "__weakref__")

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self._reason = "the agent is closed"
        self._lock: Any = threading.RLock()
        _turns.add(self)

    @property
    def lock(self) -> Any:
        if self._lock._is_owned():
            raise Error("an agent cannot be used or closed by its own oracle")
        return self._lock

    def __enter__(self) -> Any:
        if self.handle is None:
            raise InputError(self._reason)
        return self.handle

    def __exit__(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        with self.lock:
            handle, self.handle = self.handle, None
            if handle is not None:
                ffi.release(handle)

    def after_fork(self) -> None:
        """In the child: a call that another thread had begun never ends here, so its agent is lost to the child."""
        if not self._lock.acquire(blocking=False):
            if self.handle is not None:
                ffi.gc(self.handle, None)  # whatever state it is in: left alone
            self.handle = None
            self._reason = "the process was forked while another thread used the agent, and the copy cannot go on"
            self._lock = threading.RLock()
        else:
            self._lock.release()


_turns: "weakref.WeakSet[Turn]" = weakref.WeakSet()


def _after_fork() -> None:
    for turn in list(_turns):
        turn.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
