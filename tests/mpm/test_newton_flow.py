"""Newton's method for laws that flow: the same solution as ADMM, and the equations of the step with the stresses of
`Law.update`."""

from typing import Any

import numpy as np
import pytest

from spume import Scene
from spume.foam.method import ContinuumFoam
from spume.foam.plain import MaterialPointMethod
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.step import SOLVERS
from spume.mpm.step import rasterize, sort_points

E, YIELD = 1e5, 1e3
MU = E / 2.6
MATERIALS: dict[str, dict[str, Any]] = {
    "metal": {"law": "von-mises", "density": 1e3, "youngs_modulus": E, "poisson_ratio": 0.3, "yield_stress": YIELD},
    "silicone": {
        "law": "viscoelastic", "density": 1e3, "shear_modulus": 0.1 * MU, "lame_modulus": 0.2 * MU,
        "viscous_shear_modulus": MU, "viscous_lame_modulus": MU, "deviatoric_viscosity": 0.01 * MU,
        "volumetric_viscosity": 0.01 * MU, "yield_stress": YIELD,
    },
    "foam": {"law": "herschel-bulkley", "density": 100.0, "bulk_modulus": E, "shear_modulus": 3e3,
             "yield_stress": 30.0, "viscosity": 10.0, "flow_index": 0.5},
    "sand": {"law": "drucker-prager", "density": 1600.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3,
             "friction_angle": 34.0},
}  # fmt: skip
PART = {"shear_modulus": 0.5 * MU, "lame_modulus": 0.0, "deviatoric_viscosity": 1e-3 * MU,
        "volumetric_viscosity": 1e-3 * MU}  # fmt: skip
MATERIALS |= {
    "stretchy": MATERIALS["silicone"] | {"elasticity": "neo-hookean", "further_parts": [PART]},
    "rubber": MATERIALS["silicone"] | {
        "elasticity": "ogden", "ogden_exponents": [1.3, 5.0, -2.0], "ogden_weights": [0.9, 0.04, 0.06]
    },
    "grains": {key: value for key, value in MATERIALS["silicone"].items() if key != "yield_stress"} | {
        "elasticity": "neo-hookean", "friction_angle": 30.0, "cohesion": 100.0
    },
}  # fmt: skip
FORMS = ("stretchy", "rubber", "grains")
SOLVED = {
    "admm": {"tolerance": 1e-9, "iterations": 4000, "linear_tolerance": 1e-3},
    "newton": {"tolerance": 1e-9, "iterations": 60, "linear_iterations": 2000},
}


def falling_block(name, dimension):
    """A block after ten steps of an impact, in which it flows."""
    shape = ({"rectangle": {"center": [0.0, 0.1], "size": [0.3, 0.2]}} if dimension == 2 else
             {"box": {"center": [0.0, 0.08, 0.0], "size": [0.16, 0.16, 0.12]}})  # fmt: skip
    half = "half_plane" if dimension == 2 else "half_space"
    ground = {half: {"point": [0.0] * dimension, "normal": [0.0, 1.0, 0.0][:dimension]}}
    method = MaterialPointMethod(Scene(
        title="impact", method="mpm", dimension=dimension, duration=1.0, grid={"cell": 0.04, "spline": "quadratic"},
        time={"integrator": "implicit", "dt": 2e-3}, material={"m": MATERIALS[name]},
        implicit={"solver": "newton"} | SOLVED["newton"],
        body=[{"material": "m", "shape": shape, "velocity": [1.0, -1.0, 0.3][:dimension]}],
        obstacle=[{"shape": ground, "contact": "separate", "friction": 0.5}],
    ))  # fmt: skip
    for _ in range(10):
        method.take_step(2e-3)
    return method


def solution(method, solver, dt):
    sort_points(method.world)
    rasterize(method.world)
    problem = StepProblem(method.world, dt)
    settings = method.scene.implicit_settings.model_copy(update={"solver": solver} | SOLVED[solver])
    return problem, SOLVERS[solver](problem, settings)


def assert_same_solution(method, dt):
    """Residuals are 1e-9 of the impulses or strains; errors of the solution may be a hundred times larger."""
    problem, exact = solution(method, "newton", dt)
    _, other = solution(method, "admm", dt)
    assert exact.converged
    assert other.converged
    assert np.linalg.norm(exact.v - other.v) <= 1e-7 * np.linalg.norm(exact.v - problem.free)


@pytest.mark.parametrize(
    ("name", "dimension"),
    [
        ("foam", 2),
        ("sand", 2),
        pytest.param("silicone", 3, marks=pytest.mark.slow_suite),
        *(pytest.param(name, 2, marks=pytest.mark.slow_suite) for name in ("metal", "silicone", *FORMS)),
    ],
)
def test_newtons_method_and_admm_find_the_same_solution(name, dimension):
    assert_same_solution(falling_block(name, dimension), 2e-3)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in ("foam", "sand") else [pytest.mark.slow_suite]) for name in MATERIALS],
)
def test_the_stresses_after_the_flow_balance_the_momentum(name):
    """M (v − v̂) + Δt Σ V τ f⁻ᵀ ∇w, with τ of `Law.update`, vanishes at nodes without contacts, to the tolerance of
    1e-9 of the impulses of the step; and the points have flowed, to a stress within the yield surface."""
    method, dt = falling_block(name, 2), 2e-3
    problem, outcome = solution(method, "newton", dt)
    p, model = method.particles, method.world.only.model
    arrays = {key: array.copy() for key, array in p.arrays().items()}
    before = arrays["dissipation"].copy() if "dissipation" in arrays else None
    f = np.eye(3) + dt * outcome.L
    stress = np.zeros((len(p), 6))
    model.update(arrays, dt, f, stress)
    if before is not None:
        assert (arrays["dissipation"] > before).mean() > 0.1, "hardly any point flows"
    tau = stress[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    left = problem.mass[:, None] * (outcome.v - problem.free)
    left += dt * problem.impulse(tau @ np.linalg.inv(f).transpose(0, 2, 1))
    contacts = method.world.contacts
    left[problem.dofs.number.reshape(-1)[contacts.node]] = 0.0
    scale = np.linalg.norm(problem.mass[:, None] * (outcome.v - problem.before))
    assert np.linalg.norm(left) <= 1e-8 * scale
    if name == "metal":
        dev = tau - np.trace(tau, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
        assert np.linalg.norm(dev, axis=(1, 2)).max() <= np.sqrt(2.0 / 3.0) * YIELD * (1.0 + 1e-9)


def test_torn_foam_has_the_same_solution():
    plates = [
        {"shape": {"rectangle": {"center": [side * 0.08, 0.0], "size": [0.08, 0.2]}}, "contact": "stick",
         "motion": {"velocity": {"linear": [side * 1.0, 0.0]}}}
        for side in (-1.0, 1.0)
    ]  # fmt: skip
    method = ContinuumFoam(
        Scene(
            title="pull", method="continuum-foam", dimension=2, duration=1.0, gravity=[0.0, 0.0],
            grid={"cell": 0.01, "spline": "quadratic"}, time={"integrator": "implicit", "dt": 1e-3},
            body=[{"material": "shaving cream", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.12, 0.08]}}}],
            obstacle=plates,
        )
    )  # fmt: skip
    while not method.particles.weak.any():
        method.take_step(1e-3)
    method.take_step(1e-3)
    assert method.particles.weak.any()
    assert_same_solution(method, 1e-3)
