"""Water keeps its volume when it splashes."""

import numpy as np
import pytest
from mixtures import WATER, body, simulate

from spume.mixture.free_surface import outer_part


def test_a_splashing_dam_break_keeps_its_volume():
    """A column of 0.6 m × 1.2 m collapses in a tank of 2.4 m and splashes up its far wall. Settled water has its centre
    of mass at half of 0.3 m, and slosh only raises it: lost volume shows as a centre that lies too low. Without the
    correction a third is lost here; with it no more than its band of 5 % and the compression of 1.5 %."""
    walls = {"lower": [0.0, 0.0], "upper": [2.4, 3.0], "contact": "slip"}
    sim = simulate(
        grid={"cell": 0.1, "walls": walls}, body=[body("water", [0.0, 0.0], [0.6, 1.2])], material={"water": WATER}
    )
    water = sim.method.species["water"]
    sim.advance(5.0)
    heights = []
    for _ in range(20):
        sim.advance(0.1)
        heights.append(float(water.x[:, 1].mean()))
    assert 0.935 * 0.15 < np.mean(heights) < 1.15 * 0.15
    energy = sim.diagnostics()
    assert energy["kinetic_energy"] + energy["gravitational_energy"] < 720.0 * 9.81 * 0.6


@pytest.mark.parametrize("order", [2, 3])
def test_the_part_of_a_spline_outside_a_wall_is_its_integral(order):
    """Against a sum over the B-spline itself, the convolution of order + 1 boxes."""
    n = 400
    box = np.ones(n) / n
    spline = box
    for _ in range(order):
        spline = np.convolve(spline, box)
    places = (np.arange(len(spline)) - 0.5 * (len(spline) - 1)) / n
    for distance in (-1.2, -0.7, -0.3, 0.0, 0.4, 1.1):
        # a wall at −distance below the node
        expected = spline[places > -distance].sum()
        assert outer_part(np.array([distance]), order)[0] == pytest.approx(expected, abs=2.0 / n)
