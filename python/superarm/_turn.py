"""Whose turn it is: one thread at a time uses an agent's C object, for the interpreter lock is not held during its calls."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from ._blas import guard
from ._native import ffi
from .errors import Error, InputError


class Turn:
    """`with turn as handle:` around every use of the C object."""

    __slots__ = ("handle", "_reason", "_lock", "_busy", "__weakref__")

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self._reason = "the agent is closed"
        self._lock = threading.RLock()
        self._busy = False
        _turns.add(self)

    def __enter__(self) -> Any:
        self._lock.acquire()
        if self._busy or self.handle is None:
            busy = self._busy
            self._lock.release()
            raise Error("an agent cannot be used by its own oracle") if busy else InputError(self._reason)
        self._busy = True
        guard.__enter__()
        return self.handle

    def __exit__(self, *_: Any) -> None:
        guard.__exit__()
        self._busy = False
        self._lock.release()

    def close(self) -> None:
        with self._lock:
            if self._busy:
                raise Error("an agent cannot be closed by its own oracle")
            if self.handle is not None:
                ffi.release(self.handle)
            self.handle = None

    def after_fork(self) -> None:
        """In the child: a call that another thread had begun never ends here, so its agent is lost to the child."""
        if not self._lock.acquire(blocking=False):
            if self.handle is not None:
                ffi.gc(self.handle, None)  # whatever state it is in: left alone
            self.handle = None
            self._reason = "the process was forked while another thread used the agent, and the copy cannot go on"
            self._lock = threading.RLock()
            self._busy = False
        else:
            self._lock.release()


_turns: "weakref.WeakSet[Turn]" = weakref.WeakSet()


def _after_fork() -> None:
    for turn in list(_turns):
        turn.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
