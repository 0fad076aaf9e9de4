"""Exceptions reach the user from other processes: each arrives with its message, its exit code and its attributes."""

import ast
import builtins
import pickle
from pathlib import Path

import pytest

from spume.consent import NotTrusted
from spume.errors import CacheError, CompilationStopped, MissingExtra, RunFailed, SceneError, SpumeError
from spume.look.pictures.stills import Interrupted
from spume.scene.problems import Problem, SceneProblems
from spume.whole_files import DiskFull

SOURCE = Path(__file__).parents[2] / "src" / "spume"
ERRORS = [
    SpumeError("a sentence"),
    SceneError("a sentence"),
    NotTrusted(Path("my_law.py")),
    RunFailed("a sentence"),
    CacheError("a sentence"),
    DiskFull("a sentence"),
    CompilationStopped("a sentence"),
    MissingExtra("look", "imageio", "making films"),
    SceneProblems([Problem("grid.cell", "is 0: it should be larger", "scene.toml:3")], "scene.toml"),
    Interrupted([0, 1], ([Path("0.png"), Path("1.png")], None, None)),
]
INTERNAL = {"FunctionFailed", "MissingName", "Portable", "Restart", "StepFailed", "_Enough", "_NotCompiled", "_Stopped"}
"""A base, and exceptions that are caught in the process, and mostly in the file, that raises them."""


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_exception_crosses_processes(error: BaseException) -> None:
    received = pickle.loads(pickle.dumps(error))
    assert type(received) is type(error)
    assert str(received) == str(error)
    assert vars(received) == vars(error)


def test_these_are_all_exceptions_of_the_package() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py")]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    known = {
        name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    found: set[str] = set()
    while (
        new := {each.name for each in classes if {ast.unparse(base) for base in each.bases} & (known | found)} - found
    ):
        found |= new
    assert found == {type(error).__name__ for error in ERRORS} | INTERNAL
