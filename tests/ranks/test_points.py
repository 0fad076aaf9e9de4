"""The point-based method on ranks has the bits of one process, for all its forces, whatever happens to the points."""

import pytest
from clay import CLAY
from lockstep import on_ranks
from rank_states import assert_same_frames, assert_same_states, counted, state

from spume.points.method import PointBased
from spume.points.resampling import Resampling
from spume.scene.loading import load_scene

PRINTED = {"gradient": "corrected", "pressure": 5e3, "viscosity": 1.0}
SCENES = {
    "clay": (CLAY, 60),
    "kernel": (CLAY | {"forces": PRINTED}, 60),
    "fit": (CLAY | {"forces": {"gradient": "least-squares"}, "points": {"spacing": 0.01, "skin": 0.1}}, 40),
    "rest": (
        {k: v for k, v in CLAY.items() if k not in ("tearing", "resampling")}
        | {"formulation": "rest-configuration", "forces": {}, "body": CLAY["body"][:2]},
        30,
    ),
    "printed": (CLAY | {"forces": {"gradient": "plain", "stress": "printed", "pressure": 5e3}}, 30),
    "additive": (CLAY | {"formulation": "additive", "forces": {}}, 30),
    "drops": (
        {k: v for k, v in CLAY.items() if k != "body"}
        | {
            "emitter": [
                {
                    "material": "clay",
                    "shape": {"circle": {"center": [0.0, 0.06], "radius": 0.011}},
                    "copies": {"interval": 0.004, "count": 3},
                    "velocity": [0.5, -9.0],
                    "start": 0.002,
                },
                {
                    "material": "clay",
                    "nozzle": {"slot": {"center": [0.2, 0.2], "width": 0.03}},
                    "velocity": [-3.0, 0.0],
                    "motion": {"rotate": {"about": [0.2, 0.2], "rate": 20.0}},
                },
            ]
        },
        70,
    ),
    "few": (CLAY | {"points": {"spacing": 0.01, "neighbours": 6}}, 30),
}


@pytest.mark.parametrize("name", SCENES)
def test_points_on_ranks_have_the_bits_of_one_process(name):
    tables, steps = SCENES[name]
    ranks = on_ranks(3, lambda messages: state(load_scene(tables), steps, messages))
    assert_same_states(state(load_scene(tables), steps), ranks)


@pytest.mark.parametrize("name", ["kernel", pytest.param("clay", marks=pytest.mark.slow_suite)])
def test_frames_diagnostics_and_checkpoints_are_those_of_one_process(name):
    tables, _ = SCENES[name]
    assert_same_frames(3, tables, 22)


def test_the_clay_of_these_tests_does_everything():
    method = PointBased(load_scene(CLAY))
    torn, touching, groups = 0, 0, set()
    for _ in range(60):
        method.advance(1.0, counted(1), lambda progress: None)
        torn = max(torn, int(method.particles.weak.sum()))
        touching = max(touching, len(method.step.stages[0].needs[0].contacts.pairs))
        groups |= set(method.particles.group.tolist())
    counts = method.part(Resampling).checkpoint()
    assert counts["points_inserted"] > 0
    assert counts["pairs_merged"] > 0
    assert torn > 0
    assert touching > 0
    assert len(groups - {-1}) > 1
