"""pip install . builds the C library and its binding with CMake; pyproject.toml has the rest."""

import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = os.path.dirname(os.path.abspath(__file__))


def version():
    """CMakeLists.txt has it, for C and Python alike."""
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(superarm VERSION (\S+)", file.read())[1]


def environment():
    """Children see the packages that this process sees: pip's own sitecustomize, which hides the machine's, is left out."""
    folders = [path for path in sys.path if os.path.isdir(path) and not os.path.exists(os.path.join(path, "sitecustomize.py"))]
    return dict(os.environ, PYTHONPATH=os.pathsep.join(folders))


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        children = environment()
        folder = os.path.abspath(self.build_temp)
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", f"-DSUPERARM_PYTHON={sys.executable}"]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options, *os.environ.get("CMAKE_ARGS", "").split()], check=True,
                       env=children)
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", folder, "--target", "superarm_binding", "superarm_program", "-j", jobs], check=True, env=children)
        path = self.get_ext_fullpath(extension.name)
        programs = os.path.join(os.path.dirname(path), "bin")
        os.makedirs(programs, exist_ok=True)
        shutil.copy2(os.path.join(folder, "python", "superarm", os.path.basename(path)), path)
        shutil.copy2(os.path.join(folder, "superarm"), programs)


setup(
    version=version(),
    ext_modules=[Extension("superarm._superarm", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildWithCMake},
    options={"build": {"build_base": "build-pip"},  # build/ is CMake's
             "bdist_wheel": {"py_limited_api": "cp39"}},  # one wheel for all Pythons from 3.9
)
