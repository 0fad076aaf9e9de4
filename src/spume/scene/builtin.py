"""The library of built-in scenes, and finding and reading scene files. Nothing is validated here, so listing is
quick."""

import tomllib
from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.suggestions import did_you_mean
from spume.tables import DEEPEST, depth

LIBRARY = Path(__file__).parent / "library"
PAPERS = {
    "yue15": "Foam: Yue et al. 2015, Continuum Foam",
    "dry_foam": "Dry foam: Kelager and Erleben 2010, A Nonlinear Vertex-Based Model",
    "tampubolon17": "Sand and water: Tampubolon et al. 2017, Multi-Species Simulation",
    "fang19": "Viscoelastic solids: Fang et al. 2019, Silly Rubber",
    "gerszewski09": "Point-based solids: Gerszewski et al. 2009, A Point-Based Method",
    "more": "Scenes of no paper",
}
"""The folders of the library, in the order in which they are listed, and their titles."""


def find_scene(name_or_path: str | Path) -> Path:
    """The file of a scene; a name without folder and suffix refers to the library."""
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.parent != Path() or path.is_file():
        if path.is_file():
            return path
        raise SceneError(f"there is no scene file '{path}'" + (": it is a folder" if path.is_dir() else ""))
    known = {file.stem: file for file in library_files()}
    if path.name in known:
        return known[path.name]
    wanted = did_you_mean(path.name, known, "'spume scenes' lists them, and a file's name ends in .toml")
    raise SceneError(f"there is no built-in scene '{path}': {wanted}")


def find_parent(name: str, folder: Path) -> Path:
    """The file of the scene that a scene in `folder` extends: a name of the library, or a file relative to it."""
    return find_scene(name if name in {known.stem for known in library_files()} else folder / name)


def library_files() -> list[Path]:
    """The files of the built-in scenes, paper by paper and by name."""
    return [file for folder in PAPERS for file in sorted((LIBRARY / folder).glob("*.toml"), key=lambda file: file.stem)]


def read_toml(file: Path) -> dict[str, Any]:
    """The tables of a TOML file; a syntax error names line and column."""
    try:
        tables = tomllib.loads(file.read_bytes().decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{file}: this is not TOML: {_lower(str(error))}") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{file}: byte {error.start} is not UTF-8; scene files must be UTF-8 text") from None
    except RecursionError:
        raise SceneError(f"{file}: its values are nested too deeply to be read") from None
    except OSError as error:
        raise SceneError(f"{file}: it cannot be read: {error.strerror}") from None
    except ValueError as error:  # a number with more digits than Python converts
        raise SceneError(f"{file}: this is not TOML: {_lower(str(error))}") from None
    if depth(tables) > DEEPEST:
        raise SceneError(f"{file}: its values are nested more than {DEEPEST} levels deep")
    return tables


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
