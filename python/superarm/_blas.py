"""Threads of BLAS, which NumPy may share: inside the library's calls there are as many as `blas_threads` says, one unless it was
told otherwise, and outside of them as many as there were."""

from __future__ import annotations

import os
import threading
from typing import Any, Optional, Set

from ._native import lib
from .errors import InputError


class Guard:
    """Who is inside, as the locks that they hold. Threads may be inside together; the last to leave puts back what was found. Ctrl-C
    may come anywhere in here: whoever could not leave is seen by a lock that nobody holds."""

    def __init__(self) -> None:
        self.threads = 1
        self.begin_anew()

    def begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._inside: Set[Any] = set()
        self._before = 0  # what was found; 0 when it has been put back

    def enter(self, call: Any) -> None:
        with self._lock:
            self._inside.add(call)
            if not self._before:
                self._before = lib.sa_blas_threads(0)
                if self._before != self.threads:
                    lib.sa_blas_threads(self.threads)

    def leave(self, call: Any) -> None:
        with self._lock:
            self._inside.discard(call)
            if self._inside:
                self._inside = set(filter(_is_held, self._inside))
            if not self._inside and self._before:
                lib.sa_blas_threads(self._before)
                self._before = 0

    def after_fork(self) -> None:
        """In the child the other threads are gone, and with them their calls."""
        if self._before:
            lib.sa_blas_threads(self._before)
        self.begin_anew()


def _is_held(lock: Any) -> bool:
    if lock._is_owned():
        return True
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


guard = Guard()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=guard.after_fork)


class Call:
    """`with call.lock, call:` around calls of C that compute. The lock is one of Python's own, because theirs alone are sure to be
    released when Ctrl-C comes at the worst moment."""

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def __enter__(self) -> None:
        guard.enter(self.lock)

    def __exit__(self, *_: Any) -> None:
        guard.leave(self.lock)


def blas_threads(threads: Optional[int] = None) -> int:
    """Sets how many threads BLAS may use inside superarm's calls, for all agents of the process, and returns how many it may.

    It is 1 unless set: results are promised to be the same bytes under 1. NumPy's own calls keep the number that they had.

    >>> import superarm
    >>> superarm.blas_threads()
    1
    """
    if threads is not None:
        if not isinstance(threads, int) or isinstance(threads, bool) or not 1 <= threads <= 1024:
            raise InputError(f"threads {threads!r}: a whole number from 1 to 1024 is wanted")
        guard.threads = threads
    return guard.threads
