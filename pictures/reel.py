"""The reel: shots of runs one after another, as `reel.toml` has them, in one film."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pictures.making import RUNS, Say, frame_at, run_for
from pictures.recipe import Recipe
from spume import render
from spume.extras import require
from spume.look.pictures.drawing import Picture
from spume.look.pictures.lettering import with_label
from spume.look.pictures.png import read_png
from spume.whole_files import whole_file

ROOT = Path(__file__).parents[1]
SHOTS = Path(__file__).with_name("reel.toml")
REEL = ROOT / "docs" / "reel.mp4"
SIZE = (960, 540)
RATE = 30
"""Pictures per second."""
FADE = 8
"""Pictures over which a shot appears, and disappears at its end."""
ZOOM = 0.06
"""Part by which the view of a still narrows while it is shown."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A part of the reel: a run, or a still."""

    caption: str
    scene: str = ""
    preset: str = "draft"
    start: float = 0.0
    """first frame [s]"""
    stop: float = float("inf")
    """last frame [s]"""
    speed: float = 1.0
    """seconds of the run per second of the film"""
    hold: float = 0.5
    """time for which the last picture stays [s]"""
    still: str = ""
    """a picture in docs/pictures that is shown, instead of a run, for the time `hold`"""


def read_shots(file: Path = SHOTS) -> list[Shot]:
    """The shots of the reel in their order."""
    return [Shot(**table) for table in tomllib.loads(file.read_text(encoding="utf-8"))["shot"]]


def make_reel(file: Path, say: Say, shots: list[Shot] | None = None) -> Path:
    """Write the reel. Runs and pictures on disk are used again, so that a call goes on where another one stopped."""
    imageio = require("imageio.v2", "making films")
    require("imageio_ffmpeg", "making films")
    listed = shots if shots is not None else read_shots()
    sequences = [sequence(shot, say) for shot in listed]
    say("reel: writing")
    with whole_file(file) as part:
        writer = imageio.get_writer(
            part, format="FFMPEG", mode="I", fps=RATE, codec="libx264", quality=None, macro_block_size=1,
            output_params=["-crf", "27", "-preset", "slow", "-pix_fmt", "yuv420p", "-movflags", "+faststart"],
            ffmpeg_log_level="error",
        )  # fmt: skip
        with writer:
            for shot, stills in zip(listed, sequences):
                for picture in shown(shot, stills):
                    writer.append_data(picture)
    return file


def sequence(shot: Shot, say: Say) -> list[Path]:
    """The file of each picture of a shot, one after another."""
    count = round(RATE * shot.hold)
    if shot.still:
        return [ROOT / "docs" / "pictures" / shot.still] * count
    run = run_for(shot.scene, shot.preset, {}, say)
    first, last = frame_at(run, shot.start), frame_at(run, min(shot.stop, run.diagnostics[-1]["time"]))
    say(f"{shot.scene}: drawing frames {first} to {last}")
    step = max(1, round(float(run.scene.frame_rate) * shot.speed / RATE))
    made = render(
        run, frames=slice(first, last + 1, step), out=RUNS / "drawn" / run.path.name, stills_only=True, width=SIZE[0],
        height=SIZE[1], samples=Recipe.samples,
    )  # fmt: skip
    length = max(1, round(RATE * (last - first) / (float(run.scene.frame_rate) * shot.speed)))
    places = np.minimum(np.arange(length) * len(made.stills) // length, len(made.stills) - 1)
    return [made.stills[k] for k in places] + [made.stills[-1]] * count


def shown(shot: Shot, stills: list[Path]) -> Iterator[Picture]:
    """The pictures of a shot with its caption, appearing from black and disappearing into it."""
    total = len(stills)
    for k, still in enumerate(stills):
        picture = _fitted(still, ZOOM * k / max(1, total - 1) if shot.still else 0.0)
        lit = min(1.0, (k + 1) / FADE, (total - k) / FADE)
        labelled = with_label(picture, shot.caption, "lower left", 20) if shot.caption else picture
        yield (lit * labelled).astype(np.uint8)


def _fitted(file: Path, zoom: float) -> Picture:
    """A picture cut and scaled to the size of the reel, the middle enlarged by `zoom`."""
    image: Any = require("PIL.Image", "reading pictures")
    if file.suffix == ".png":
        picture = image.fromarray(read_png(file))
    else:
        with image.open(file) as opened:
            picture = opened.convert("RGB")
    width, height = picture.size
    aspect = SIZE[0] / SIZE[1]
    wide, high = min(width, height * aspect) / (1.0 + zoom), min(height, width / aspect) / (1.0 + zoom)
    left, top = 0.5 * (width - wide), 0.5 * (height - high)
    if (width, height) == SIZE and zoom == 0.0:
        return np.asarray(picture)
    return np.asarray(picture.resize(SIZE, image.Resampling.LANCZOS, (left, top, left + wide, top + high)))
