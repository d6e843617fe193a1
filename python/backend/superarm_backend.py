"""The build backend of `pip install .`: setuptools, with what is missing said in a sentence.

pip builds in an environment of its own, and fetches what the build needs into it. Here the machine's own packages are used where it has
them, so that no network is needed; what is missing is left to pip, or named where there is no network."""

import configparser
import glob
import importlib.machinery
import importlib.util
import os
import shutil
import site
import socket
import subprocess
import sys
import urllib.parse

PACKAGES = {"setuptools": ("setuptools>=61", "python3-setuptools"), "wheel": ("wheel", "python3-wheel"),
            "cffi": ("cffi>=1.14", "python3-cffi"), "numpy": ("numpy", "python3-numpy")}
PROGRAMS = {"cmake": "cmake", "pkg-config": "pkg-config", "cc": "gcc"}
LIBRARIES = {"jansson": "libjansson-dev", "libzip": "libzip-dev"}


def _use_the_machines():
    """The interpreter's own packages, which pip hides from builds; setup.py hands them on to the programs that it starts."""
    for folder in site.getsitepackages([sys.prefix, sys.base_prefix]):
        if os.path.isdir(folder) and folder not in sys.path:
            sys.path.append(folder)


def _missing():
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def _settings(name):
    """What pip was told, in its variables or its files."""
    values = [os.environ.get("PIP_" + name.upper().replace("-", "_"), "")]
    files = configparser.ConfigParser(interpolation=None, strict=False)
    paths = [os.environ.get("PIP_CONFIG_FILE", ""), "/etc/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf", f"{sys.prefix}/pip.conf"]
    try:
        files.read([os.path.expanduser(path) for path in paths if path])
    except configparser.Error:
        pass
    values += [files.get(section, name) for section in files.sections() if files.has_option(section, name)]
    return " ".join(values).split()


def _answers(url):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return os.path.exists(parts.path)
    try:
        socket.create_connection((parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)), timeout=3).close()
    except OSError:
        return False
    return True


def _can_fetch(names):
    """Can pip get these packages? From PyPI or another index, or from folders that have them."""
    indices = [] if _settings("no-index") else (_settings("index-url") or ["https://pypi.org/simple"]) + _settings("extra-index-url")
    if any(map(_answers, indices)):
        return True
    folders = _settings("find-links")
    return all(any(glob.glob(os.path.join(folder, f"{name}-*")) for folder in folders) for name in names)


def _not_installed():
    """What the package needs when it is used, and the environment that it is installed into does not have."""
    prefixes, settings = [sys.prefix], os.path.join(sys.prefix, "pyvenv.cfg")
    if os.path.exists(settings):
        with open(settings, encoding="utf-8") as file:
            if "include-system-site-packages = true" in file.read():
                prefixes.append(sys.base_prefix)
    folders = [*site.getsitepackages(prefixes), site.getusersitepackages()]
    return [name for name in ("cffi", "numpy") if importlib.machinery.PathFinder.find_spec(name, folders) is None]


def _fail(what, packages):
    sys.exit(f"superarm: the build needs {', '.join(what)}, which {'is' if len(what) == 1 else 'are'} not here. On Debian or Ubuntu: "
             f"apt-get install {' '.join(packages)}")


def _requirements():
    _use_the_machines()
    missing, absent = _missing(), _not_installed()
    if not _can_fetch({*missing, *absent}):
        if missing:
            _fail([f"Python's {name}" for name in missing], [PACKAGES[name][1] for name in missing])
        sys.exit(f"superarm: it needs {' and '.join(absent)}, which this Python does not have and no network gives. On Debian or Ubuntu: apt-get "
                 f"install {' '.join(PACKAGES[name][1] for name in absent)}, and a virtual environment with --system-site-packages")
    return [PACKAGES[name][0] for name in missing]


def _check_tools():
    missing = {name: package for name, package in PROGRAMS.items() if shutil.which(name) is None}
    if "pkg-config" not in missing:
        for name, package in LIBRARIES.items():
            if subprocess.run(["pkg-config", "--exists", name], check=False).returncode:
                missing[name] = package
    headers = [f"{folder}/Random123/philox.h" for folder in ("/usr/include", "/usr/local/include")]
    if not any(map(glob.glob, headers)) and not os.environ.get("CMAKE_ARGS"):
        missing["Random123"] = "librandom123-dev"
    if missing:
        _fail(list(missing), list(missing.values()))


def _setuptools():
    _use_the_machines()
    from setuptools import build_meta

    return build_meta


def get_requires_for_build_wheel(config_settings=None):
    return _requirements()


def get_requires_for_build_sdist(config_settings=None):
    return _requirements()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _setuptools().prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _check_tools()
    return _setuptools().build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    return _setuptools().build_sdist(sdist_directory, config_settings)
