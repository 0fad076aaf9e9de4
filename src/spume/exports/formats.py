"""The table of export formats, which the command, the function, the documentation and messages read."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spume.errors import SceneError
from spume.extras import EXTRAS
from spume.suggestions import did_you_mean

What = Literal["points", "surface"]
Layout = Literal["auto", "single", "payload", "clips"]
Kind = Literal["file", "frames", "tables", "folder"]


@dataclass(frozen=True)
class Format:
    """A format that runs are exported to."""

    description: str
    kind: Kind
    """one file with all frames, a file for each population and frame, tables, or a folder with a file for each frame"""
    suffixes: tuple[str, ...]
    """with which its files may end; the first is the default"""
    writer: str
    """"module:function"; its arguments depend on the kind"""
    options: tuple[str, ...]
    """options of an export that have an effect"""
    what: What = "points"
    """what is written unless the user chooses"""
    package: str | None = None
    """an optional module that it needs"""
    split: bool = False
    """whether each population of a run with several has its own file"""

    @property
    def extra(self) -> str | None:
        """The extra of pyproject.toml that it needs."""
        return EXTRAS[self.package] if self.package else None

    def write(self) -> Callable[..., Any]:
        """The function that writes it."""
        module, _, function = self.writer.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), function)
        return found


GEOMETRY = ("what", "skin", "cluster")
FORMATS = {
    "usd": Format(
        "USD: points, obstacles, materials and camera with time samples, in one file or as value clips",
        "file", (".usdc", ".usda", ".usd"), "spume.exports.usd:write_usd",
        (*GEOMETRY, "fields", "layout", "processes"), package="pxr",
    ),
    "vtkhdf": Format(
        "VTKHDF: all frames as time steps for ParaView, a file for each population",
        "file", (".vtkhdf", ".hdf"), "spume.exports.vtkhdf:write_vtkhdf", (*GEOMETRY, "fields"), package="h5py",
        split=True,
    ),
    "ply": Format(
        "PLY: points and meshes with all fields, binary",
        "frames", (".ply",), "spume.exports.ply:write_ply", (*GEOMETRY, "fields", "processes"),
    ),
    "obj": Format(
        "OBJ: the geometry alone, as text",
        "frames", (".obj",), "spume.exports.ply:write_obj", (*GEOMETRY, "processes"),
    ),
    "alembic": Format(
        "Alembic: points, meshes, obstacles and camera with time samples",
        "file", (".abc",), "spume.exports.alembic:write_alembic", (*GEOMETRY, "fields"), package="alembic3d",
    ),
    "gltf": Format(
        "glTF: an animation with materials for the web",
        "file", (".glb",), "spume.exports.gltf:write_gltf", GEOMETRY, "surface",
    ),
    "blend": Format(
        "Blender: meshes in a cache beside the file, materials, lights and camera, ready to render",
        "file", (".blend",), "spume.exports.blend:write_blend", GEOMETRY, "surface", package="bpy",
    ),
    "blender-cache": Format(
        "what the extension for Blender reads: a folder with a file for each frame, which can grow with the run",
        "folder", ("",), "spume.exports.blender_cache:write_cache", ("what", "skin", "fields", "processes"), "surface",
    ),
    "vdb": Format(
        "OpenVDB: filled fraction of space, velocity and level set of the skin, a file for each frame",
        "folder", ("",), "spume.exports.vdb:write_vdb", ("what", "skin", "processes"), "surface", package="bpy",
    ),
    "csv": Format(
        "CSV: the diagnostics of the frames and the logs of the run",
        "tables", (".csv",), "spume.exports.tables:write_tables", (),
    ),
}  # fmt: skip

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[*FORMATS]


def find_format(name: str) -> Format:
    """The format called `name`."""
    if name not in FORMATS:
        raise SceneError(f"there is no export format '{name}': {did_you_mean(name, FORMATS)}")
    return FORMATS[name]


def having(option: str) -> str:
    """The names of the formats on which an option has an effect."""
    return ", ".join(name for name, form in FORMATS.items() if option in form.options)


def check_options(name: str, given: dict[str, Any]) -> None:
    """Raise SceneError for an option that was given, that is not None, and that has no effect on the format `name`."""
    for option, value in given.items():
        if value is not None and option not in find_format(name).options:
            raise SceneError(f"--{option} {value}: this has no effect on {name}; it is an option of {having(option)}")


def check_suffix(name: str, file: Path) -> None:
    """Raise SceneError if a file of the format `name` cannot have this name."""
    suffixes = find_format(name).suffixes
    if file.suffix.lower() not in suffixes:
        raise SceneError(f"--out {file}: the name of a file for {name} ends in {' or '.join(suffixes)}")
