"""The choice of what becomes of crumbs, parts of a skin with the volume of a few points."""

from pathlib import Path

import numpy as np
import pytest
import synthetic_run

from spume import open_run
from spume.errors import SceneError
from spume.look.surface.crumbs import Crumbs
from spume.look.surface.files import crumbs_of, skin_of
from spume.look.surface.finishing import connected_parts
from spume.look.surface.skin import Skin, enclosed_volume, skin
from spume.scene.common import Scene

BLOCK = np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
TILE = np.stack(np.meshgrid([4.0, 5.0, 6.0], [20.0, 21.0], [4.0], indexing="ij"), axis=-1).reshape(-1, 3)
"""Six points far above the block."""


def made(crumbs: Crumbs, x: np.ndarray) -> tuple[Skin, np.ndarray]:
    """The skin of points one apart, and the volumes of its parts from large to small."""
    found = skin(x, 0.5, crumbs=crumbs)
    return found, np.sort(connected_parts(found.vertices.astype(float), found.triangles).volumes)[::-1]


@pytest.mark.parametrize("fate", ["drops", "shapes"])
def test_crumbs_keep_their_volume(fate: str) -> None:
    _, volumes = made(Crumbs(fate), np.concatenate([BLOCK, TILE]))
    assert volumes == pytest.approx([512.0, 6.0], rel=2e-3)


def test_drops_are_as_long_as_wide_and_shapes_are_not() -> None:
    """The tile is three times as long as thick; a mesh with edges of half the radius is not quite a ball."""
    for fate, is_round in (("drops", True), ("shapes", False)):
        found, _ = made(Crumbs(fate), np.concatenate([BLOCK, TILE]))
        extent = np.ptp(found.vertices[found.vertices[:, 1] > 14], axis=0)
        assert (extent.max() < 1.2 * extent.min()) == is_round


def test_crumbs_that_are_left_out_leave_the_rest_as_it_is() -> None:
    found, volumes = made(Crumbs("none"), np.concatenate([BLOCK, TILE]))
    assert volumes == pytest.approx([512.0], rel=2e-3)
    alone, _ = made(Crumbs("none"), BLOCK)
    np.testing.assert_array_equal(found.vertices, alone.vertices)
    np.testing.assert_array_equal(found.triangles, alone.triangles)


@pytest.mark.parametrize(("points", "parts"), [(0.0, 2), (4.0, 2), (8.0, 1), (600.0, 0)])
def test_their_size_is_counted_in_points(points: float, parts: int) -> None:
    found, volumes = made(Crumbs("none", points), np.concatenate([BLOCK, TILE]))
    assert len(volumes) == parts
    assert len(found.normals) == len(found.vertices)


def test_a_scene_chooses_and_a_finished_run_may_choose_otherwise(tmp_path: Path) -> None:
    tables = synthetic_run.scene_tables() | {"skin": {"crumbs": "none", "crumb_points": 20.0}}
    synthetic_run.write_run(tmp_path)
    run = open_run(tmp_path)
    assert crumbs_of(Scene(**tables), run[0]["points"])[:2] == ("none", 20.0)
    volume = {}
    for fate in ("drops", "none"):
        shown = open_run(tmp_path, looks={"skin.crumbs": fate, "skin.crumb_points": 1e6})
        made = skin_of(shown, shown[0], run.populations[0], ("preview",))
        volume[fate] = enclosed_volume(made.vertices, made.triangles)
    assert volume["drops"] > 0.0 == volume["none"]
    with pytest.raises(SceneError, match="'drops', 'shapes' or 'none'"):
        open_run(tmp_path, looks={"skin.crumbs": "dust"}).scene.skin  # noqa: B018 - it is read here
