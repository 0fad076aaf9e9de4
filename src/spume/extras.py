"""Optional packages: imported where they are used, with a one-sentence error if they are missing."""

from importlib import import_module
from types import ModuleType

from spume.errors import MissingExtra

EXTRAS = {
    "matplotlib": "look",
    "imageio": "look",
    "imageio_ffmpeg": "look",
    "PIL": "look",
    "mitsuba": "render",
    "bpy": "blender",
    "viser": "view",
    "pxr": "export",
    "h5py": "export",
    "alembic3d": "alembic",
    "pandas": "tables",
    "xarray": "tables",
    "distributed": "cluster",
    "mpi4py": "ranks",
    "trimesh": "geometry",
    "igl": "geometry",
}
"""The extra of pyproject.toml that provides each module."""

PACKAGES = {"pxr": "usd-core", "imageio_ffmpeg": "imageio-ffmpeg", "PIL": "pillow", "igl": "libigl"}
"""Packages whose name differs from that of the module."""


def require(module: str, purpose: str) -> ModuleType:
    """The module, or MissingExtra with the pip command; `purpose` says what needs it, as in 'drawing surfaces'."""
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise
        raise MissingExtra(EXTRAS[top], PACKAGES.get(top, top), purpose) from None
