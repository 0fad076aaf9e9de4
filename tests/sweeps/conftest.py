"""Makes the ballistic method of tests/support available here, and in every process that the tests start."""

import os
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
sys.path.insert(0, str(SUPPORT))

import ballistic  # noqa: E402

ballistic.register()


@pytest.fixture(autouse=True)
def _in_new_processes(tmp_path_factory, monkeypatch):
    """Python runs sitecustomize when it starts."""
    place = tmp_path_factory.mktemp("site")
    (place / "sitecustomize.py").write_text("import ballistic\nballistic.register()\n")
    source = Path(__file__).parents[2] / "src"
    known = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(place), str(SUPPORT), str(source), known]))
