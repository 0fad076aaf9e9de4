"""Branches made from the functions of a law that declares none, compared with those that laws declare."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spume
from spume.materials.checks import branches_of_update
from spume.materials.derived_branches import with_branches
from spume.materials.hencky import HENCKY
from spume.materials.registry import LAWS, load_law_file
from spume.materials.von_mises import VON_MISES
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import multiply

TUTORIAL = Path(__file__).with_name("my_law.py")
STRAINS = [(0.0, 0.0, 0.0), (0.1, -0.02, 0.05), (-0.3, 0.3, 0.31)]
METAL = VON_MISES.parameters(
    density=1000.0, youngs_modulus=1e5, poisson_ratio=0.3, yield_stress=2e3, hardening=1e4
)  # fmt: skip
CASES = {
    "hencky": (HENCKY, HENCKY.parameters(density=1000.0, youngs_modulus=1e5, poisson_ratio=0.3)),
    "von-mises": (VON_MISES, METAL),
}


def start(law):
    values = [field.allocate(1)[0] for field in law.fields]
    return tuple(tuple(value.ravel().tolist()) if value.ndim else float(value) for value in values)


@pytest.mark.parametrize("name", CASES)
def test_stress_flow_and_derivatives_are_those_of_the_declared_branch(name):
    """Central differences with δ: truncation δ² f'''/6, rounding ε/δ of a stress at strains of about one."""
    law, parameters = CASES[name]
    (declared,), (derived,) = law.branches, with_branches(replace(law, branches=())).branches
    constants, history, scale = law.pack(parameters), start(law), parameters.youngs_modulus
    for strain in STRAINS:
        if declared.return_map is not None:
            wanted, found = (b.return_map(constants, history, strain, 1e-3) for b in (declared, derived))
            np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=1e-13)
            np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=1e-8)
        wanted, found = (b.principal_stress(constants, history, strain) for b in (declared, derived))
        np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=1e-8 * scale)
    assert branches_of_update(with_branches(replace(law, branches=())), parameters) == []


@compiled
def along_x(parameters, history):
    """A fibre along x: not isotropic."""
    F = history[0]
    mu = parameters[0]
    return (mu * (F[0] * F[0] - 1.0), mu * F[3] * F[3], mu * F[6] * F[6], mu * F[0] * F[3], mu * F[0] * F[6], 0.0)


@compiled
def update_along_x(f, dt, parameters, history):
    after = (multiply(f, history[0]),)
    return along_x(parameters, after), after


def test_a_law_with_a_direction_is_found_out():
    _, parameters = CASES["hencky"]
    fibre = with_branches(replace(HENCKY, branches=(), stress=along_x, update=update_along_x))
    assert branches_of_update(fibre, parameters)


def test_what_has_no_single_elastic_strain_stays_without_branches():
    for name in ("herschel-bulkley", "water"):
        assert not with_branches(replace(LAWS[name], branches=())).branches


@pytest.fixture
def ciarlet():
    yield load_law_file(TUTORIAL)[0]
    LAWS.pop("ciarlet", None)


def bar(**tables):
    """A soft bar that falls on its end, 2D."""
    return {
        "title": "bar", "method": "mpm", "dimension": 2, "duration": 0.04, "frame_rate": 25.0, "grid": {"cell": 0.05},
        "laws": str(TUTORIAL), "gravity": [0.0, -200.0],
        "material": {"jelly": {"law": "ciarlet", "density": 1000.0, "shear_modulus": 2e4, "lame_modulus": 8e4}},
        "body": [{"material": "jelly", "shape": {"rectangle": {"center": [0.0, 0.1], "size": [0.1, 0.2]}}}],
        "obstacle": [{"shape": {"half_space": {"point": [0, 0], "normal": [0, 1]}}}],
    } | tables  # fmt: skip


@pytest.mark.slow_suite
@pytest.mark.parametrize("solver", ["admm", "newton"])
def test_implicit_steps_of_an_own_law_are_those_of_explicit_ones(ciarlet, solver):
    """The bar is pressed by ρ g h = 40 kPa at its foot: both integrators are of first order, with Δt = 2e-4 s and
    stable ones; the height differs by a few Δt times the speed of the top, about 2 m/s."""
    explicit = spume.Simulation(spume.load_scene(bar()))
    given = bar(time={"integrator": "implicit", "dt": 2e-4}, implicit={"solver": solver})
    implicit = spume.Simulation(spume.load_scene(given))
    assert "differences" in " ".join(implicit.scene.notes())
    for each in (explicit, implicit):
        each.advance(0.01)
    tops = [each.particles.x[:, 1].max() for each in (explicit, implicit)]
    assert tops[0] < 0.19  # it is compressed
    assert tops[1] == pytest.approx(tops[0], abs=5 * 2e-4 * 2.0)
