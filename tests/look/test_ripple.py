"""Skins of disordered points are smooth where the body is, and keep its edges and thin parts."""

import numpy as np
import pytest

from spume.look.surface.finishing import evened
from spume.look.surface.skin import enclosed_volume, skin


def disordered(size: tuple[int, int, int], disorder: float) -> np.ndarray:
    """A lattice with spacing one, each point displaced at random by up to half the disorder along each axis."""
    axes = [np.arange(n) - 0.5 * (n - 1) for n in size]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return x + disorder * np.random.default_rng(5).uniform(-0.5, 0.5, x.shape)


def test_a_flat_surface_at_rest_ripples_by_less_than_a_fiftieth_of_a_spacing() -> None:
    made = skin(disordered((24, 10, 24), 0.3), 0.5)
    x, y, z = made.vertices.T
    top = (y > 2) & (np.abs(x) < 7) & (np.abs(z) < 7)
    assert y[top].std() <= 0.02
    tilt = np.degrees(np.arccos(np.clip(made.normals[top, 1], -1, 1)))
    assert np.sqrt((tilt**2).mean()) < 1.0


def test_a_slow_bulge_is_a_ball_up_to_the_disorder_of_its_points() -> None:
    """A ball of radius 14 cut out of a disordered lattice. The cut displaces its surface by up to half a spacing for
    each spacing squared, 1/√12 on average; the mean over the 92 around a place, 4 π σ² with σ = 2.7, would be off by
    0.03 if they were independent. The terraces of a lattice are not: twice that is allowed."""
    x = disordered((32, 32, 32), 0.3)
    made = skin(x[np.linalg.norm(x, axis=1) < 14.0], 0.5)
    radius = np.linalg.norm(made.vertices, axis=1)
    assert radius.std() <= 2 * np.sqrt(1 / 12) / np.sqrt(4 * np.pi * 7.3)


def test_edges_keep_their_place() -> None:
    """The edges of a block are where they are without evening, up to a tenth of a spacing."""
    x = disordered((16, 16, 16), 0.0)
    made = skin(x, 0.5)
    diagonal = made.vertices @ np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    middle = np.abs(made.vertices[:, 2]) < 4
    # the corner of the block is at 8 √2 = 11.3; smoothing of the field rounds it by about a spacing
    assert diagonal[middle].max() > 8 * np.sqrt(2) - 1.3


@pytest.mark.parametrize("steps", [0, 60])
def test_evening_a_mesh_keeps_its_volume_and_a_thin_tube_its_shape(steps: int) -> None:
    """Around a tube of radius three edges the normals differ too much: nothing moves."""
    rings, sectors = 60, 18
    angle = 2 * np.pi * np.arange(sectors) / sectors
    ring = np.stack([3 * np.cos(angle), 3 * np.sin(angle)], axis=1)
    body = np.concatenate([np.column_stack([ring, np.full(sectors, 1.0 * k)]) for k in range(rings)])
    vertices = np.concatenate([body, [[0, 0, 0], [0, 0, rings - 1]]])
    low = (np.arange(rings - 1)[:, None] * sectors + np.arange(sectors)).ravel()
    right = (np.arange(rings - 1)[:, None] * sectors + (np.arange(sectors) + 1) % sectors).ravel()
    walls = [np.stack([low, right, low + sectors], -1), np.stack([right, right + sectors, low + sectors], -1)]
    around, last = np.arange(sectors), (rings - 1) * sectors
    turned = np.roll(around, -1)
    caps = [np.stack([turned, around, np.full(sectors, len(body))], -1)]
    caps += [np.stack([last + around, last + turned, np.full(sectors, len(body) + 1)], -1)]
    triangles = np.concatenate(walls + caps).astype(np.int32)
    moved = evened(vertices, triangles, steps)
    middle = slice(20 * sectors, 40 * sectors)
    np.testing.assert_allclose(moved[middle], vertices[middle], atol=1e-9)
    assert enclosed_volume(moved, triangles) == pytest.approx(enclosed_volume(vertices, triangles), rel=0.01)
