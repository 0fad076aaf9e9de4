"""What is public: named in `__all__`, importable, typed, documented, and enough for the gallery."""

import ast
import importlib
import inspect
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import spume

ROOT = Path(__file__).parents[2]
PUBLIC = ("spume", "spume.rheology", "spume.dryfoam", "spume.look")


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there_and_documented(module):
    package = importlib.import_module(module)
    for name in package.__all__:
        found = getattr(package, name)
        assert name == "__version__" or inspect.getdoc(found), f"{module}.{name} has no docstring"
    assert set(dir(spume)) == set(spume.__all__)


def test_no_public_name_is_that_of_a_package():
    """Importing the package `spume.name` would replace what `spume.name` was."""
    source = Path(spume.__file__).parent
    assert {path.stem for path in source.iterdir()} & set(spume.__all__) == set()


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_function_and_method_has_complete_type_hints(module):
    package = importlib.import_module(module)
    for name in package.__all__:
        found = getattr(package, name)
        own = [f for f in vars(found).values() if inspect.isfunction(f)] if inspect.isclass(found) else [found]
        # not those that dataclasses and protocols make
        written = [f for f in own if inspect.isfunction(f) and "spume" in Path(f.__code__.co_filename).parts]
        for function in written:
            signature = inspect.signature(function)
            hints = [p.annotation for p in list(signature.parameters.values()) if p.name not in ("self", "cls")]
            assert inspect.Parameter.empty not in hints, f"{module}.{name}: {function.__qualname__}{signature}"
            assert signature.return_annotation is not inspect.Signature.empty, f"{function.__qualname__}"


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda file: file.stem)
def test_the_gallery_uses_public_names_only(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "spume":
            assert node.module in PUBLIC
            assert {alias.name for alias in node.names} <= set(importlib.import_module(node.module).__all__)
        if isinstance(node, ast.Import):
            assert all(alias.name == "spume" for alias in node.names if alias.name.startswith("spume"))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "spume":
            assert node.attr in spume.__all__


def test_the_api_page_names_everything_that_is_public():
    page = (ROOT / "docs" / "python" / "from-python.md").read_text()
    for module in PUBLIC:
        for name in importlib.import_module(module).__all__:
            assert name == "__version__" or name in page, f"docs/python/from-python.md does not mention {module}.{name}"


@pytest.mark.slow
@pytest.mark.slow_suite
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_takes_the_types_of_the_installed_package(tmp_path):
    """Without py.typed a type checker treats all names of an installed package as Any."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "spume").symlink_to(Path(spume.__file__).parent, target_is_directory=True)
    program = tmp_path / "program.py"
    program.write_text(
        "import spume\n"
        "reveal_type(spume.load_scene('ball-bounce'))\n"
        "reveal_type(spume.run('ball-bounce')[::2])\n"
        "spume.run(scene=3)\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path / "site"}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    # spume alone is looked at; the types of other packages take mypy half a minute
    others = ("numpy", "scipy", "numba", "pydantic", "pydantic_core", "pandas", "xarray", "rich", "cyclopts")
    settings = tmp_path / "mypy.ini"
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in others)
    settings.write_text(f"[mypy]\nignore_missing_imports = true\n{skipped}")
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")}
    command = [sys.executable, "-m", "mypy", "--python-executable", str(python), "--cache-dir", str(tmp_path)]
    command += ["--config-file", str(settings), str(program)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert 'Revealed type is "spume.scene.common.Scene"' in result.stdout, result.stdout
    assert 'Revealed type is "spume.frames.reader.Frames"' in result.stdout
    assert 'incompatible type "int"' in result.stdout
