"""Imported meshes as they are drawn and exported: their own vertices with normals, texture coordinates and materials.

Other shapes are drawn by the zero level of their signed distance; the distance of a mesh serves contact only.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.mesh_files.mesh_file import MeshFile, MeshMaterial, turned_out
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.geometry.mesh_files.sequence import read_sequence
from spume.geometry.shapes.placement import Placement
from spume.geometry.shapes.primitives import MeshSequence
from spume.geometry.shapes.primitives import TriangleMesh as MeshShape
from spume.look.finish import OBSTACLE, completed
from spume.look.triangle_mesh import Cover, TriangleMesh, distinct, split_corners, vertex_normals
from spume.materials.appearance import Appearance
from spume.terminal import tell

EDGE_ANGLE = 35.0
"""Edges between faces at a larger angle are shaded as sharp if the file has no normals [degrees]."""


class OwnMesh(NamedTuple):
    """An imported mesh, where it stands, and the look that the scene gives it."""

    shape: MeshShape | MeshSequence
    placement: Placement
    look: Appearance | None


_told: set[tuple[str, str]] = set()


def _file(own: OwnMesh) -> tuple[str, MeshFile]:
    """The name of an imported mesh, and what its file contains."""
    if isinstance(own.shape, MeshSequence):
        return own.shape.files, turned_out(read_sequence(own.shape.files, own.shape.frame_rate).first)
    return own.shape.file, turned_out(read_mesh_file(own.shape.file))


def own_triangles(own: OwnMesh) -> NDArray[np.int64]:
    """The triangles (t, 3) of the file."""
    return _file(own)[1].triangles


def own_mesh(own: OwnMesh) -> TriangleMesh:
    """The triangles of the file with a vertex for each combination of place, normal and texture coordinates."""
    source, file = _file(own)
    for name in file.missing:
        if (source, name) not in _told:
            _told.add((source, name))
            tell(f"'{source}' refers to '{name}', which cannot be read: its surface is drawn without it")
    vertices = own.placement.points(file.vertices * own.shape.scale)
    normals = None if file.normals is None else file.normals @ own.placement.rotation.T
    origin, triangles, first = split_corners(vertices, file.triangles, EDGE_ANGLE, normals, file.uv)
    places = vertices[origin]
    unit = vertex_normals(places, triangles) if normals is None else normals.reshape(-1, 3)[first]
    return TriangleMesh(
        places,
        triangles,
        unit,
        None if file.uv is None else file.uv.reshape(-1, 2)[first],
        None if file.colors is None or _is_colored(own.look) else file.colors[origin],
        origin.astype(np.int32),
        *covers_of(file, own.look),
    )


def deformed(mesh: TriangleMesh, vertices: NDArray[np.float64]) -> TriangleMesh:
    """An imported mesh with other positions (n, 3) of the vertices of its file."""
    assert mesh.own is not None
    places = vertices[mesh.own]
    return mesh._replace(vertices=places, normals=vertex_normals(places, mesh.triangles))


def covers_of(file: MeshFile, look: Appearance | None) -> tuple[tuple[Cover, ...], NDArray[np.int32] | None]:
    """What covers the triangles of a file, and which of that covers each; what the scene says comes first."""
    if file.material is None:
        return (), None
    return distinct([_cover(material, look) for material in file.materials], file.material)


def _cover(material: MeshMaterial, look: Appearance | None) -> Cover:
    keys = ("color", "roughness", "metallic", "transparency")
    stated: dict[str, Any] = {key: getattr(material, key) for key in keys if getattr(material, key) is not None}
    texture = None if _is_colored(look) else material.texture
    if texture is not None:
        stated.setdefault("color", (1.0, 1.0, 1.0))
    base = OBSTACLE._replace(**stated)
    return Cover(material.name, completed(look, base), texture)


def _is_colored(look: Appearance | None) -> bool:
    """Whether the scene gives a colour, which replaces those of the file."""
    return look is not None and look.color is not None
