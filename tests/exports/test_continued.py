"""An export to a single file that was stopped goes on with the skins that it has made."""

from pathlib import Path

import pytest
import synthetic_run

import spume
from spume.look.surface import files


def skins(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in sorted((folder / "surface").rglob("*.safetensors"))}


def test_an_export_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third skin is interrupted; the next call makes this one alone, and the file is the same as without a stop."""
    folder = synthetic_run.write_run(tmp_path / "run", frames=4)
    other = synthetic_run.write_run(tmp_path / "other" / "run", frames=4)
    made: list[int] = []
    write = files._write

    def interrupted(*arguments: object, **named: object) -> files.Skin:
        if len(made) == 2:
            made.append(-1)
            raise KeyboardInterrupt
        made.append(1)
        return write(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spume.export(folder, "gltf", out=tmp_path / "a.glb")
    assert not (tmp_path / "a.glb").exists()
    before = skins(folder)
    assert len(before) == 2
    made[:] = [1] * 9
    spume.export(folder, "gltf", out=tmp_path / "a.glb")
    assert len(made) == 9 + 2
    assert before.items() <= skins(folder).items()
    spume.export(other, "gltf", out=tmp_path / "b.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_a_run_that_cannot_be_written_to_is_exported_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without keeping its skins."""
    folder = synthetic_run.write_run(tmp_path / "run", frames=1)
    monkeypatch.setattr(files.os, "access", lambda path, mode: False)
    spume.export(folder, "gltf", out=tmp_path / "a.glb")
    assert (tmp_path / "a.glb").exists()
    assert not skins(folder)
