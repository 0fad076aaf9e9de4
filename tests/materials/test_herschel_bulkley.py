"""Properties of Herschel-Bulkley flow that other laws need not have."""

import numpy as np
import pytest

from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.loops import ConstitutiveModel

EPS = np.finfo(float).eps
FOAM = HerschelBulkleyParameters(
    density=77.7, bulk_modulus=1.09e5, shear_modulus=290.0, yield_stress=31.9, viscosity=27.2, flow_index=0.22
)
OOBLECK = HerschelBulkleyParameters(
    density=1000.0, bulk_modulus=1.09e5, shear_modulus=11200.0, yield_stress=0.1, viscosity=10.0, flow_index=2.8
)
both = pytest.mark.parametrize("parameters", [FOAM, OOBLECK], ids=["shaving cream", "oobleck"])


class Points:
    """A hundred points of one material."""

    def __init__(self, parameters):
        self.model = ConstitutiveModel([(HERSCHEL_BULKLEY, parameters)])
        self.arrays = {"material": np.zeros(100, np.int32)} | {f.name: f.allocate(100) for f in self.model.fields}

    def step(self, increment, dt):
        """‖dev τ‖ of the points after a step that deforms them by `increment`."""
        stress = np.zeros((100, 6))
        self.model.update(self.arrays, dt, increment, stress)
        deviator = stress[:, :3] - stress[:, :3].mean(axis=1, keepdims=True)
        return stress, np.sqrt((deviator**2).sum(axis=1) + 2 * (stress[:, 3:] ** 2).sum(axis=1))


@both
def test_perfect_plasticity_ends_on_the_yield_surface(parameters):
    """η = 0: ‖dev τ‖ ≤ √(2/3) σY always. While flowing, the normalisation of b̄e takes from it no more than the part
    of the volume it removes, of the order of the strain of the step times the elastic strain."""
    perfect = parameters.model_copy(update={"viscosity": 0.0})
    k = np.sqrt(2.0 / 3.0) * parameters.yield_stress
    rng = np.random.default_rng(12)
    strain = 0.1 * k / parameters.shear_modulus
    rounding = 20 * EPS * parameters.bulk_modulus
    points = Points(perfect)
    direction = rng.uniform(-1, 1, (100, 3, 3))
    for _ in range(200):
        _, magnitude = points.step(np.eye(3) + strain * direction, 1e-3)
        assert np.all(magnitude <= k * (1.0 + 1e-12) + rounding)
    assert (points.arrays["dissipation"] > 0).all()
    elastic = k / parameters.shear_modulus
    assert np.all(magnitude >= k * (1.0 - 10 * strain * elastic) - rounding)


@both
def test_elastic_below_yield(parameters):
    """Strains of 0.4 of the yield strain dissipate nothing, and reverse to no stress."""
    rng = np.random.default_rng(13)
    size = 0.2 * parameters.yield_stress / parameters.shear_modulus
    increment = np.eye(3) + size * rng.uniform(-0.4, 0.4, (100, 3, 3))
    points = Points(parameters)
    points.step(increment, 1e-3)
    stress, _ = points.step(np.linalg.inv(increment), 1e-3)
    assert np.all(points.arrays["dissipation"] == 0.0)
    np.testing.assert_allclose(stress, 0.0, atol=100 * EPS * parameters.bulk_modulus)
