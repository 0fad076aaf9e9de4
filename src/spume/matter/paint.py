"""Colours that points carry from the mesh of their body."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.geometry.mesh_files.colors import nearest_colors
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.parts import own_mesh_of
from spume.numerics.rows import rows_times


def mesh_paint(shape: ShapeModel, x: NDArray[np.float64], folder: Path) -> NDArray[np.float64]:
    """Colour and coverage (n, 4) at places `x` [m] of the mesh that a shape is, at the nearest place of its surface."""
    found = own_mesh_of(shape)
    assert found is not None  # as the scene has been checked
    mesh, placement = found
    local = rows_times(x - placement.origin, placement.rotation) / (placement.scale * mesh.scale)
    return nearest_colors(read_mesh_file(mesh.file, folder), local)
