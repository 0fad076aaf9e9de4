"""A mesh with its finish as binary glTF, the form in which the viewer's page takes meshes with materials."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.look.finish import Finish
from spume.look.glb import Glb

STEPS = 65535


def mesh_file(
    vertices: NDArray[Any],
    normals: NDArray[Any],
    colors: NDArray[Any],
    parts: list[tuple[NDArray[Any], Finish]],
) -> bytes:
    """Vertices with normals and colours (linear RGB, 0 to 1), shape (n, 3) each, and triangles in parts with their
    finish, whose colour is not used."""
    glb = Glb()
    tints = np.full((len(vertices), 4), STEPS, np.uint16)
    tints[:, :3] = np.round(STEPS * np.clip(colors, 0.0, 1.0))
    attributes = {
        "POSITION": glb.accessor(np.asarray(vertices, np.float32), bounds=True),
        "NORMAL": glb.accessor(np.asarray(normals, np.float32)),
        "COLOR_0": glb.accessor(tints),
    }
    primitives = [
        {
            "attributes": attributes,
            "indices": glb.accessor(np.asarray(triangles, np.uint32).ravel()),
            "material": glb.add("materials", _material(finish)),
        }
        for triangles, finish in parts
    ]
    mesh = glb.add("meshes", {"primitives": primitives})
    return glb.data([glb.add("nodes", {"mesh": mesh})])


def _material(finish: Finish) -> dict[str, Any]:
    surface = {
        "baseColorFactor": [1.0, 1.0, 1.0, finish.opacity],
        "metallicFactor": finish.metallic,
        "roughnessFactor": finish.roughness,
    }
    blended = {"alphaMode": "BLEND"} if finish.opacity < 1.0 else {}
    return {"pbrMetallicRoughness": surface, "doubleSided": finish.opacity == 1.0} | blended
