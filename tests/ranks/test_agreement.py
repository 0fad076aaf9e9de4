"""What ranks agree on: errors, machine code, the number of processes."""

import pytest
from lockstep import on_ranks

from spume.cli import main
from spume.errors import RunFailed, SceneError
from spume.ranks.team import Team
from spume.runs import launching


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


def test_a_live_run_on_ranks_is_refused(monkeypatch, capsys):
    monkeypatch.setenv("PMI_SIZE", "2")
    assert main(["live", "slump", "--preset", "draft"]) == 2
    assert "a live run has one process" in capsys.readouterr().err


def test_without_mpi4py_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mpi4py", None)
    with pytest.raises(Exception, match=r"pip install 'spume\[ranks\]'"):
        launching.start_ranks(2, None, ["run", "colliding-discs"])
