"""The data go one way (ARCHITECTURE.md): a package imports only from packages to its left, so no import leads back."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "spume"

LEVELS = (
    ("children", "cores", "errors", "version", "suggestions", "lazy", "srgb"),
    ("terminal", "extras", "options", "consent"),
    ("cluster", "user_files", "whole_files"),
    ("work", "csv_files"),
    ("fields", "numerics", "tables"),
    ("methods", "materials", "geometry"),
    ("memory",),
    ("scene",),
    ("laws", "rheology", "dryfoam"),
    ("grid",),
    ("ranks",),
    ("measuring",),
    ("matter",),
    ("mpm",),
    ("foam", "mixture"),
    ("points",),
    ("runs",),
    ("frames",),
    ("whitewater",),
    ("look",),
    ("exports",),
    ("simulation", "api", "sweeps"),
    ("cli", "__init__"),
    ("__main__",),
)
"""From left to right; rooms of one level do not know each other. Names are those of packages and single modules."""


def level(room: str) -> int:
    found = [k for k, rooms in enumerate(LEVELS) if room in rooms]
    assert found, f"the room '{room}' has no place in LEVELS: put it where it may be imported from"
    return found[0]


def room_of(file: Path) -> str:
    first = file.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported_rooms(file: Path) -> Iterator[str]:
    """The rooms that a file imports from, wherever in the file it does so."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import, which this test does not follow"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "spume" and len(parts) > 1:
                yield parts[1]


def wrong_imports(file: Path) -> set[tuple[str, str]]:
    own = room_of(file)
    found = {room for room in imported_rooms(file) if room != own and level(room) >= level(own)}
    return {(file.relative_to(SOURCE).as_posix(), room) for room in found}


def test_every_room_has_its_place() -> None:
    rooms = {room_of(file) for file in SOURCE.rglob("*.py")}
    assert rooms == {room for rooms in LEVELS for room in rooms}


@pytest.mark.parametrize("room", [room for rooms in LEVELS for room in rooms])
def test_a_room_imports_only_from_rooms_to_its_left(room: str) -> None:
    files = [file for file in SOURCE.rglob("*.py") if room_of(file) == room]
    assert set().union(*(wrong_imports(file) for file in files)) == set()


def test_a_wrong_import_is_found(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    (tmp_path / "mpm").mkdir()
    file = tmp_path / "mpm" / "step.py"
    file.write_text("def f():\n    from spume.look.finish import GROUND\n    from spume import runs\n")
    assert wrong_imports(file) == {("mpm/step.py", "look"), ("mpm/step.py", "runs")}
