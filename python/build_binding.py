"""Writes the C source of the binding, superarm._superarm, or says whether this Python can build it.

    build_binding.py probe                                prints the interpreter and the folder of Python.h
    build_binding.py write OUT.c INCLUDE CALLBACKS CC...  declares to cffi what INCLUDE/superarm/superarm.h declares

Nothing of the C API is written down a second time: the compiler preprocesses the header, and what comes from our own files is
handed to cffi as it is. Only the callbacks that Python implements are named, in CALLBACKS."""

import os
import re
import subprocess
import sys
import sysconfig

HEADER = "#include <superarm/superarm.h>\n"


def probe():
    if sys.version_info < (3, 9):
        sys.exit("Python 3.9 or later is needed")
    import cffi  # noqa: F401
    import numpy  # noqa: F401

    include = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(include, "Python.h")):
        sys.exit(f"{include} has no Python.h (python3-dev)")
    print(sys.executable, include, sep=";", end="")


def declarations(include, compiler):
    """What our own headers declare; line markers, `# 12 "file" flags`, tell theirs from the system's."""
    done = subprocess.run([*compiler, "-E", "-I", include, "-x", "c", "-"], input=HEADER, stdout=subprocess.PIPE, text=True, check=True)
    own = os.path.join(os.path.realpath(include), "superarm", "")
    kept, ours = [], False
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = os.path.realpath(marker[1]).startswith(own)
        elif ours:
            kept.append(line)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", "\n".join(kept))
    return re.sub(r"static inline ([^{;]*)\{[^{}]*\}", r"\1;", text)  # declared, and compiled by the header


def write(out, include, callbacks, compiler):
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(declarations(include, compiler))
    with open(callbacks, encoding="utf-8") as file:
        ffi.cdef(file.read())
    ffi.set_source("superarm._superarm", HEADER)
    ffi.emit_c_code(out)


if __name__ == "__main__":
    if sys.argv[1] == "probe":
        probe()
    else:
        write(*sys.argv[2:5], sys.argv[5:])
