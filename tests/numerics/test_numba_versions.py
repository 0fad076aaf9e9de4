"""Numba's private names are all in one place, and a version that lacks one does not stop anybody."""

import ast
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numba
import pytest

from spume.numerics.jit import CACHE, cache_directory
from spume.numerics.numba_internals import NAMES, USES, MissingName, check_use, find

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "spume"
INTERNALS = SOURCE / "numerics" / "numba_internals.py"
PUBLIC = {"numba.types", "numba.extending", "llvmlite.ir"}

pytestmark = [pytest.mark.numba_versions, pytest.mark.slow_suite]


@pytest.mark.parametrize("path", NAMES)
def test_numba_has_the_private_name(path):
    find(path)  # or MissingName


@pytest.mark.parametrize(("function", "attribute"), USES)
def test_numba_uses_the_attribute_that_is_replaced(function, attribute):
    check_use(function, attribute)


def test_a_missing_name_is_named():
    with pytest.raises(MissingName, match=r"numba\.core\.caching\.NoSuchCache is missing"):
        find("numba.core.caching.NoSuchCache")
    with pytest.raises(MissingName, match=r"Dispatcher\.compile does not use _no_such_cache"):
        check_use("numba.core.dispatcher.Dispatcher.compile", "_no_such_cache")


def test_the_installed_numba_uses_the_cache_of_spume():
    assert CACHE == "spume"


def is_private(name: str) -> bool:
    """Whether a dotted name is a module of Numba or llvmlite that is not public, or in one, or has an underscore."""
    package, *members = name.split(".")
    if package not in ("numba", "llvmlite") or not members:
        return False
    module = f"{package}.{members[0]}"
    return members[-1].startswith("_") or (module not in PUBLIC and find_spec(module) is not None)


def private_imports(code: str) -> set[str]:
    """What a file imports of Numba and llvmlite that is not public."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(ast.unparse(node))
    return {name for name in names if is_private(name)} - {"numba.__version__"}


def test_no_other_file_imports_private_names():
    files = [file for file in SOURCE.rglob("*.py") if file != INTERNALS]
    assert {file.name: found for file in files if (found := private_imports(file.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from numba.core import caching",
        "import numba.core.caching",
        "from numba import core",
        "from numba.np import npyimpl",
        "from llvmlite import binding",
        "from numba.extending import _Intrinsic",
        "numba.core.config",
    ],
)
def test_a_private_import_is_found(line):
    assert len(private_imports(line)) == 1


def underscored(file: str, of_self: bool) -> set[str]:
    """Attributes with an underscore that a file of the hooks uses, those of `self` only where asked."""
    tree = ast.parse((SOURCE / "numerics" / file).read_text(encoding="utf-8"))
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    found = {node.attr for node in attributes if of_self or ast.unparse(node.value) != "self"}
    return {name for name in found if name.startswith("_") and not name.endswith("__")}


@pytest.mark.parametrize(
    ("file", "of_self"), [("jit.py", False), ("kernel_cache.py", False), ("machine_code.py", True)]
)
def test_every_private_attribute_of_numba_is_checked(file, of_self):
    checked = {path.split(".")[-1] for path in NAMES} | {attribute for _, attribute in USES}
    assert underscored(file, of_self) <= checked


def test_pyproject_names_the_oldest_numba_and_no_newest():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bound,) = (text for text in project["dependencies"] if text.startswith("numba"))
    assert bound.startswith("numba>=")
    assert "," not in bound


MISSING = """
import numba.core.codegen
del numba.core.codegen.JITCodeLibrary
"""
"""Stands for a version of Numba without one of the private names; Numba itself no longer needs this one."""

FAILING = """
from spume.numerics import numba_internals
def changed(value):
    raise TypeError("dumps has changed")
numba_internals.NEWEST_TESTED = "0.1"
numba_internals.dumps = changed
"""
"""Stands for a newer version of Numba with all names, one of which does something else."""

NEWER = """
from spume.numerics import numba_internals
numba_internals.NEWEST_TESTED = "0.1"
"""


def run(code, **environment):
    """Output and warnings of a process that runs `code`."""
    # kernels in Numba's cache are found again by the next run of the tests
    defaults = os.environ | {
        "NUMBA_CACHE_DIR": str(cache_directory().parent / "numba"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=defaults | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), [line for line in done.stderr.splitlines() if "Warning" in line]


KERNEL = """
from spume.numerics.jit import CACHE, inlined
from kernel import seventh
print(CACHE, seventh(14.0), inlined(seventh)(21.0))
"""


@pytest.fixture
def kernel(tmp_path):
    (tmp_path / "kernel.py").write_text(
        "from spume.numerics.jit import compiled\n\n\n"
        "@compiled(forceinline=True)\ndef seventh(x):\n    return x / 7.0\n"
    )
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "SPUME_CACHE_DIR": str(tmp_path)}


def test_a_failing_trial_with_a_newer_numba_is_told_once_and_kernels_run(kernel):
    output, warnings = run(FAILING + KERNEL, **kernel)
    assert output == ["numba", "2.0", "3.0"]
    assert len(warnings) == 1
    assert "TypeError: dumps has changed" in warnings[0]


def test_a_newer_numba_that_fits_is_used_without_a_word(kernel):
    assert run(NEWER + KERNEL, **kernel) == (["spume", "2.0", "3.0"], [])


def test_a_newer_numba_is_used_although_no_folder_can_be_written(kernel, tmp_path):
    (tmp_path / "kernels").write_text("in the way")
    output, warnings = run(NEWER + KERNEL, **kernel)
    assert output == ["spume", "2.0", "3.0"]
    assert len(warnings) == 1
    assert "SPUME_CACHE_DIR" in warnings[0]


def test_numbas_cache_finds_a_kernel_again_and_notices_a_change_of_what_it_calls(tmp_path):
    """Numba itself looks only at the file of the kernel that is called."""
    (tmp_path / "caller.py").write_text(
        "from callee import inner\nfrom spume.numerics.jit import compiled\n\n\n"
        "@compiled\ndef outer(x):\n    return inner(x) + 1\n\n\nprint(outer(1), len(outer.stats.cache_hits))\n"
    )
    found = []
    for factor in (2, 2, 3):
        code = f"from spume.numerics.jit import compiled\n\n\n@compiled\ndef inner(x):\n    return {factor} * x\n"
        (tmp_path / "callee.py").write_text(code)
        found += run(
            f"{MISSING}import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport caller",
            NUMBA_CACHE_DIR=str(tmp_path), PYTHONDONTWRITEBYTECODE="1",
        )[0]  # fmt: skip
    assert found == ["3", "0", "3", "1", "4", "0"]


SCENE = """
from spume import load_scene
from spume.runs.loop import start_run
from spume.runs.manifest import Manifest
scene = load_scene("dry-foam-shear", ["foam.cells=16", "foam.seeds=random", "duration=0.02"])
outcome = start_run(scene, {folder!r})
(kernels,) = Manifest.read(outcome.folder / "manifest.json").kernels
print(outcome.status, outcome.frames, kernels["cache"], kernels["numba"])
"""


def test_a_scene_runs_with_the_installed_numba(tmp_path):
    assert run(SCENE.format(folder=str(tmp_path))) == (["complete", "2", "spume", numba.__version__], [])


def test_a_scene_runs_without_a_private_name_and_the_user_is_told_once(tmp_path):
    output, warnings = run(MISSING + SCENE.format(folder=str(tmp_path)))
    assert output == ["complete", "2", "numba", numba.__version__]
    assert len(warnings) == 1
    assert "numba.core.codegen.JITCodeLibrary is missing" in warnings[0]
