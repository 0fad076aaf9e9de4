"""Torn points: the criterion of continuum foam for any law, what torn points carry, how they recover."""

import numpy as np
import pytest
from clouds import SPACING, advance, box, run_stages, scene_of_box

from spume.errors import SceneError
from spume.foam.total_deformation import Torn, detect, recover
from spume.points.tearing import limit_deformation

CLAY = {"flow_rate": 50.0, "yield_stress": 1e3}


def stretched(stretch: float, **tables):
    """A box whose points have flowed along x by `stretch`, without elastic strain; Cp = diag(λ², 1/λ, 1/λ)."""
    method = box([3, 3, 3], material=CLAY, **tables)
    method.particles.total_F[:] = np.diag([stretch, stretch**-0.5, stretch**-0.5])
    return method


def torn(method):
    return method.part(Torn)


def plasticity(stretch: float) -> float:
    """‖dev Cp‖ = √(2/3) (λ² − 1/λ)."""
    return np.sqrt(2 / 3) * (stretch**2 - 1 / stretch)


@pytest.mark.parametrize("side", [0.999, 1.001])
def test_points_are_torn_where_their_plasticity_exceeds_the_threshold(side):
    method = stretched(1.7, tearing={"threshold": side * plasticity(1.7)})
    detect(method.world, 0.0, torn(method))
    assert (method.particles.weak == (side < 1)).all()


def test_a_rotated_and_elastically_strained_point_has_the_same_plasticity(rng):
    """Cp does not change with an elastic deformation from the left: F ← f F, b ← f b fᵀ."""
    method = stretched(1.7, tearing={"threshold": 1.0})
    state, p = method.world, method.particles
    f = np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    f *= np.sign(np.linalg.det(f))
    p.total_F[:] = f @ p.total_F
    b = f @ f.T
    p.b[:] = b[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    for side in (0.999, 1.001):
        torn(method).threshold[:] = side * plasticity(1.7)
        detect(state, 0.0, torn(method))
        assert (p.weak == (side < 1)).all()


def test_torn_points_lose_their_tension_and_whole_ones_keep_it():
    method = stretched(1.7, tearing={"threshold": 1.0})
    state, p = method.world, method.particles
    p.total_F[0] = np.eye(3)
    p.stress[:] = (50.0, -20.0, 0.0, 0.0, 0.0, 0.0)
    detect(state, 0.0, torn(method))
    np.testing.assert_array_equal(p.stress[0], (50.0, -20.0, 0.0, 0.0, 0.0, 0.0))
    np.testing.assert_allclose(p.stress[1:], np.broadcast_to((0.0, -20.0, 0, 0, 0, 0), (26, 6)), atol=1e-12)


def test_torn_points_gather_no_shear():
    method = stretched(1.7, tearing={"threshold": 1.0})
    state = method.world
    run_stages(method, "neighbours", 0.0)
    detect(state, 0.0, torn(method))
    state.deformation = np.tile(np.eye(3), (27, 1, 1))
    state.deformation[:, 0, 1] = 1e-3
    limit_deformation(state, 0.0, torn(method))
    # what is left of a shear is a rotation
    left = state.deformation @ state.deformation.transpose(0, 2, 1)
    np.testing.assert_allclose(left, np.broadcast_to(np.eye(3), left.shape), atol=1e-12)


def test_the_plastic_strain_recovers_exponentially():
    """The logarithms of the eigenvalues of Cp decay with exp(−t/ηp); the volume and the elastic strain stay."""
    method = stretched(1.7, tearing={"threshold": 1.0, "recovery_time": 0.2})
    state, p = method.world, method.particles
    state.steps = 9
    recover(state, 0.1, torn(method))
    expected = 1.7 ** np.exp(-0.5)
    np.testing.assert_allclose(p.total_F[:, 0, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.det(p.total_F), 1.0, rtol=1e-12)


def test_a_bar_pulled_apart_tears_by_the_criterion():
    """Without tearing the ends hold together as long as they have neighbours; torn, the middle carries no tension."""
    pull = {"velocity": [4.0, 0.0, 0.0], "wave_vector": [np.pi / (8 * SPACING), 0.0, 0.0]}
    tension = []
    soft = {"flow_rate": 500.0, "yield_stress": 100.0}
    for tables in ({}, {"tearing": {"threshold": 0.2}}):
        method = box([8, 4, 4], material=soft, body={"wave": pull}, **tables)
        advance(method, 0.01)
        p = method.particles
        middle = np.abs(p.x[:, 0]) < 2 * SPACING
        if tables:
            detect(method.world, 0.0, torn(method))
        tension.append(p.stress[middle, 0].max())
        if tables:
            assert p.weak[middle].any()
    assert tension[0] > 100.0
    assert tension[1] < tension[0]


def test_a_foam_tears_by_its_own_threshold():
    scene = scene_of_box([3, 3, 3], body={"material": "shaving cream"})
    own = scene.materials[scene.material_index("shaving cream")].parameters
    assert own.tear_threshold is not None
    method = box([3, 3, 3], body={"material": "shaving cream"}, tearing={"recovery_time": 7.0})
    index = scene.material_index("shaving cream")
    assert torn(method).threshold[index] == own.tear_threshold
    assert torn(method).recovery_time[index] == (own.recovery_time or 7.0)
    whole = box([3, 3, 3], body={"material": "shaving cream"}, tearing={"enabled": False})
    assert not any(isinstance(part, Torn) for part in whole.parts)


def test_a_threshold_for_a_material_without_plastic_part_is_refused():
    with pytest.raises(SceneError, match=r"tearing\.threshold.*no plastic part"):
        scene_of_box([3, 3, 3], body={"material": "silicone rubber"}, tearing={"threshold": 1.0})
    with pytest.raises(SceneError, match=r"tearing\.threshold.*never tears"):
        scene_of_box([3, 3, 3], formulation="rest-configuration", tearing={"threshold": 1.0})
