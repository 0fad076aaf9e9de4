"""Makes the ballistic method of tests/support available in every process that the tests start."""

import os
from pathlib import Path

import ballistic
import pytest


@pytest.fixture(autouse=True)
def _in_new_processes(tmp_path_factory, monkeypatch):
    """Python runs sitecustomize when it starts."""
    place = tmp_path_factory.mktemp("site")
    (place / "sitecustomize.py").write_text("import ballistic\nballistic.register()\n")
    support, source = Path(ballistic.__file__).parent, Path(__file__).parents[2] / "src"
    known = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(place), str(support), str(source), known]))
