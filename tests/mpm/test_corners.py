"""Corners of obstacles in implicit steps: which contacts of a node push, and solvers that find out."""

import numpy as np
import pytest

from spume import Scene, Simulation
from spume.mpm.implicit.normal_impulses import normal_impulses

UP, DOWNWARDS = np.array([0.0, 1.0]), np.array([-1.0, -1.0]) / np.sqrt(2.0)


def impulses_of(normals, impulse, active=None, separating=None):
    count = len(normals)
    everyone = np.ones(count, bool)
    return normal_impulses(
        np.zeros(count, np.int64), np.array(normals), everyone if active is None else np.array(active),
        everyone if separating is None else np.array(separating), np.tile(impulse, (count, 1)),
    )  # fmt: skip


def test_one_contact_has_the_component_along_its_normal():
    assert impulses_of([DOWNWARDS], np.array([3.0, -1.0])) == pytest.approx([-np.sqrt(2.0)])


def test_both_faces_of_an_acute_corner_push_though_one_component_is_negative():
    impulse = 0.5 * DOWNWARDS + 2.0 * UP
    assert impulse @ DOWNWARDS < 0.0
    assert impulses_of([DOWNWARDS, UP], impulse) == pytest.approx([0.5, 2.0])


def test_a_face_that_would_pull_is_negative_and_the_other_one_carries_the_impulse():
    impulse = -0.5 * DOWNWARDS + 2.0 * UP
    found = impulses_of([DOWNWARDS, UP], impulse)
    assert found[0] < 0.0
    assert found[1] == pytest.approx(impulse @ UP)


def test_an_open_contact_takes_no_part():
    impulse = 0.5 * DOWNWARDS + 2.0 * UP
    found = impulses_of([DOWNWARDS, UP], impulse, active=[False, True])
    assert found == pytest.approx([impulse @ DOWNWARDS, impulse @ UP])


def test_a_contact_that_holds_may_pull():
    impulse = -0.5 * DOWNWARDS + 2.0 * UP
    assert impulses_of([DOWNWARDS, UP], impulse, separating=[False, True]) == pytest.approx([-0.5, 2.0])


def test_random_corners_in_space_are_decomposed_exactly():
    rng = np.random.default_rng(0)
    node = np.repeat(np.arange(200), rng.integers(1, 4, 200))
    normal = rng.normal(size=(len(node), 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    wanted = rng.uniform(0.1, 1.0, len(node))
    impulse = np.zeros((200, 3))
    np.add.at(impulse, node, wanted[:, None] * normal)
    everyone = np.ones(len(node), bool)
    assert normal_impulses(node, normal, everyone, everyone, impulse[node]) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize(
    ("integrator", "material"),
    [
        ("semi-implicit", {"law": "drucker-prager", "density": 1600.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3,
                           "friction_angle": 34.0, "cohesion": 3e3}),
        ("implicit", {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e5, "poisson_ratio": 0.3}),
    ],
)  # fmt: skip
def test_material_in_an_acute_corner_converges(integrator, material, friction):
    """A block lies between the ground and a face that overhangs it by 45°."""
    tables = {"implicit": {"iterations": 300, "tolerance": 1e-3}} if integrator == "implicit" else {}
    scene = Scene(
        title="corner", method="mpm", dimension=2, duration=10.0, material={"stuff": material},
        grid={"cell": 0.02, "spline": "quadratic"}, time={"integrator": integrator, "dt": 1e-3},
        body=[
            {
                "material": "stuff", "velocity": [1.0, -0.5],
                "shape": {"rectangle": {"center": [-0.12, 0.06], "size": [0.2, 0.12]}},
            }
        ],
        obstacle=[
            {
                "shape": {"half_plane": {"point": [0.0, 0.0], "normal": [-1.0, -1.0]}},
                "contact": "separate", "friction": friction,
            },
            {
                "shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}},
                "contact": "separate", "friction": friction,
            },
        ],
        **tables,
    )  # fmt: skip
    sim = Simulation(scene)
    sim.advance(0.04)
    found = sim.diagnostics()
    assert found["unconverged_steps"] == 0
    assert found["repeated_steps"] == 0
