"""What `pip install .` says when the build cannot go on."""

import importlib.util
import os
import socket
import sys

import pytest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "backend", "superarm_backend.py")


@pytest.fixture
def backend(monkeypatch):
    spec = importlib.util.spec_from_file_location("superarm_backend", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return module


def hide(monkeypatch, *names):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else find(name))


def test_what_the_machine_has_is_not_fetched(backend, monkeypatch):
    monkeypatch.setattr(backend, "_can_fetch", lambda names: not names)
    monkeypatch.setattr(backend, "_not_installed", lambda: [])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert backend.get_requires_for_build_wheel() == []


def test_what_is_missing_is_left_to_pip(backend, monkeypatch):
    hide(monkeypatch, "cffi", "setuptools")
    monkeypatch.setattr(backend, "_can_fetch", lambda names: True)
    assert backend.get_requires_for_build_wheel()[:1] == ["setuptools>=61"] and "cffi>=1.14" in backend.get_requires_for_build_sdist()


def test_without_network_it_is_named(backend, monkeypatch):
    hide(monkeypatch, "cffi", "numpy")
    monkeypatch.setattr(backend, "_can_fetch", lambda names: not names)
    with pytest.raises(SystemExit, match="needs Python's cffi, Python's numpy, which are not here. .*: apt-get install python3-cffi python3-numpy"):
        backend.get_requires_for_build_wheel()


def test_an_environment_without_numpy_is_told(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(backend, "_can_fetch", lambda names: not names)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(backend.site, "getusersitepackages", lambda: str(tmp_path))
    (tmp_path / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    with pytest.raises(SystemExit, match="it needs cffi and numpy, which this Python does not have .* apt-get install python3-cffi python3-numpy"):
        backend.get_requires_for_build_wheel()
    (tmp_path / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    assert backend.get_requires_for_build_wheel() == []


def test_tools_that_are_missing_are_named(backend, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="needs cmake, pkg-config, cc.*, which are not here. .*: apt-get install cmake pkg-config gcc"):
        backend.build_wheel(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_where_pip_may_look(backend, monkeypatch, tmp_path):
    """A folder that has the packages, an index that nobody answers for, and one that somebody does."""
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert backend._can_fetch(set()) and not backend._can_fetch({"cffi"})
    (tmp_path / "cffi-1.16.whl").touch()
    assert backend._can_fetch({"cffi"}) and not backend._can_fetch({"cffi", "numpy"})
    with socket.create_server(("127.0.0.1", 0)) as server:
        (tmp_path / "pip.conf").write_text(f"[global]\nextra-index-url = http://127.0.0.1:{server.getsockname()[1]}/simple\n")
        assert backend._can_fetch({"cffi", "numpy"})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert not backend._can_fetch({"numpy"})
