"""Full disks and damaged files: a clear sentence, good frames stay good, and the run can go on."""

import contextlib
import errno
import os
import resource
import signal

import numpy as np
import pytest
from ballistic import SCENE_TEXT, Ballistic, frame_bytes, make_scene, without_wall_times

import spume
from spume.cli import main
from spume.errors import CacheError
from spume.numerics.jit import compiled
from spume.runs import storage
from spume.runs.loop import resume_run, start_run
from spume.runs.progress import display_for


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The standard run, uninterrupted."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    start_run(make_scene(), folder)
    return folder


def fill_disk_after(monkeypatch, written: int) -> None:
    """Let writing fail once `written` files and records are in place, half way into the next one."""
    whole_file, append, files = storage.whole_file, storage.append, 0

    class HalfFull:
        def __init__(self, file):
            self._file = file

        def write(self, data):
            self._file.write(bytes(data)[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextlib.contextmanager
    def limited_file(path, size, **options):
        nonlocal files
        files += 1
        with whole_file(path, size, **options) as partial:
            yield partial
            if files > written:
                os.truncate(partial, partial.stat().st_size // 2)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def limited_append(path, write, size):
        nonlocal files
        files += 1
        append(path, write if files <= written else lambda file: write(HalfFull(file)), size)

    monkeypatch.setattr(storage, "whole_file", limited_file)
    monkeypatch.setattr(storage, "append", limited_append)


@pytest.mark.parametrize("written", [1, 2, 3, 4, 7, 11, 12, 20, 33])
def test_a_full_disk_is_named_and_the_run_goes_on_once_there_is_room(tmp_path, whole, monkeypatch, written):
    fill_disk_after(monkeypatch, written)
    with pytest.raises(
        CacheError, match=r"no space left in '.*': .* needs .*B and .*B is free.*make room.*spume resume"
    ):
        start_run(make_scene(), tmp_path / "run")
    assert not list(tmp_path.rglob("*.partial*"))
    for frame in spume.open_run(tmp_path / "run"):
        assert frame.path.read_bytes() == (whole / "frames" / frame.path.name).read_bytes()
    monkeypatch.undo()
    resume_run(tmp_path / "run")
    assert frame_bytes(tmp_path / "run") == frame_bytes(whole)


def test_a_file_larger_than_the_system_allows_is_a_full_disk(tmp_path):
    scene = make_scene(points=20_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, before[1]))
    try:
        with pytest.raises(CacheError, match=r"no space left .* frame_00000\.safetensors needs 960\.\d kB"):
            start_run(scene, tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.rglob("*.partial*"))
    resume_run(tmp_path / "run")
    assert spume.open_run(tmp_path / "run").complete


def test_a_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="a file is in its way"):
        start_run(make_scene(), tmp_path / "file" / "run")


def damage(path, how: str) -> None:
    """Cut a file in half, empty it, or flip a bit of its last quarter."""
    data = bytearray(path.read_bytes())
    if how == "truncated":
        data = data[: len(data) // 2]
    elif how == "emptied":
        data = bytearray()
    else:
        data[3 * len(data) // 4] ^= 4
    path.write_bytes(bytes(data))


HOWS = ["truncated", "emptied", "flipped"]


@pytest.fixture
def stopped(tmp_path):
    """A run that went wrong after frame 5 and could be resumed."""
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(fails_at=0.028), tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("how", HOWS)
def test_a_damaged_frame_is_named_and_the_others_stay_readable(stopped, how):
    damage(stopped / "frames" / "frame_00003.safetensors", how)
    run = spume.open_run(stopped)
    with pytest.raises(CacheError, match=r"frame_00003\.safetensors' is damaged"):
        run[3]
    assert run[2].number == 2
    assert run[4].number == 4


@pytest.mark.parametrize("how", HOWS)
def test_a_damaged_manifest_is_named_and_resuming_rebuilds_it(tmp_path, whole, how):
    start_run(make_scene(), tmp_path / "run")
    damage(tmp_path / "run" / "manifest.json", how)
    with pytest.raises(CacheError, match=r"manifest\.json' is damaged.*spume resume"):
        spume.open_run(tmp_path / "run")
    resume_run(tmp_path / "run")
    rebuilt, intact = spume.open_run(tmp_path / "run"), spume.open_run(whole)
    assert rebuilt.complete
    assert without_wall_times(rebuilt.diagnostics) == without_wall_times(intact.diagnostics)


@pytest.mark.parametrize("how", HOWS)
def test_a_damaged_checkpoint_is_told_and_the_one_before_serves(tmp_path, whole, how, monkeypatch, capsys):
    advance = Ballistic.advance

    def fail_at_frame_6(self, until, *others):
        if until > 0.0275:
            raise spume.RunFailed("a fault")
        return advance(self, until, *others)

    monkeypatch.setattr(Ballistic, "advance", fail_at_frame_6)
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(), tmp_path / "run")
    monkeypatch.setattr(Ballistic, "advance", advance)
    damage(tmp_path / "run" / "checkpoint.safetensors", how)
    resume_run(tmp_path / "run", display=display_for())
    note = capsys.readouterr().err
    assert "checkpoint.safetensors' is damaged" in note
    assert "going on from the checkpoint before it, after frame 4" in note
    assert frame_bytes(tmp_path / "run") == frame_bytes(whole)


@pytest.mark.parametrize("how", HOWS)
def test_two_damaged_checkpoints_are_named_with_what_to_do(stopped, how):
    damage(stopped / "checkpoint.safetensors", how)
    damage(stopped / "checkpoint.previous.safetensors", how)
    with pytest.raises(CacheError, match=r"checkpoint\.safetensors' is damaged.*start it again with --overwrite"):
        resume_run(stopped)
    assert len(list(spume.open_run(stopped))) == 6


@pytest.mark.parametrize("how", HOWS)
def test_resuming_names_the_earlier_frames_that_are_damaged(stopped, how, capsys):
    damage(stopped / "frames" / "frame_00001.safetensors", how)
    damage(stopped / "frames" / "frame_00003.safetensors", how)
    with pytest.raises(spume.RunFailed):
        resume_run(stopped, display=display_for())
    note = capsys.readouterr().err
    assert "frame_00001.safetensors' is damaged" in note
    assert "frame_00003.safetensors' is damaged" in note
    assert "frame_00002" not in note


def test_a_frame_that_cannot_be_read_is_not_called_missing(stopped):
    file = stopped / "frames" / "frame_00002.safetensors"
    file.unlink()
    file.mkdir()
    with pytest.raises(CacheError, match=r"frame_00002\.safetensors' cannot be read: Is a directory"):
        spume.open_run(stopped)[2]


def test_a_checkpoint_replaced_while_it_is_read_is_not_mixed_with_the_new_one(tmp_path, monkeypatch):
    file = tmp_path / "checkpoint.safetensors"
    contents = [{"x": np.full(5, k), "n": np.arange(k, k + 3, dtype=np.int32)} for k in (1.0, 2.0)]
    storage.write_arrays(file, contents[0], {"frame": 1})
    original = storage._digest_start

    def replace_file(*arguments):
        monkeypatch.setattr(storage, "_digest_start", original)
        storage.write_arrays(file, contents[1], {"frame": 2})
        return original(*arguments)

    monkeypatch.setattr(storage, "_digest_start", replace_file)
    for k in range(2):
        about, arrays = storage.read_checked(file)
        assert about == {"frame": k + 1}
        for name, array in contents[k].items():
            np.testing.assert_array_equal(arrays[name], array)
            assert arrays[name].dtype == array.dtype


def test_a_missing_frame_before_the_checkpoint_is_told_and_the_run_goes_on(tmp_path, capsys):
    start_run(make_scene(), tmp_path / "run")
    (tmp_path / "run" / "manifest.json").unlink()
    (tmp_path / "run" / "frames" / "frame_00002.safetensors").unlink()
    resume_run(tmp_path / "run", display=display_for())
    assert "frame_00002.safetensors' is missing" in capsys.readouterr().err
    with pytest.raises(CacheError, match="frame_00002"):
        spume.open_run(tmp_path / "run")[2]


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir(), lambda p: p.write_text("")])
def test_what_is_no_run_is_said_to_be_none(tmp_path, make):
    make(tmp_path / "thing")
    with pytest.raises(CacheError, match=r"there is no folder|holds no run"):
        spume.open_run(tmp_path / "thing")
    with pytest.raises(CacheError, match=r"there is no folder|missing"):
        resume_run(tmp_path / "thing")


def test_a_run_of_another_format_is_refused(tmp_path):
    start_run(make_scene(), tmp_path / "run")
    manifest = storage.read_json(tmp_path / "run" / "manifest.json")
    storage.write_json(tmp_path / "run" / "manifest.json", manifest | {"format": 99})
    with pytest.raises(CacheError, match="format 99"):
        spume.open_run(tmp_path / "run")


def interrupt_twice():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)


def test_a_second_interruption_ends_at_once_and_the_checkpoint_stays_good(tmp_path, monkeypatch):
    """Both come during a step."""
    steps_done = []
    monkeypatch.setattr(Ballistic, "advance", lambda self, *given: (interrupt_twice(), steps_done.append(1)))
    with pytest.raises(KeyboardInterrupt, match=r"the last checkpoint is good: continue with 'spume resume .*run'"):
        start_run(make_scene(), tmp_path / "run")
    assert not steps_done
    assert len(spume.open_run(tmp_path / "run")) == 1


def test_an_interruption_before_the_first_checkpoint_promises_none(tmp_path, monkeypatch):
    monkeypatch.setattr(Ballistic, "declarations", lambda self: interrupt_twice())
    with pytest.raises(KeyboardInterrupt, match="nothing is on disk yet: run the scene again"):
        start_run(make_scene(), tmp_path / "run")
    monkeypatch.undo()
    monkeypatch.setattr(Ballistic, "frame", lambda self: interrupt_twice())
    with pytest.raises(KeyboardInterrupt, match=r"there is no checkpoint yet: 'spume resume .*run' starts over"):
        start_run(make_scene(), tmp_path / "run")


def slow_to_compile():
    """A kernel that is not in any cache, called after Ctrl-C."""

    @compiled
    def double(x):
        return 2 * x

    os.kill(os.getpid(), signal.SIGINT)
    return double(2)


def test_an_interruption_while_kernels_are_compiled_stops_at_the_last_checkpoint(tmp_path, monkeypatch, whole):
    """The step that waits for its kernel is not finished, so it must not get into a checkpoint."""
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path / "cache"))
    advance = Ballistic.advance

    def compile_at_frame_3(self, until, interrupted, report):
        if until > 0.0125:
            self.x += 1.0  # a step half done
            slow_to_compile()
        return advance(self, until, interrupted, report)

    monkeypatch.setattr(Ballistic, "advance", compile_at_frame_3)
    outcome = start_run(make_scene(), tmp_path / "run")
    assert (outcome.status, outcome.frames, outcome.time) == ("interrupted", 3, 0.01)
    monkeypatch.setattr(Ballistic, "advance", advance)
    assert resume_run(tmp_path / "run").status == "complete"
    assert frame_bytes(tmp_path / "run") == frame_bytes(whole)


def test_an_interruption_while_a_run_is_estimated_says_what_it_met(tmp_path, monkeypatch):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(Ballistic, "estimate", lambda scene: slow_to_compile())
    with pytest.raises(KeyboardInterrupt, match="stopped while kernels were compiled; nothing is on disk yet"):
        start_run(make_scene(), tmp_path / "run")


def test_an_interruption_while_a_run_is_prepared_leaves_no_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(Ballistic, "declarations", lambda self: slow_to_compile())
    (tmp_path / "scene.toml").write_text(SCENE_TEXT)
    assert main(["run", str(tmp_path / "scene.toml"), "--out", str(tmp_path / "run")]) == 130
    assert "stopped before the first frame: nothing is on disk yet" in capsys.readouterr().out
