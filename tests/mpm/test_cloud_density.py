"""The density of the cloud of points against that of their deformation."""

import numpy as np
import pytest

from spume.mpm.cloud_density import cloud_density
from spume.mpm.method import MaterialPointMethod
from spume.scene.common import Scene

CELL = 0.01


def disc(dimension=2, spline="cubic", radius=0.07, **tables):
    ball = "circle" if dimension == 2 else "sphere"
    shape = {ball: {"center": [0.003, 0.001, 0.002][:dimension], "radius": radius}}
    scene = Scene(
        **{
            "title": "disc",
            "method": "mpm",
            "dimension": dimension,
            "duration": 1.0,
            "gravity": [0.0] * dimension,
            "grid": {"cell": CELL, "spline": spline},
            "material": {"gel": {"law": "neo-hookean", "density": 100.0, "bulk_modulus": 1e5, "shear_modulus": 1e4}},
            "body": [{"material": "gel", "shape": shape, "spin": tables.pop("spin", None)}],
            **tables,
        }
    )
    return MaterialPointMethod(scene)


def ratio(method):
    return cloud_density(method.state, method.state.only)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("spline", ["quadratic", "cubic"])
def test_an_untouched_body_is_as_dense_as_its_points_say(dimension, spline):
    """Splines summed over a lattice of two points a cell are one in the interior; the surface does not count. Points
    share the exact volume of the shape, and so differ a little from those of the lattice; the corners of the stencils
    of some nodes stick out of a ball, with weights of 1e-9."""
    method = disc(dimension, spline, radius=0.05)
    own = method.particles.volume[0] / (0.5 * CELL) ** dimension
    assert ratio(method) == pytest.approx(own, rel=1e-7)
    assert "warnings" not in method.diagnostics()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("stretch", [0.9, 1.2])
def test_a_cloud_stretched_while_f_stays_is_found(dimension, stretch):
    """The sum over a stretched lattice is an integral of splines by a sum of spacing `stretch`/2 cells: off by the
    transform of the cubic spline at the first wave of the lattice, (sin(π/s)/(π/s))⁴ with s = stretch/2."""
    method = disc(dimension, radius=0.06)
    own = method.particles.volume[0] / (0.5 * CELL) ** dimension
    method.particles.x[:] *= stretch
    s = 0.5 * stretch
    error = 2 * dimension * abs(np.sin(np.pi / s) / (np.pi / s)) ** 4
    assert ratio(method) == pytest.approx(own * stretch**-dimension, rel=error + 1e-12)
    told = method.diagnostics()["warnings"]["cloud density"]
    assert f"{ratio(method):.3g} times as dense" in told
    assert "dt" in told


def test_a_cloud_that_moves_with_its_deformation_is_no_error():
    method = disc()
    p = method.particles
    p.x[:] *= [1.25, 0.8]
    p.F[:] = np.diag([1.25, 0.8, 1.0])
    assert abs(ratio(method) - 1.0) < 0.01
    p.x[:] *= 0.9
    p.F[:] = np.diag([1.125, 0.72, 1.0])  # compressed, and J knows
    assert abs(ratio(method) - 1.0) < 0.01


def test_nothing_is_said_of_a_body_without_interior():
    method = disc(radius=0.015)
    method.particles.x[:] *= 1.5
    assert ratio(method) is None
    assert method.diagnostics()["cloud_density"] is None


@pytest.mark.parametrize("deformation", ["first-order", "second-order"])
def test_a_spinning_disc_drifts_from_a_deformation_of_second_order(deformation):
    """Points move along tangents. A step maps them by I + Δt L with the determinant 1 + (ω Δt)²: F takes part in it to
    first order, and pressure brings the points back; to second order it does not, and the area grows by that factor a
    step. As angular momentum stays, ω falls as 1/A, so that A dA = (ω0 Δt)² A0² dn: A = A0 √(1 + 2 n (ω0 Δt)²). The
    disc is stiff: centrifugal forces stretch it by ρ ω² R²/E, less than a hundredth."""
    rate, dt, steps = 60.0, 2.2e-4, 1000
    method = disc(spin=rate, time={"dt": dt, "deformation": deformation}, gravity=[0.0, 0.0])
    start = ratio(method)
    for _ in range(steps):
        method.step(dt)
    expected = start
    if deformation == "second-order":
        expected /= np.sqrt(1.0 + 2.0 * steps * (rate * dt) ** 2)
    assert ratio(method) == pytest.approx(expected, abs=0.01)
    assert ("warnings" in method.diagnostics()) == (deformation == "second-order")


def test_gaps_between_the_limbs_of_a_body_are_not_its_interior():
    """Bars of two and a half cells with gaps of two: splines reach every node, but none has material all around."""
    bars = [{"rectangle": {"center": [4.5 * k * CELL, 0.0], "size": [2.5 * CELL, 0.2]}} for k in range(6)]
    method = disc(body=[{"material": "gel", "shape": {"union": {"of": bars}}}])
    assert ratio(method) is None
    assert "warnings" not in method.diagnostics()
