"""Steps that solve linear systems, and those with pore pressure, have the bits of one process on ranks."""

import numba
import pytest
from lockstep import on_ranks
from rank_states import assert_same_states, state

from spume.scene.loading import load_scene

RUIZ = ("weights='ruiz'", "balancing='residual'", "anderson_memory=0", "over_relaxation=1.6")
SCENES = {
    "roller": ("roller", ("frames.energy=true",), 10),
    "roller by Newton's method": ("roller", ("implicit.solver='newton'",), 12),
    "roller with Ruiz weights": ("roller", tuple(f"implicit.{key}" for key in RUIZ), 6),
    "twisting": ("twisting", ("grid.cell=0.04",), 3),
    "twisting by Newton's method": ("twisting", ("grid.cell=0.05", "implicit.solver='newton'"), 2),
    "silicone": ("silicone", (), 3),
    "slumping-cream-implicit": ("slumping-cream-implicit", (), 6),
    "sand-column-implicit": ("sand-column-implicit", ("grid.cell=0.04",), 4),
    "sofa": ("sofa", ("grid.cell=0.12",), 12),
    "dam-breach-2d-semi-implicit": ("dam-breach-2d-semi-implicit", ("grid.cell=0.12",), 4),
    "pore pressure": ("dam-breach-2d", ("grid.cell=0.12", "mixture.coupling='pore-pressure'"), 12),
    "pore pressure, semi-implicit": (
        "dam-breach-2d-semi-implicit",
        ("grid.cell=0.12", "mixture.coupling='pore-pressure'"),
        4,
    ),
    "sand-wedge-semi-implicit": ("sand-wedge-semi-implicit", ("grid.cell=0.06",), 2),
    "sand-pile-semi-implicit": ("sand-pile-semi-implicit", ("grid.cell=0.02",), 20),
}
"""Built-in scene, changes and number of steps."""
FAST = ("roller", "roller by Newton's method", "dam-breach-2d-semi-implicit", "pore pressure, semi-implicit")
"""In the plane, with kernels that other tests need, too."""


@pytest.mark.parametrize(
    ("name", "size", "threads"),
    [
        *[(name, 3, 1) for name in FAST],
        *[pytest.param(name, 8, 2, marks=pytest.mark.slow_suite) for name in FAST],
        *[pytest.param(name, 4, 1, marks=pytest.mark.slow_suite) for name in SCENES if name not in FAST],
    ],
)
def test_solvers_on_ranks_have_the_bits_of_one_process(name, size, threads):
    file, changes, steps = SCENES[name]
    scene = load_scene(file, changes, preset="draft")
    threads = min(threads, numba.config.NUMBA_NUM_THREADS)
    ranks = on_ranks(size, lambda messages: state(scene, steps, messages, threads))
    assert_same_states(state(scene, steps), ranks)
