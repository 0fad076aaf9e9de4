"""What a mesh file contains."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Texture(NamedTuple):
    """A picture that colours a surface, as the bytes of a PNG or JPEG file in sRGB."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The ending of a file with these bytes."""
        return ".png" if self.data.startswith(PNG) else ".jpg"


PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


class MeshMaterial(NamedTuple):
    """A material of a mesh file; None for what the file does not say."""

    name: str
    color: tuple[float, float, float] | None = None
    """reflectance, linear RGB"""
    roughness: float | None = None
    metallic: float | None = None
    transparency: float | None = None
    texture: Texture | None = None
    """reflectance at the texture coordinates, which `color` multiplies if both are given"""


class MeshFile(NamedTuple):
    """Triangles with what covers them. The second index of `uv` and `normals` is the corner of a triangle."""

    vertices: Floats
    """(n, 3), in the file's unit of length"""
    triangles: NDArray[np.int64]
    """(t, 3)"""
    uv: Floats | None = None
    """(t, 3, 2): texture coordinates, v upwards"""
    normals: Floats | None = None
    """(t, 3, 3): unit vectors"""
    colors: Floats | None = None
    """(n, 3): linear RGB of each vertex"""
    materials: tuple[MeshMaterial, ...] = ()
    material: NDArray[np.int64] | None = None
    """(t,): index of each triangle's material; None if there are no materials"""
    missing: tuple[str, ...] = ()
    """names of files with materials and textures that this file refers to and that were not found"""


def is_picture(data: bytes) -> bool:
    """Whether these are the bytes of a PNG or JPEG file."""
    return data.startswith((PNG, JPEG))


def turned_out(mesh: MeshFile) -> MeshFile:
    """The mesh with its triangles counter-clockwise seen from outside, if it was inside out."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    if float(np.einsum("ij,ij->", a, np.cross(b, c))) >= 0.0:
        return mesh
    return mesh._replace(
        triangles=np.ascontiguousarray(mesh.triangles[:, ::-1]),
        uv=None if mesh.uv is None else mesh.uv[:, ::-1],
        normals=None if mesh.normals is None else -mesh.normals[:, ::-1],
    )
