"""Runs in processes of their own, each a shard of the experiment, which leave what they did in one folder."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import tempfile
import time
from typing import TYPE_CHECKING, Any, List, Optional

from ._native import ffi, lib
from ._options import read_options
from .errors import Error

if TYPE_CHECKING:
    from .experiments import _Asked, _Watch


class Shards:
    """Forked, so that code of the caller's own need not be picklable; a folder of results, or a temporary one, joins them."""

    def __init__(self, asked: "_Asked", count: int) -> None:
        self._asked, self._count = asked, count
        self.temporary: Optional[str] = None

    def __enter__(self) -> "Shards":
        options = read_options(lib.sa_experiment_options(self._asked.handle))
        self._folder = options["out"]
        if not self._folder:
            self.temporary = tempfile.mkdtemp(prefix="superarm-")
            self._folder = os.path.join(self.temporary, "results")
            self._asked.set({"out": self._folder})
        self._jobs = ffi.new("size_t *")
        try:
            self._asked.checked(lambda: lib.sa_experiment_jobs(self._asked.handle, self._jobs))
            self._asked.checked(lambda: lib.sa_experiment_begin(self._asked.handle))
            self._asked.set({"replace": ""})  # which is done
        except BaseException:
            self.__exit__()
            raise
        self._threads = max(1, (options["threads"] or os.cpu_count() or 1) // self._count)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.temporary:
            shutil.rmtree(self.temporary, ignore_errors=True)

    # ---- a child ----

    def _work(self, index: int, pipe: Any) -> None:
        from .experiments import _Watch

        failed: Optional[BaseException] = None
        try:
            self._asked.set({"shard": f"{index}/{self._count}", "threads": self._threads})
            self._asked.run(_Watch(lambda now: False))
        except BaseException as error:
            failed = error
        try:
            pickle.loads(pickle.dumps(failed))
        except Exception:  # an exception that does not survive the way back
            failed = Error(f"{type(failed).__name__}: {failed}")
        notes = getattr(failed, "__notes__", [])
        pipe.send((failed, notes))
        pipe.close()
        os._exit(failed is not None)

    # ---- the parent ----

    def run(self, watch: "_Watch") -> None:
        context = multiprocessing.get_context("fork")
        children: List[Any] = []
        pipes: List[Any] = []
        try:
            for index in range(self._count):
                ours, theirs = context.Pipe(duplex=False)
                child = context.Process(target=self._work, args=(index, theirs), daemon=True)
                child.start()
                theirs.close()
                children.append(child)
                pipes.append(ours)
            self._watch(children, watch)
            for index, (child, pipe) in enumerate(zip(children, pipes)):
                self._end(index, child, pipe)
        finally:
            for child in children:
                if child.is_alive():
                    child.terminate()
                child.join()
        self._asked.set({"resume": True, "shard": ""})

    def _watch(self, children: List[Any], watch: "_Watch") -> None:
        from .experiments import Progress

        start, jobs = time.monotonic(), self._jobs[0]
        while any(child.is_alive() for child in children):
            done = self._done()
            seconds = time.monotonic() - start
            left = seconds * (jobs - done) / done if done else -1.0
            if watch.show(Progress(jobs, done, done / jobs, seconds, left, "", 0.0)):
                watch.asked_to_stop = True
                raise KeyboardInterrupt
            if any(child.exitcode for child in children):
                return
            next((child for child in children if child.is_alive()), children[0]).join(0.1)

    def _done(self) -> int:
        try:
            return sum(name.endswith(".npz") for name in os.listdir(os.path.join(self._folder, "parts")))
        except OSError:
            return 0

    def _end(self, index: int, child: Any, pipe: Any) -> None:
        if child.is_alive() and not pipe.poll(0.05):
            return  # another has failed
        try:
            failed, notes = pipe.recv()
        except EOFError:
            child.join()
            raise Error(f"process {index} of {self._count} ended with exit code {child.exitcode}") from None
        if failed is not None:
            if notes and not getattr(failed, "__notes__", None):
                failed.__notes__ = notes
            raise failed
