"""Sand and water in one path-traced picture: grains, darker where wet, beside a clear surface."""

from dataclasses import replace

import mixture_run
import numpy as np
import pytest

from spume.frames.reader import open_run
from spume.look.blender.process import has_blender
from spume.look.blender.studio import GRAINS, MOST_GRAINS, studio
from spume.look.finish import Finish
from spume.look.grains import WET, scattered
from spume.look.pictures.beauty import BeautyDrawer
from spume.look.pictures.drawing import PictureOptions, make_drawer
from spume.look.pictures.space_drawer import SpaceDrawer

OPTIONS = PictureOptions(width=96, height=64, quality="preview", engine="fast")


@pytest.fixture(scope="module")
def drawer(tmp_path_factory: pytest.TempPathFactory) -> SpaceDrawer:
    """Of a run of wet sand, water and, in its last frame, a stream of other sand."""
    run = open_run(mixture_run.write_run(tmp_path_factory.mktemp("runs") / "wet"))
    drawer = make_drawer(run, OPTIONS)
    assert isinstance(drawer, SpaceDrawer)
    return drawer


def test_blender_is_given_grains_of_sand_and_a_clear_mesh_of_water(drawer: SpaceDrawer) -> None:
    job = studio(drawer, [2], "render", 8, 1)
    grains, meshes = ([item for item in job.tables["items"] if item["kind"] == kind] for kind in ("grains", "mesh"))
    sand = drawer.run[2]["sand"]
    counts = [len(job.arrays[f"{item['key']}/vertices"]) for item in grains]
    points = [int((sand["material"] == kind).sum()) for kind in (0, 2)]
    for count, number in zip(counts, points):
        assert GRAINS[0] * number <= count <= GRAINS[1] * number
    assert [job.tables["looks"][item["look"]]["transparency"] > 0 for item in meshes] == [True]
    # grains of a point have its colour; its shade and theirs vary around one
    first = next(part for part, finish in drawer.material_parts(drawer.run[2]) if finish.grain)
    point = scattered(first.vertices, first.colors, first.spacing, 0.0, GRAINS, MOST_GRAINS).point
    colors = np.bincount(point, job.arrays[f"{grains[0]['key']}/colors"].mean(axis=1)) / np.bincount(point)
    saturation = sand["saturation"][sand["material"] == 0]
    damp, wet = saturation < 0.5, saturation > 0.9
    dry = colors / (1.0 - WET * saturation)
    assert min(damp.sum(), wet.sum()) > 20
    assert colors[damp].mean() > 1.1 * colors[wet].mean()
    # shades of ±20 % have a standard deviation of 12 %: 2.6 % for the mean of twenty, four times that for both
    assert dry[damp].mean() == pytest.approx(dry[wet].mean(), rel=0.15)


def test_mitsuba_is_given_a_ball_for_each_point_of_sand_and_the_mesh_of_water(drawer: SpaceDrawer) -> None:
    parts = BeautyDrawer(drawer)._parts(drawer.run[2])
    solid = [mesh for mesh, finish in parts if not finish.transparency]
    clear = [mesh for mesh, finish in parts if finish.transparency]
    # icosahedra have twelve vertices
    assert sum(len(mesh.vertices) for mesh in solid) == 12 * len(drawer.run[2]["sand"]["x"])
    assert [len(mesh.triangles) > 0 for mesh in clear] == [True]


def picture(drawer: SpaceDrawer, renderer: str, painted: bool) -> np.ndarray:
    """The last frame; red paint may take the place of the water."""
    beauty = make_drawer(drawer.run, replace(OPTIONS, engine="beauty", renderer=renderer, samples=16))
    red = Finish((0.9, 0.05, 0.05))
    finishes = [red if painted and each.transparency else each for each in drawer.finishes]
    return replace(beauty, inner=replace(beauty.inner, finishes=finishes)).draw(2).astype(int)


def check(drawer: SpaceDrawer, renderer: str) -> None:
    """Red paint in place of the water hides what is seen through it, and changes nothing where no water is."""
    clear, painted = (picture(drawer, renderer, painted) for painted in (False, True))
    changed = np.abs(clear - painted).max(axis=2) > 60
    assert 0.02 < changed.mean() < 0.5
    # sand: brown, so that red exceeds blue, outside the water and without its paint
    brown = (clear[..., 0] - clear[..., 2] > 15) & ~changed
    assert brown.mean() > 0.01


@pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")
def test_cycles_draws_grains_beside_clear_water(drawer: SpaceDrawer) -> None:
    check(drawer, "cycles")


def test_mitsuba_draws_grains_beside_clear_water(drawer: SpaceDrawer) -> None:
    pytest.importorskip("mitsuba", reason="needs the extra 'render'")
    check(drawer, "mitsuba")
