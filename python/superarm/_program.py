"""The command `superarm`: the C program that comes with the package."""

from __future__ import annotations

import os
import sys


def main() -> None:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "superarm")
    if not os.access(path, os.X_OK):
        sys.exit("superarm: this package was put together without the program; `pip install .` in the sources builds it")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
