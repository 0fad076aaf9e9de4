"""What is quick stays quick: importing the package and the short commands load neither the compiler nor any extra."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "scipy", "trimesh", "igl", "pyvista", "vtk", "matplotlib", "imageio")


def modules_after(statement: str) -> set[str]:
    """The modules a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stderr.splitlines())


@pytest.mark.parametrize(
    "statement",
    [
        "import spume",
        "import spume; spume.open_run; spume.load_scene; spume.Scene; spume.Simulation",
        "from spume.cli import main; main(['scenes'])",
        "from spume.cli import main; main(['--help'])",
        "from spume.cli import main; main(['run', '--help'])",
    ],
)
def test_no_compiler_and_no_extra_is_loaded(statement):
    assert {name.partition(".")[0] for name in modules_after(statement)}.isdisjoint(HEAVY)


def test_a_method_on_the_grid_is_imported_without_the_packages_of_scipy():
    loaded = modules_after("import spume.runs.loop, spume.mpm.method, spume.foam.method, spume.mixture.method")
    assert loaded.isdisjoint(f"scipy.{name}" for name in ("linalg", "ndimage", "optimize", "sparse", "spatial"))


def test_the_public_names_exist_and_nothing_else_is_promised():
    import spume

    for name in spume.__all__:
        assert getattr(spume, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = spume.nonsense
