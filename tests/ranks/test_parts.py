"""Frames and checkpoints that ranks write in parts: they read like single files, resume on any number of ranks, and a
torn one is recovered like a torn file."""

import json
import os
import platform
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from lockstep import on_ranks
from mpi_runs import assert_same, frames
from rank_states import on_crew

import spume
from spume.errors import CacheError
from spume.ranks.team import Team
from spume.runs import crew, parts, shared
from spume.runs.folder import RunFolder
from spume.runs.loop import resume_run, start_run
from spume.runs.parts import read_checked_whole, read_whole
from spume.runs.progress import Silent
from spume.runs.storage import read_checked, verify_arrays, write_arrays
from spume.scene.loading import load_scene
from spume.whole_files import DiskFull

SCENE = {
    "title": "two discs meet above a ground",
    "method": "mpm",
    "dimension": 2,
    "duration": 0.04,
    "frame_rate": 100,
    "grid": {"cell": 0.012},
    "transfer": {"scheme": "flip"},
    "body": [
        {
            "material": "soft rubber",
            "shape": {"circle": {"center": [-0.07, 0.07], "radius": 0.06}},
            "velocity": [1.0, -0.5],
        },
        {
            "material": "soft rubber",
            "shape": {"circle": {"center": [0.08, 0.07], "radius": 0.06}},
            "velocity": [-1.0, -0.5],
        },
    ],
    "obstacle": [
        {"name": "ground", "shape": {"half_space": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "friction": 0.3}
    ],
    "measure": [
        {"name": "push", "what": {"force": {"obstacle": "ground"}}},
        {"name": "middle", "what": {"rebound": {"direction": [0.0, 1.0]}}},
        {"name": "top", "what": {"height": {"ignore": 0.05}}},
        {"name": "spread", "what": {"run_out": {"center": [0.0, 0.0]}}},
        {"name": "mean", "what": {"stress": {"statistic": "mean"}}},
        {"name": "inside", "what": {"pressure": {"point": [0.0, 0.07]}}},
        {"name": "neck", "what": {"neck_width": {"axis": [1.0, 0.0], "between": [-0.05, 0.05]}}},
    ],
}


class Until(Silent):
    """Ends the process after a frame."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.notes: list[str] = []

    def frame(self, number: int) -> None:
        if number == self.last:
            raise KeyboardInterrupt

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def run(folder, size, last=None):
    try:
        on_crew(size, lambda team: start_run(load_scene(SCENE), folder, display=Until(last), crew=team))
    except KeyboardInterrupt:
        assert last is not None


def resume(folder, size, last=None):
    """Go on; what the user is told."""
    display = Until(last)
    try:
        on_crew(size, lambda team: resume_run(folder, display=display, crew=team))
    except KeyboardInterrupt:
        assert last is not None
    return display.notes


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run of one process."""
    folder = tmp_path_factory.mktemp("one") / "whole"
    run(folder, 1)
    return folder


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run of three ranks in parts that ended after frame 2."""
    folder = tmp_path_factory.mktemp("three") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crew, "WHOLE_UP_TO", 0)
        run(folder, 3, last=2)
    return folder


@pytest.fixture
def in_parts(monkeypatch):
    monkeypatch.setattr(crew, "WHOLE_UP_TO", 0)


@pytest.fixture
def copied(stopped, tmp_path):
    return Path(shutil.copytree(stopped, tmp_path / "run"))


def folders(place):
    return sorted(folder.name for folder in place.rglob("*.parts"))


def flip_a_bit(file):
    contents = bytearray(file.read_bytes())
    contents[-1] ^= 1
    file.write_bytes(contents)


def test_every_rank_writes_a_part(stopped):
    assert folders(stopped) == [
        "checkpoint.1.parts", "checkpoint.2.parts", "frame_00000.parts", "frame_00001.parts", "frame_00002.parts",
    ]  # fmt: skip
    for folder in stopped.rglob("*.parts"):
        assert sorted(file.name for file in folder.iterdir()) == [f"part_{k:05d}.safetensors" for k in range(3)]
    counts = [len(read_checked(file)[1]["points/id"]) for file in (stopped / "frames/frame_00002.parts").iterdir()]
    assert min(counts) > 0
    assert sum(counts) == spume.open_run(stopped).diagnostics[2]["points"]


def test_a_frame_in_parts_reads_like_a_file(stopped, whole):
    one, other = spume.open_run(stopped), spume.open_run(whole)
    assert frames(stopped) == frames(whole)[:3]
    for a, b in zip(one, other):
        assert a.populations.keys() == b.populations.keys()
        order, wanted = np.argsort(a["id"]), np.argsort(b["id"])
        for name in ("x", "v", "J", "body"):
            assert a[name][order].tobytes() == b[name][wanted].tobytes()
        assert a.diagnostics == b.diagnostics
    assert one[1]["obstacles"].position.tolist() == other[1]["obstacles"].position.tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_another_number_of_ranks_goes_on(copied, whole, in_parts, size):
    assert resume(copied, size) == []
    assert_same(copied, whole)
    expected = ["frame_00000.parts", "frame_00001.parts", "frame_00002.parts"]
    assert (folders(copied) == expected) == (size == 1)


def test_ranks_go_on_from_the_file_of_one_process(tmp_path, whole, in_parts):
    run(tmp_path / "run", 1, last=1)
    resume(tmp_path / "run", 3)
    assert_same(tmp_path / "run", whole)


def test_few_points_are_written_to_files(tmp_path, whole):
    run(tmp_path / "run", 3)
    assert_same(tmp_path / "run", whole)
    assert folders(tmp_path / "run") == []


@pytest.mark.parametrize("damage", ["flipped", "truncated", "missing", "swapped"])
@pytest.mark.parametrize("size", [1, 2])
def test_a_torn_checkpoint_gives_way_to_the_one_before(copied, whole, in_parts, damage, size):
    about, _ = read_checked(copied / "checkpoint.safetensors")
    part = copied / about["parts"]["folder"] / "part_00001.safetensors"
    if damage == "flipped":
        flip_a_bit(part)
    elif damage == "truncated":
        part.write_bytes(part.read_bytes()[:-100])
    elif damage == "missing":
        part.unlink()
    else:
        (previous,) = {folder.name for folder in copied.glob("*.parts")} - {part.parent.name}
        shutil.copy(copied / previous / part.name, part)
    (note,) = resume(copied, size)
    assert part.name in note
    assert note.endswith("going on from the checkpoint before it, after frame 1")
    assert_same(copied, whole)


def test_each_rank_looks_for_damages_in_its_own_parts(copied, whole, in_parts, monkeypatch):
    readers = {}

    def verify(file):
        readers.setdefault(file.name, set()).add(threading.get_ident())
        return verify_arrays(file)

    monkeypatch.setattr(parts, "verify_arrays", verify)
    assert resume(copied, 3) == []
    of_parts = [readers[f"part_{number:05d}.safetensors"] for number in range(3)]
    assert [len(each) for each in of_parts] == [1, 1, 1]
    assert len(set.union(*of_parts)) == 3
    assert_same(copied, whole)


@pytest.mark.parametrize("rank", [0, 2])
def test_an_unexpected_error_while_parts_are_read_ends_all_ranks(copied, in_parts, monkeypatch, rank):
    def fail(file):
        if file.name == f"part_{rank:05d}.safetensors":
            raise MemoryError
        return verify_arrays(file)

    monkeypatch.setattr(parts, "verify_arrays", fail)
    with pytest.raises(SystemExit):  # `abort`
        resume(copied, 3)


def test_a_damaged_part_of_a_frame_is_named(copied, in_parts):
    part = copied / "frames/frame_00001.parts/part_00002.safetensors"
    flip_a_bit(part)
    with pytest.raises(CacheError, match=r"part_00002.safetensors' is damaged"):
        spume.open_run(copied)[1]
    (note,) = resume(copied, 2)
    assert "only a run from the start could write such a frame again" in note


def killed_before(monkeypatch, what):
    """Let the process end when rank 0 is about to do something for the third frame."""
    original, calls = getattr(crew, what), []

    def counted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 5:  # frame 0, checkpoint, frame 1, checkpoint, frame 2
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(crew, what, counted)


def test_a_frame_whose_index_is_missing_is_computed_again(tmp_path, whole, in_parts, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        killed_before(patch, "write_index")
        run(folder, 3, last=4)
    assert (folder / "frames/frame_00002.parts/part_00000.safetensors").exists()
    assert not (folder / "frames/frame_00002.safetensors").exists()
    assert len(spume.open_run(folder)) == 2
    resume(folder, 2)
    assert_same(folder, whole)


@pytest.mark.parametrize(
    ("what", "rank"),
    [
        ("frame", 2),
        ("checkpoint", 0),
        pytest.param("frame", 0, marks=pytest.mark.slow_suite),
        pytest.param("checkpoint", 2, marks=pytest.mark.slow_suite),
    ],
)
def test_a_full_disk_on_one_rank_ends_the_run_with_its_sentence(tmp_path, whole, in_parts, monkeypatch, rank, what):
    original = shared.write_part

    def write_part(folder, number, arrays):
        if number == rank and what in folder.name and (tmp_path / "run/frames/frame_00001.safetensors").exists():
            raise DiskFull(f"no space left in '{folder}'")
        return original(folder, number, arrays)

    with monkeypatch.context() as patch:
        patch.setattr(shared, "write_part", write_part)
        with pytest.raises(DiskFull, match=r"no space left in .*'spume resume"):
            run(tmp_path / "run", 3)
    records = (tmp_path / "run/frames.jsonl").read_text().splitlines()
    assert len(folders(tmp_path / "run" / "frames")) - len(records) in (0, 1)
    resume(tmp_path / "run", 2)
    assert_same(tmp_path / "run", whole)


def test_a_new_run_deletes_the_parts_of_the_old_one(copied, whole):
    (copied / "frames/frame_00000.parts/notes.txt").write_text("mine")
    start_run(load_scene(SCENE), copied, overwrite=True)
    assert_same(copied, whole)
    assert folders(copied) == ["frame_00000.parts"]
    assert [file.name for file in (copied / "frames/frame_00000.parts").iterdir()] == ["notes.txt"]


def test_files_of_others_in_a_folder_of_parts_are_no_obstacle(copied, whole, in_parts):
    for folder in copied.rglob("*.parts"):
        (folder / ".DS_Store").write_text("mine")
    (copied / "frames/frame_00003.parts").mkdir()
    (copied / "frames/frame_00003.parts/.DS_Store").write_text("mine")
    resume(copied, 2)
    assert_same(copied, whole)
    assert len(list(copied.rglob(".DS_Store"))) == 6


def test_the_parts_of_an_index_that_cannot_be_read_stay(copied, in_parts):
    index = copied / "frames/frame_00001.safetensors"
    index.write_bytes(index.read_bytes()[:20])
    (copied / "frames/frame_00007.parts").mkdir()
    (copied / "frames/notes.safetensors").write_text("no arrays")
    RunFolder(copied).remove_partial_files()
    assert folders(copied / "frames") == [f"frame_0000{k}.parts" for k in range(3)]


def test_a_checkpoint_whose_rotation_is_missing_is_kept_until_the_next(copied, whole, in_parts, monkeypatch):
    """A run is killed when it has written a checkpoint that has not taken the place of the last yet; the one that goes
    on is killed while it writes its first one."""
    os.replace(copied / "checkpoint.safetensors", copied / "checkpoint.next.safetensors")
    with monkeypatch.context() as patch:

        def write_index(path, *others):
            if "checkpoint" in path.name:
                raise KeyboardInterrupt
            original(path, *others)

        original = crew.write_index
        patch.setattr(crew, "write_index", write_index)
        resume(copied, 3, last=4)
    assert (copied / "checkpoint.next.safetensors").exists()
    assert resume(copied, 2) == []
    assert_same(copied, whole)


def reindexed(index, **changes):
    about, arrays = read_checked(index)
    write_arrays(index, arrays, about | {"parts": about["parts"] | changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"folder": "../frames/frame_00001.parts"}, "names no folder of parts"),
        ({"folder": 3}, "names no folder of parts"),
        ({"folder": "frame_00001.parts"}, "does not belong to 'frame_00002.safetensors'"),
        ({"checksums": []}, "it has 0 parts"),
        ({"checksums": [1, 2]}, "no checksums of its parts"),
        ({"checksums": ["a", "b", "c"]}, "does not belong to 'frame_00002.safetensors'"),
        ({"checksums": ["a"] * 4}, "does not belong to 'frame_00002.safetensors'"),
    ],
)
def test_an_index_that_strangers_changed_is_refused(copied, changes, said):
    reindexed(copied / "frames/frame_00002.safetensors", **changes)
    with pytest.raises(CacheError, match=said):
        spume.open_run(copied)[2]


def test_parts_with_different_arrays_are_refused(copied):
    folder = copied / "frames/frame_00002.parts"
    about, arrays = read_checked(folder / "part_00001.safetensors")
    del arrays["points/v"]
    checksum = write_arrays(folder / "part_00001.safetensors", arrays, about)
    listed, _ = read_checked(folder.with_suffix(".safetensors"))
    checksums = listed["parts"]["checksums"]
    reindexed(folder.with_suffix(".safetensors"), checksums=[checksums[0], checksum, checksums[2]])
    with pytest.raises(CacheError, match="its parts have different arrays"):
        spume.open_run(copied)[2]


@pytest.mark.parametrize("size", [1, 2])
def test_parts_with_the_same_point_twice_are_refused(copied, in_parts, size):
    for name in ("checkpoint", "checkpoint.previous"):
        index = copied / f"{name}.safetensors"
        listed, _ = read_checked(index)
        folder, checksums = copied / listed["parts"]["folder"], listed["parts"]["checksums"]
        _, first = read_checked(folder / "part_00000.safetensors")
        about, arrays = read_checked(folder / "part_00001.safetensors")
        arrays["points/id"][0] = first["points/id"][0]
        checksums[1] = write_arrays(folder / "part_00001.safetensors", arrays, about)
        reindexed(index, checksums=checksums)
    with pytest.raises(CacheError, match=r"numbers that (are negative or )?occur twice"):
        resume(copied, size)


def test_a_field_is_read_from_the_parts_alone(copied):
    file = copied / "frames/frame_00002.safetensors"
    _, arrays = read_checked_whole(file)
    assert read_whole(file, ["points/x"])["points/x"].tobytes() == arrays["points/x"].tobytes()
    assert read_whole(file, ["obstacles/position"]).keys() == {"obstacles/position"}
    header = file.read_bytes()[8:]
    assert "points/x" not in json.loads(header[: int.from_bytes(file.read_bytes()[:8], "little")])


def test_points_of_all_ranks_are_collected_on_the_first():
    def work(messages):
        ids = np.array([[4, 2], [], [7]][messages.rank], np.int64)
        points = {"id": ids, "x": 10.0 * ids}
        team = Team(messages)
        return team.collected(points), team.collected(points, np.array([2, 5, 7]))

    (every, some), *others = on_ranks(3, work)
    assert every["x"].tolist() == [40.0, 20.0, 70.0]
    assert some["id"].tolist() == [2, 7]
    assert others == [(None, None)] * 2


def test_ranks_count_those_on_their_machine(monkeypatch):
    def work(messages):
        team = Team(messages)
        monkeypatch.setattr(platform, "node", lambda: "alpha" if messages.rank < 3 else "beta")
        return team.share_of_machine()

    assert on_ranks(4, work) == [0.75, 0.75, 0.75, 0.25]
