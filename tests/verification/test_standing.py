"""Bodies placed on the ground stand there, whatever their size and wherever they stand."""

import math

import numpy as np
import pytest
from scenes import simulate

SPACING = 0.01
SOLID = {"law": "hencky", "density": 1000.0, "youngs_modulus": 2.0e5, "poisson_ratio": 0.3}
CLAY = {
    "law": "corotated-plastic", "density": 1000.0, "youngs_modulus": 2.0e5, "poisson_ratio": 0.3, "flow_rate": 0.0,
    "yield_stress": 1e9,
}  # fmt: skip
METHODS = {
    "mpm": {"method": "mpm", "grid": {"cell": 2 * SPACING}, "material": {"solid": SOLID}},
    "point-based": {"method": "point-based", "points": {"spacing": SPACING}, "material": {"solid": CLAY}},
}


@pytest.mark.parametrize("angle", [0.0, 25.0])
@pytest.mark.parametrize("size", [(10.0, 8.0), (9.3, 6.4)])
@pytest.mark.parametrize("method", METHODS)
def test_a_block_on_the_ground_neither_drops_nor_rises(method, size, angle):
    """The ground may be turned, and gravity with it. A suddenly loaded block of the height H sags by up to ρ g H²/E.
    Its lowest points are half a cell H/n above the ground and touch it at half their spacing, which differs by at most
    s/(4 n); together less than 0.1 s. A block that drops by half a spacing falls by 0.5 s."""
    width, height = (SPACING * edge for edge in size)
    place = np.array([0.1234, 0.0567])
    tilt = math.radians(angle)
    along, normal = np.array([math.cos(tilt), math.sin(tilt)]), np.array([-math.sin(tilt), math.cos(tilt)])
    block = {"rectangle": {"center": [0.0, height / 2], "size": [width, height]}}
    turned = {"translate": {"shape": {"rotate": {"shape": block, "angle": angle}}, "by": place.tolist()}}
    ground = {"half_plane": {"point": place.tolist(), "normal": normal.tolist()}}
    sim = simulate(
        dimension=2, gravity=(-9.81 * normal).tolist(), body=[{"material": "solid", "shape": turned}],
        obstacle=[{"shape": ground, "contact": "separate", "friction": 1.0}], **METHODS[method],
    )  # fmt: skip
    above = (sim.particles.x - place) @ normal
    lowest = sim.particles.id[above < above.min() + 0.01 * SPACING]
    start = sim.particles.x[np.isin(sim.particles.id, lowest)].mean(axis=0)
    sim.advance(0.06)  # a free fall of 18 mm
    moved = sim.particles.x[np.isin(sim.particles.id, lowest)].mean(axis=0) - start
    assert abs(moved @ normal) < 0.1 * SPACING
    assert abs(moved @ along) < 0.1 * SPACING
