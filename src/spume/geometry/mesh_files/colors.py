"""Colours of a mesh: pixels of its textures, and the colour of its surface nearest to places in space."""

import io

import numpy as np
from numpy.typing import NDArray

from spume.extras import require
from spume.geometry.mesh_files.mesh_file import MeshFile, Texture
from spume.srgb import to_linear

Floats = NDArray[np.float64]
LARGEST = 16_384
"""Width and height of a texture that is read [pixels]."""


def has_colors(mesh: MeshFile) -> bool:
    """Whether a mesh has colours of its own: of vertices, of materials or from textures."""
    return mesh.colors is not None or any(each.color or each.texture for each in mesh.materials)


def nearest_colors(mesh: MeshFile, x: Floats) -> Floats:
    """Linear RGB and coverage, shape (n, 4), of the mesh at the places of its surface nearest to `x`, shape (n, 3), in
    its own units. Coverage is 0, and the colour black, where a material says nothing of its colour."""
    igl = require("igl", "colours of a mesh")
    found = np.zeros((len(x), 4))
    if len(x) == 0:
        return found
    vertices, triangles = np.ascontiguousarray(mesh.vertices), np.ascontiguousarray(mesh.triangles)
    _, nearest, place = igl.point_mesh_squared_distance(np.ascontiguousarray(x), vertices, triangles)
    share = _barycentric(place, vertices[triangles[nearest]])
    if mesh.colors is not None:
        found[:, :3] = np.einsum("nc,ncd->nd", share, mesh.colors[triangles[nearest]])
        found[:, 3] = 1.0
    uv = None if mesh.uv is None else np.einsum("nc,ncd->nd", share, mesh.uv[nearest])
    for k, material in enumerate(mesh.materials):
        assert mesh.material is not None  # as there are materials
        own = mesh.material[nearest] == k
        tint = np.array(material.color or (1.0, 1.0, 1.0))
        if material.texture is not None and uv is not None:
            found[own, :3] = sampled(pixels(material.texture), uv[own]) * tint
            found[own, 3] = 1.0
        elif material.color is not None:
            found[own, :3] = tint if mesh.colors is None else found[own, :3] * tint
            found[own, 3] = 1.0
    return found


def _barycentric(place: Floats, corners: Floats) -> Floats:
    """Weights (n, 3) of the corners (n, 3, 3) of triangles at places in them."""
    a, b, c = (corners[:, k] for k in range(3))
    u, v, w = b - a, c - a, place - a
    uu, uv, vv = (np.einsum("ij,ij->i", *pair) for pair in ((u, u), (u, v), (v, v)))
    wu, wv = (np.einsum("ij,ij->i", w, each) for each in (u, v))
    scale = uu * vv - uv * uv
    scale = np.where(scale > 0, scale, 1.0)
    second, third = (vv * wu - uv * wv) / scale, (uu * wv - uv * wu) / scale
    share = np.clip(np.stack([1.0 - second - third, second, third], axis=1), 0.0, 1.0)
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def pixels(texture: Texture) -> Floats:
    """Linear RGB of a texture, shape (height, width, 3), the top row first."""
    image = require("PIL.Image", "drawing textures")
    with image.open(io.BytesIO(texture.data)) as picture:
        if max(picture.size) > LARGEST:
            picture.thumbnail((LARGEST, LARGEST))
        return to_linear(np.asarray(picture.convert("RGB"), np.float64) / 255)


def sampled(picture: Floats, uv: Floats) -> Floats:
    """Colours at texture coordinates, shape (n, 3), interpolated between the middles of the pixels; the picture
    repeats."""
    height, width = picture.shape[:2]
    x, y = uv[:, 0] * width - 0.5, (1.0 - uv[:, 1]) * height - 0.5
    left, top = np.floor(x), np.floor(y)
    across, down = (x - left)[:, None], (y - top)[:, None]
    columns = [np.mod(left + k, width).astype(np.int64) for k in (0, 1)]
    rows = [np.mod(top + k, height).astype(np.int64) for k in (0, 1)]
    upper = (1 - across) * picture[rows[0], columns[0]] + across * picture[rows[0], columns[1]]
    lower = (1 - across) * picture[rows[1], columns[0]] + across * picture[rows[1], columns[1]]
    return np.asarray((1 - down) * upper + down * lower)
