"""Links in a stranger's folder lead nowhere: no file outside it is written, emptied or deleted."""

import os

import pytest
from ballistic import frame_bytes, make_scene

import spume
from spume.cli import main
from spume.errors import CacheError
from spume.runs.loop import replay_run, resume_run, start_run
from spume.runs.storage import append_record, write_json
from spume.whole_files import PARTIAL, whole_file

FILES = [
    "manifest.json", "frames.jsonl", "checkpoint.safetensors", "checkpoint.previous.safetensors", "run.lock",
    "checkpoint.next.safetensors", "snapshot.safetensors", "frames/frame_00006.safetensors",
]  # fmt: skip


@pytest.fixture
def stopped(tmp_path):
    """A run that went wrong after frame 5."""
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(fails_at=0.028), tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def precious(tmp_path):
    """A file that is none of spume's business, and stays as it is."""
    file = tmp_path / "precious"
    file.write_text("years of work")
    yield file
    assert file.read_text() == "years of work"


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("name", FILES)
def test_resuming_does_not_write_through_a_link(stopped, precious, name, kind):
    (stopped / name).unlink(missing_ok=True)
    if kind == "symbolic":
        (stopped / name).symlink_to(precious)
    else:
        os.link(precious, stopped / name)
    with pytest.raises((CacheError, spume.RunFailed)):
        resume_run(stopped)


@pytest.mark.parametrize("name", FILES)
def test_overwriting_does_not_write_through_a_link(stopped, precious, name):
    (stopped / name).unlink(missing_ok=True)
    (stopped / name).symlink_to(precious)
    if name == "run.lock":
        with pytest.raises(CacheError, match=r"run\.lock' cannot be written: it is a link to another file"):
            start_run(make_scene(), stopped, overwrite=True)
    elif name == "manifest.json":
        (stopped / "frames").rename(stopped / "elsewhere")
        with pytest.raises(CacheError, match="not a manifest of spume"):
            start_run(make_scene(), stopped, overwrite=True)
    else:
        assert start_run(make_scene(), stopped, overwrite=True).status == "complete"


def test_names_of_files_being_written_may_be_links(tmp_path, precious):
    for stem, suffix in (("a", ".json"), ("b", ".png"), ("c", ".txt")):
        (tmp_path / f"{stem}.{os.getpid()}{PARTIAL}{suffix}").symlink_to(precious)
    (tmp_path / "c.txt").symlink_to(precious)
    write_json(tmp_path / "a.json", {"a": 1})
    for name in ("b.png", "c.txt"):
        with whole_file(tmp_path / name) as partial:
            partial.write_text("own")
        assert (tmp_path / name).read_text() == "own"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "b.png", "c.txt", "precious"]
    (tmp_path / "records").symlink_to(precious)
    with pytest.raises(CacheError, match="it is a link to another file"):
        append_record(tmp_path / "records", {"a": 1})


def test_a_linked_folder_of_frames_is_refused(stopped, tmp_path):
    (stopped / "frames").rename(tmp_path / "elsewhere")
    (stopped / "frames").symlink_to(tmp_path / "elsewhere")
    before = sorted(file.name for file in (tmp_path / "elsewhere").iterdir())
    for work in (resume_run, lambda folder: start_run(make_scene(), folder, overwrite=True),
                 lambda folder: replay_run(folder, folder.parent / "run", overwrite=True)):  # fmt: skip
        with pytest.raises(spume.SpumeError, match=r"frames' is a symbolic link|the run to repeat"):
            work(stopped)
    assert sorted(file.name for file in (tmp_path / "elsewhere").iterdir()) == before
    assert len(list(spume.open_run(stopped))) == 6  # it may be read


@pytest.mark.parametrize(
    ("link", "command"),
    [("pictures", ["render"]), ("export", ["export", "--to", "csv"]), ("export/ply", ["export", "--to", "ply"])],
)
def test_folders_of_pictures_and_exports_are_not_written_through(tmp_path, capsys, link, command):
    import synthetic_run

    folder = synthetic_run.write_run(tmp_path / "run", frames=2)
    (tmp_path / "elsewhere").mkdir()
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(tmp_path / "elsewhere")
    assert main([command[0], str(folder), *command[1:]]) == 4
    assert f"{link}' is a symbolic link" in capsys.readouterr().err
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_runs_of_a_sweep_are_not_written_or_deleted_through_a_link(tmp_path):
    tables = make_scene().resolved()
    spume.sweep(tables, {"points": [5]}, tmp_path / "sweep", processes=1, progress="none")
    (tmp_path / "sweep" / "runs").rename(tmp_path / "elsewhere")
    (tmp_path / "sweep" / "runs").symlink_to(tmp_path / "elsewhere")
    before = frame_bytes(tmp_path / "elsewhere" / "0000")
    with pytest.raises(CacheError, match="runs' is a symbolic link"):
        spume.sweep(tables, {"points": [5]}, tmp_path / "sweep", overwrite=True, processes=1, progress="none")
    with pytest.raises(CacheError, match="runs' is a symbolic link"):
        spume.resume_sweep(tmp_path / "sweep", progress="none")
    assert frame_bytes(tmp_path / "elsewhere" / "0000") == before


def test_a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for(stopped):
    for name, sentence in (("manifest.json", "resume"), ("frames/frame_00003.safetensors", "Not a file")):
        (stopped / name).rename(stopped / "kept")
        os.mkfifo(stopped / name)
        with pytest.raises(CacheError, match=sentence):
            list(spume.open_run(stopped))
        (stopped / name).unlink()
        (stopped / "kept").rename(stopped / name)
