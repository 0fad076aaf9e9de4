"""The records of frames: a line is appended for each, and a reader copes with what a killed process leaves."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from ballistic import frame_bytes, make_scene, without_wall_times

import spume
from spume.errors import CacheError
from spume.runs import storage
from spume.runs.loop import resume_run, start_run
from spume.runs.manifest import Manifest


@pytest.fixture
def stopped(tmp_path):
    """A run that went wrong after frame 5."""
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(fails_at=0.028), tmp_path / "run")
    return tmp_path / "run"


def test_what_a_frame_adds_does_not_grow_with_the_run(tmp_path, monkeypatch):
    """Each frame writes its record and nothing of the earlier ones, and the manifest is written twice."""
    written = []

    whole_file, append = storage.whole_file, storage.append

    def noted_file(path, size, **options):
        written.append((path.name, size))
        return whole_file(path, size, **options)

    def noted_append(path, write, size):
        written.append((path.name, size))
        append(path, write, size)

    monkeypatch.setattr(storage, "whole_file", noted_file)
    monkeypatch.setattr(storage, "append", noted_append)
    start_run(make_scene(), tmp_path / "run")
    sizes = {name: [size for each, size in written if each == name] for name, _ in written}
    assert len(sizes["manifest.json"]) == 2
    assert len(sizes["frames.jsonl"]) == 11
    assert max(sizes["frames.jsonl"]) < 1.2 * min(sizes["frames.jsonl"])
    assert max(sizes["manifest.json"]) < 1.2 * min(sizes["manifest.json"])


@pytest.mark.parametrize("cut", [1, 20, -1])
def test_a_torn_last_line_is_left_out_and_resuming_completes_it(stopped, tmp_path, cut):
    file = stopped / "frames.jsonl"
    *whole, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole) + last[:cut])
    assert len(spume.open_run(stopped)) == 5
    with pytest.raises(spume.RunFailed):
        resume_run(stopped)
    assert len(spume.open_run(stopped)) == 6
    assert len(file.read_bytes().splitlines()) == 6


def test_a_damaged_line_is_named_and_resuming_rebuilds_it(tmp_path):
    start_run(make_scene(), tmp_path / "run")
    before = spume.open_run(tmp_path / "run").diagnostics
    file = tmp_path / "run" / "frames.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for damaged in ([*lines[:3], b"{}\n", *lines[4:]], lines[:-1], lines[:4] + lines[5:]):
        file.write_bytes(b"".join(damaged))
        with pytest.raises(CacheError, match=r"frames\.jsonl' is damaged.*spume resume"):
            spume.open_run(tmp_path / "run")
        assert resume_run(tmp_path / "run").status == "complete"
        after = spume.open_run(tmp_path / "run")
        assert after.complete
        assert without_wall_times(after.diagnostics) == without_wall_times(before)


def test_records_of_a_folder_whose_checkpoints_are_gone_are_begun_anew(stopped):
    for file in stopped.glob("checkpoint*"):
        file.unlink()
    with pytest.raises(spume.RunFailed):
        resume_run(stopped)
    assert [entry["frame"] for entry in spume.open_run(stopped).diagnostics] == list(range(6))


def as_format_2(folder: Path) -> None:
    """Rewrite the manifest and the checkpoints of a run as the format before did: all frames in the manifest."""
    manifest = Manifest.read(folder / "manifest.json")
    storage.write_json(folder / "manifest.json", asdict(manifest) | {"format": 2})
    (folder / "frames.jsonl").unlink()
    for file in folder.glob("checkpoint*"):
        about, arrays = storage.read_checked(file)
        header = about["manifest"] | {"format": 2, "frames": []}
        storage.write_arrays(file, arrays, about | {"manifest": header})


@pytest.mark.parametrize("manifest", ["whole", "damaged"])
def test_a_run_of_the_format_before_opens_and_resumes(tmp_path, stopped, manifest):
    start_run(make_scene(), tmp_path / "whole")
    text = json.loads((stopped / "manifest.json").read_text())
    as_format_2(stopped)
    assert len(spume.open_run(stopped)) == 6
    # the rest of the run without its failure
    about = storage.read_json(stopped / "manifest.json")
    about["scene"].pop("fails_at")
    storage.write_json(stopped / "manifest.json", about)
    if manifest == "damaged":
        (stopped / "manifest.json").write_text("{")
        for file in stopped.glob("checkpoint*"):
            known, arrays = storage.read_checked(file)
            known["manifest"]["scene"].pop("fails_at")
            storage.write_arrays(file, arrays, known)
    assert resume_run(stopped).status == "complete"
    assert frame_bytes(stopped) == frame_bytes(tmp_path / "whole")
    resumed, whole = spume.open_run(stopped), spume.open_run(tmp_path / "whole")
    assert without_wall_times(resumed.diagnostics) == without_wall_times(whole.diagnostics)
    assert storage.read_json(stopped / "manifest.json")["format"] == text["format"] == 3


def test_overwriting_leaves_no_old_records(tmp_path):
    start_run(make_scene(), tmp_path / "run")
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(fails_at=0.011), tmp_path / "run", overwrite=True)
    assert len(spume.open_run(tmp_path / "run")) == 3
    shutil.rmtree(tmp_path / "run" / "frames")
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(CacheError, match="--overwrite to delete them"):
        start_run(make_scene(), tmp_path / "run")
