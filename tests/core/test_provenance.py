"""Where a number comes from is said as plain data."""

import json
import platform

import jax
import numpy as np

from pgt.core import provenance as module
from pgt.core.provenance import __version__, provenance, versions


def test_it_is_plain_data_about_this_machine(monkeypatch):
    monkeypatch.setenv("PGT_COMMIT", "abc123")
    found = provenance()
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {"device", "processor", "cpu_count", "versions", "commit"}
    assert found["device"].startswith(jax.devices()[0].platform + ": ")
    assert found["cpu_count"] >= 1
    assert found["commit"] == "abc123"


def test_versions_are_those_in_use():
    found = versions()
    assert (found["pgt"], found["python"]) == (__version__, platform.python_version())
    assert (found["jax"], found["numpy"]) == (jax.__version__, np.__version__)


def test_an_installed_copy_has_no_commit(monkeypatch, tmp_path):
    monkeypatch.delenv("PGT_COMMIT", raising=False)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "pgt" / "core" / "provenance.py"))
    assert provenance()["commit"] is None
