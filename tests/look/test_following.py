"""Pictures while a run goes on."""

from pathlib import Path

import pytest
import synthetic_run

from spume.cli import main
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.following import follow
from spume.look.pictures.stills import still_file

for package in ("imageio", "imageio_ffmpeg", "PIL"):
    pytest.importorskip(package, reason="needs the extra 'look'")

SMALL = PictureOptions(width=128, height=96, quality="preview")


def test_frames_are_drawn_before_the_run_ends_and_all_of_them_after(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path / "run", frames=3)
    seen: list[int] = []

    def is_going_on() -> bool:
        seen.append(len(list((folder / "pictures").glob("*.png"))))
        return len(seen) < 3

    stills, movie = follow(folder, SMALL, is_going_on)
    assert seen == [0, 1, 2]
    assert stills == [still_file(folder / "pictures", k) for k in range(3)]
    assert all(still.exists() for still in stills)
    assert movie is not None
    assert movie.stat().st_size > 0


def test_a_run_of_before_is_not_drawn(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path / "run", frames=2)
    later = (folder / "manifest.json").stat().st_mtime + 10.0
    assert follow(folder, SMALL, lambda: False, since=later) == ([], None)


@pytest.mark.slow_suite
def test_run_with_render_leaves_a_film_and_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    changes = ["--set", "duration=0.1", "--set", "grid.cell=0.05"]
    assert main(["run", "ball-bounce", *changes, "--out", str(tmp_path / "ball"), "--render"]) == 0
    assert (tmp_path / "ball" / "pictures.mp4").exists()
    assert "4 pictures in" in capfd.readouterr().out
