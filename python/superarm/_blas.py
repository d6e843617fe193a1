"""Threads of BLAS, which NumPy may share: inside the library's calls there are as many as `blas_threads` says, one unless it was
told otherwise, and outside of them as many as there were."""

from __future__ import annotations

import os
import threading
from typing import Any, Optional

from ._native import lib
from .errors import InputError


class Guard:
    """`with guard:` around calls of C that compute. Threads may be inside together; the last to leave puts back what was found."""

    def __init__(self) -> None:
        self.threads = 1
        self.begin_anew()

    def begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = lib.sa_blas_threads(self.threads)
            self._inside += 1

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                lib.sa_blas_threads(self._before)
            elif self._inside < 0:
                self._inside = 0  # a callback that forked leaves once more, in the child

    def after_fork(self) -> None:
        """In the child the other threads are gone, and with them their calls."""
        if self._inside > 0:
            lib.sa_blas_threads(self._before)
        self.begin_anew()


guard = Guard()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=guard.after_fork)


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
