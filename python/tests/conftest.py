"""What several tests need."""

import os
import signal

import pytest


@pytest.fixture
def in_child():
    """Whether `work` ends well in a forked process; a child that hangs is ended by its alarm, and fails."""

    def run(work):
        child = os.fork()
        if child == 0:
            signal.alarm(100)
            try:
                work()
                os._exit(0)
            except BaseException as error:
                print(repr(error), flush=True)
                os._exit(1)
        return os.waitpid(child, 0)[1] == 0

    return run
