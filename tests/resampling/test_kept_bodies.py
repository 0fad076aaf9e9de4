"""An embedded body beside foam that is resampled keeps exactly its own points."""

import numpy as np
import pytest

from spume import Scene
from spume.foam.method import ContinuumFoam
from spume.foam.resampling import KeptBodies, avoid_a_void
from spume.scene.continuum_foam import ContinuumFoamScene

CHERRY, CREAM = 0, 1


def cherry_in_cream(surface: str = "embedded") -> ContinuumFoam:
    """A ball of gelatin in a block of foam. The body of the foam leaves a place for it."""
    ball = {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.04}}
    block = {"box": {"center": [0.0, 0.0, 0.0], "size": [0.2, 0.2, 0.2]}}
    scene = Scene(
        title="A cherry in cream", method="continuum-foam", duration=0.1, gravity=[0.0, 0.0, 0.0],
        grid={"cell": 0.02}, subgrid_removal={"enabled": False}, tearing={"enabled": False},
        material={"cherry": {"base": "gelatin"}, "cream": {"base": "shaving cream"}},
        body=[
            {"name": "cherry", "material": "cherry", "shape": ball, "surface": surface},
            {"material": "cream", "shape": {"difference": {"of": block, "minus": [ball]}}},
        ],
    )  # fmt: skip
    assert isinstance(scene, ContinuumFoamScene)
    return ContinuumFoam(scene)


def stretched(method: ContinuumFoam) -> None:
    """1.4 times as long along x, with voids everywhere, and a pair of points of each body at one place."""
    p = method.particles
    p.x[:, 0] *= 1.4
    for body in (CHERRY, CREAM):
        first, second = np.flatnonzero(p.body == body)[:2]
        p.x[second] = p.x[first] + 1e-5


@pytest.mark.parametrize("surface", ["embedded", "reconstructed"])
def test_only_the_foam_is_resampled(surface: str) -> None:
    method = cherry_in_cream(surface)
    stretched(method)
    p, foam = method.particles, method.step.stages and method.parts[0]
    before = np.sort(p.id[p.body == CHERRY]), p.mass[p.body == CHERRY].sum(), p.mass.sum()
    kept = KeptBodies(p, foam.kept_bodies) if foam.kept_bodies else None
    report = avoid_a_void(method.world, 0.0, (0, 0), foam.resampling_settings, kept)
    assert report.inserted > 100
    same = np.array_equal(np.sort(p.id[p.body == CHERRY]), before[0])
    assert same == (surface == "embedded")
    assert report.merged == (1 if surface == "embedded" else 2)
    assert p.mass.sum() == pytest.approx(before[2], rel=1e-12)
    if surface == "embedded":
        assert p.mass[p.body == CHERRY].sum() == before[1]


def test_the_surface_follows_its_body_through_resampling() -> None:
    """The affine motion is that of the mesh, whatever happens to the foam."""
    method = cherry_in_cream()
    (surface,) = method.surfaces.values()
    method.particles.x[:, 0] *= 1.4
    foam = method.parts[0]
    avoid_a_void(method.world, 0.0, (0, 0), foam.resampling_settings, KeptBodies(method.particles, foam.kept_bodies))
    found = surface.arrays(surface.points_bound_to(method.world))
    # the fit is pulled towards a rotation by a thousandth of its weight
    np.testing.assert_allclose(found["x"], surface.vertices * [1.4, 1.0, 1.0], atol=2e-3 * 0.04)
    assert len(found["triangles"]) == len(surface.triangles)


def test_a_step_resamples_around_the_body() -> None:
    """The stage of the step knows which bodies to keep."""
    method = cherry_in_cream()
    stretched(method)
    own = np.sort(method.particles.id[method.particles.body == CHERRY])
    (stage,) = [each for each in method.step.stages if each.name == "particle resampling"]
    method.world.steps = method.scene.resampling.every - 1
    stage.run(method.world, 1e-4)
    assert method.parts[0].points_inserted > 100
    np.testing.assert_array_equal(np.sort(method.particles.id[method.particles.body == CHERRY]), own)
