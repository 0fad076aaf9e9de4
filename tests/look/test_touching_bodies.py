"""Solid bodies that touch keep their own skins; drops of a fluid merge."""

import numpy as np
import pytest
import synthetic_run

from spume.fields import Population
from spume.frames.populations import PopulationArrays
from spume.look.surface.files import crumbs_of, make_skin, solid_bodies
from spume.look.surface.finishing import connected_parts
from spume.look.surface.skin import enclosed_volume
from spume.scene.common import Scene


def scene(material: str) -> Scene:
    tables = synthetic_run.scene_tables()
    for body in tables["body"]:
        body["material"] = material
    return Scene(**tables)


def two_cubes() -> PopulationArrays:
    """Cubes of 8 points each side that touch, of bodies 0 and 1."""
    x = np.stack(np.meshgrid(np.arange(16), np.arange(8), np.arange(8), indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    arrays = {"x": x, "v": np.zeros_like(x), "volume": np.ones(len(x)), "material": np.zeros(len(x), np.int32)}
    arrays["body"] = (x[:, 0] > 8).astype(np.int32)
    declared = Population("points", synthetic_run.FIELDS[3], "points", 1.0)
    return PopulationArrays(declared, arrays, arrays.__getitem__)


@pytest.mark.parametrize(("material", "parts"), [("gelatin", 2), ("water", 1), ("shaving cream", 1)])
def test_solids_that_touch_have_two_skins_and_fluids_and_foams_one(material: str, parts: int) -> None:
    points = two_cubes()
    made = make_skin(points, None, 1.0, "fine", groups=solid_bodies(scene(material), points))
    assert connected_parts(made.vertices.astype(float), made.triangles).number == parts
    if parts == 2:  # the border is where the cubes touch, up to the rounding of their edges
        left = made.vertices[made.fields["v"][:, 0] == 0][: len(made.vertices) // 2]
        assert 7.7 < left[:, 0].max() < 8.3


def test_bodies_get_numbers_and_fluids_none() -> None:
    points = two_cubes()
    np.testing.assert_array_equal(solid_bodies(scene("gelatin"), points), points["body"] + 1)
    assert not solid_bodies(scene("water"), points).any()


@pytest.mark.parametrize(
    ("material", "away", "parts"), [("shaving cream", 2.5, 1), ("shaving cream", 6.0, 2), ("water", 2.5, 2)]
)
def test_a_crumb_of_foam_close_to_its_body_is_left_out(material: str, away: float, parts: int) -> None:
    """One point above a block: foam that shares nodes of the grid with it, foam beyond these, and a drop of water."""
    block = np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    x = np.concatenate([block, [[4.0, 7.5 + away, 4.0]]])
    arrays = {"x": x, "v": np.zeros_like(x), "volume": np.ones(len(x)), "material": np.zeros(len(x), np.int32)}
    points = PopulationArrays(Population("points", synthetic_run.FIELDS[3], "points", 1.0), arrays, arrays.__getitem__)
    made = make_skin(points, None, 1.0, "fine", crumbs=crumbs_of(scene(material), points))
    assert connected_parts(made.vertices.astype(float), made.triangles).number == parts
    assert enclosed_volume(made.vertices, made.triangles) == pytest.approx(len(x), rel=2e-3)
