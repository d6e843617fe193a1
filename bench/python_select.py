"""What a select costs more from Python than from C: the same agent and contexts, in one process, in turns.

    PYTHONPATH=build/python python3 bench/python_select.py

The C side is a loop of sa_agent_select, compiled here; it never leaves C. The fastest call counts, for others may use the
machine too."""

import importlib.util
import tempfile
import time

import cffi
import numpy as np

import superarm
from superarm._native import ffi as types
from superarm._native import lib

LOOP = """
#include <time.h>
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}
double fastest(void *select, void *agent, void *request, void *decision, int count) {
    int (*call)(void *, void *, void *) = select;
    double best = 1e9;
    for (int i = 0; i < count; i++) {
        double begin = now();
        if (call(agent, request, decision)) return -1;
        double seconds = now() - begin;
        if (seconds < best) best = seconds;
    }
    return best;
}
"""


def compile_loop(folder):
    builder = cffi.FFI()
    builder.cdef("double fastest(void *select, void *agent, void *request, void *decision, int count);")
    builder.set_source("select_loop", LOOP)
    spec = importlib.util.spec_from_file_location("select_loop", builder.compile(tmpdir=folder))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lib.fastest


def trained(algorithm, dim, rounds, rng):
    agent = superarm.Agent(algorithm, dim=dim, random_state=1)
    for _ in range(rounds):
        contexts = rng.normal(size=(20, dim))
        decision = agent.select(contexts, slate=4)
        agent.update(decision, contexts[decision.arms, 0])
    return agent


def from_python(agent, contexts, count):
    best = 1e9
    for _ in range(count):
        begin = time.perf_counter()
        agent.select(contexts, slate=4).arms
        best = min(best, time.perf_counter() - begin)
    return best


def from_c(loop, agent, contexts, count):
    request = types.gc(lib.sa_request_new(), lib.sa_request_destroy)
    lib.sa_request_contexts_float(request, types.from_buffer("float[]", contexts), len(contexts))
    lib.sa_request_slate(request, 4)
    decision = types.new("sa_decision **")
    with agent._turn as handle:
        number = int(types.cast("intptr_t", types.addressof(lib, "sa_agent_select")))
        pointers = [number, *(int(types.cast("intptr_t", pointer)) for pointer in (handle, request, decision))]
        seconds = loop(*(cffi_cast(pointer) for pointer in pointers), count)
    lib.sa_decision_destroy(decision[0])
    return seconds


def cffi_cast(pointer):
    return cffi.FFI().cast("void *", pointer)


def main():
    rng = np.random.default_rng(1)
    print(f"{'algorithm':12}{'N':>7}{'C, us':>10}{'Python, us':>12}{'more, us':>10}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        loop = compile_loop(folder)
        for algorithm in ("random", "cn-ucb"):
            agent = trained(algorithm, 80, 50, rng)
            for arms, count, turns in ((20, 100, 20), (2000, 20, 15), (20000, 5, 10)):
                contexts = rng.normal(size=(arms, 80)).astype(np.float32)
                c, python = 1e9, 1e9
                for _ in range(turns):
                    c = min(c, from_c(loop, agent, contexts, count) * 1e6)
                    python = min(python, from_python(agent, contexts, count) * 1e6)
                print(f"{algorithm:12}{arms:7}{c:10.1f}{python:12.1f}{python - c:10.1f}{python / c:8.3f}")


if __name__ == "__main__":
    main()
