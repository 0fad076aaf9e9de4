"""What ranks agree on: errors, machine code, the number of processes."""

import numpy as np
import pytest
from lockstep import on_ranks

from spume.errors import RunFailed, SceneError
from spume.materials import LAWS
from spume.materials.loops import ConstitutiveModel
from spume.matter.health import check_points
from spume.matter.motion import collide_and_move
from spume.matter.particles import Particles, point_fields
from spume.methods import method_class
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team
from spume.runs import launching
from spume.scene.loading import load_scene


def test_an_error_of_one_rank_is_raised_on_all():
    def work(messages):
        team = Team(messages)
        with team.agreed():
            pass
        try:
            with team.agreed():
                if messages.rank in (1, 2):
                    raise RunFailed(f"rank {messages.rank} failed")
        except RunFailed as error:
            return str(error)

    assert on_ranks(3, work) == ["rank 1 failed"] * 3


@pytest.mark.parametrize("verb", ["largest", "places", "agreed"])
def test_a_rank_must_not_call_others_in_work_of_its_own(verb):
    """Another rank may have an error there, and would not answer."""

    def work(messages):
        team = Team(messages)
        with team.agreed(speaking=True):
            assert team.largest(1.0 + messages.rank) == 2.0
            with team.agreed():
                if verb == "largest":
                    team.largest(1.0)
                elif verb == "places":
                    team.places(np.arange(2))
                else:
                    with team.agreed():
                        pass

    with pytest.raises(AssertionError, match="in work of its own"):
        on_ranks(2, work)


def test_ranks_with_other_machine_code_are_refused_on_all(monkeypatch):
    def work(messages):
        own = {"version of spume": "1", "processor": "old" if messages.rank == 1 else "new"}
        monkeypatch.setattr("spume.ranks.machine.machine_code", lambda: own)
        try:
            launching.check_alike(messages)
        except SceneError as error:
            return str(error)

    first, *others = on_ranks(3, work)
    assert first.startswith("rank 1 has another processor than rank 0 ('old', not 'new')")
    assert others == [first, first]


@pytest.mark.parametrize(
    ("variables", "several"),
    [
        ({}, False),
        ({"PMI_SIZE": "1"}, False),
        ({"PMI_SIZE": "4"}, True),
        ({"OMPI_COMM_WORLD_SIZE": "2"}, True),
        ({"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "1"}, False),
        ({"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "8"}, True),
        ({"SLURM_NTASKS": "8"}, False),  # a batch script, of which each line runs once
    ],
)
def test_a_process_knows_whether_it_is_one_of_several(monkeypatch, variables, several):
    for name in (*launching.SIZES, *launching.STEP):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert launching.launched() is several


def test_without_mpi4py_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mpi4py", None)
    with pytest.raises(Exception, match=r"pip install 'spume\[ranks\]'"):
        launching.start_ranks(2, None, ["run", "colliding-discs"])


def _failing_points(count):
    """Points of water, of which some are crushed and one is blown up, in an order of their own."""
    law = LAWS["water"]
    model = ConstitutiveModel([(law, law.parameters(density=1000.0, bulk_modulus=1e6, tension="full"))])
    p = Particles([point_fields(3, True), model.fields])
    rng = np.random.default_rng(2)
    J = np.ones(count)
    J[[3, 7, 11]] = 0.01
    J[5] = 100.0
    v = np.zeros((count, 3))
    v[:, 0] = rng.uniform(1.0, 5.0, count)
    p.add(count, x=rng.uniform(0.0, 1.0, (count, 3)), v=v, mass=1.0, volume=1.0, Jw=J)
    p.take(rng.permutation(count))
    return p, model


def test_a_failure_has_the_same_sentence_for_any_number_of_ranks():
    def sentence(messages):
        p, model = _failing_points(20)
        ranks = ALONE
        if messages is not None:
            ranks = Team(messages)
            p.take(np.arange(20) % messages.size == messages.rank)
        with pytest.raises(RunFailed) as failed:
            check_points(p, model, "point", 1.5, 0.1, None, ranks)
        return str(failed.value)

    alone = sentence(None)
    assert alone.startswith("point 3 at (")
    assert "crushed to 0.01 times" in alone
    for size in (2, 3, 5):
        assert on_ranks(size, sentence) == [alone] * size


def test_a_lost_point_is_named_by_its_id_on_any_rank():
    tables = {
        "title": "points of which two get lost",
        "method": "mpm",
        "dimension": 2,
        "duration": 1.0,
        "grid": {"cell": 0.02},
        "body": [{"material": "soft rubber", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.06}}}],
    }

    def sentence(messages):
        ranks = ALONE if messages is None else Team(messages)
        scene = load_scene(tables)
        method = method_class(scene.method)(scene, ranks)
        p = method.world.particles
        p.v[np.isin(p.id, (17, 30))] = np.nan
        with pytest.raises(RunFailed) as failed:
            collide_and_move(method.world, 1e-4, "look for bodies that overlap")
        return str(failed.value)

    alone = sentence(None)
    assert alone.startswith("the velocity of point 17 near")
    assert on_ranks(3, sentence) == [alone] * 3
