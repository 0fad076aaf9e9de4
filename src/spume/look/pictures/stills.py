"""Stills, contact sheets and films of a run, made from its frames and kept beside them."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from spume.cores import cores
from spume.errors import Portable, SceneError
from spume.extras import require
from spume.frames.reader import Run
from spume.frames.selection import spread
from spume.look.pictures.drawing import Drawer, Picture, PictureOptions, make_drawer
from spume.look.pictures.lettering import with_color_bar, with_label
from spume.look.pictures.png import MARK, read_png, write_png
from spume.look.pictures.sheet import SheetPicture, contact_sheet, tiled
from spume.runs.folder import RunFolder
from spume.terminal import tell
from spume.whitewater.making import whitewater_file
from spume.whole_files import whole_file
from spume.work import each_frame

SMALL = 0.1
"""Part of the picture below which the material is called small."""
CANDIDATES = 60
"""Pictures from which those of a contact sheet are chosen."""
FORMAT = 5
"""Incremented whenever existing pictures must be drawn again."""


def still_file(folder: Path, number: int) -> Path:
    """The file of a picture."""
    return folder / f"frame_{number:05d}.png"


def draw_stills(
    runs: Sequence[Run], labels: Sequence[str], numbers: list[int], options: PictureOptions, folder: Path,
    processes: int | None = None, again: bool = False, cluster: str | None = None,
) -> list[Path]:  # fmt: skip
    """Draw the missing pictures of the frames `numbers` into `folder`; several runs stand side by side.

    Returns all of their files. `cluster` is the address of a Dask scheduler whose workers draw them. An interrupt
    raises `Interrupted` with those that are done.
    """
    made_by = recipe(runs, labels, options)
    missing = [n for n in numbers if again or not _is_fresh(still_file(folder, n), runs, n, made_by)]
    if missing:
        width, height = _share(options, len(runs))
        single = replace(options, width=width, height=height)
        drawers = _drawers(runs, single)
        _warn_of_small(drawers, lengths := [len(run) for run in runs])
        task = partial(draw_still, drawers, lengths, list(labels), folder.resolve() if cluster else folder, made_by)
        # Drawing in software and making skins use all cores already for most of the time.
        try:
            each_frame(
                task, missing, "render", processes or (min(2, cores()) if len(missing) > 8 else 1), cluster=cluster
            )  # fmt: skip
        except KeyboardInterrupt:
            done = [number for number in numbers if _is_fresh(still_file(folder, number), runs, number, made_by)]
            raise Interrupted(done, ([still_file(folder, number) for number in done], None, None)) from None
    return [still_file(folder, number) for number in numbers]


class Interrupted(Portable, KeyboardInterrupt):
    """The drawing was interrupted; the pictures of the frames `done` are on disk, and what was made of them."""

    def __init__(self, done: list[int], made: tuple[list[Path], Path | None, Path | None]) -> None:
        super().__init__(f"interrupted; {len(done)} pictures are done")
        self.done = done
        self.made = made


def pictures_of(
    runs: Sequence[Run], labels: list[str] | None, numbers: list[int], options: PictureOptions,
    folder: Path | None = None, stills_only: bool = False, processes: int | None = None, again: bool = False,
    cluster: str | None = None,
) -> tuple[list[Path], Path | None, Path | None]:  # fmt: skip
    """Stills of the frames `numbers` of one run or of several side by side, a contact sheet and a film of them.

    Returns their files; sheet and film are None where there is one picture, or `stills_only`. An interrupt raises
    `Interrupted`, after sheet and film were made of the pictures that are done.
    """
    place = folder or runs[0].output(f"{'compare' if len(runs) > 1 else 'pictures'}{options.suffix}")
    names = run_names(runs, labels)
    try:
        stills = draw_stills(runs, names, numbers, options, place, processes, again, cluster)
    except Interrupted as stopped:
        made = _gathered(runs, names, options, stopped.made[0], stopped.done, place, stills_only)
        raise Interrupted(stopped.done, made) from None
    return _gathered(runs, names, options, stills, numbers, place, stills_only)


def _gathered(
    runs: Sequence[Run], names: list[str], options: PictureOptions, stills: list[Path], numbers: list[int],
    place: Path, stills_only: bool,
) -> tuple[list[Path], Path | None, Path | None]:  # fmt: skip
    """The stills of the frames `numbers`, and the sheet and the film that are made of them."""
    if len(stills) < 2 or stills_only:
        return stills, None, None
    longest = max(runs, key=len)
    step = (numbers[-1] - numbers[0]) / (len(numbers) - 1)
    sheet, movie = place.with_name(f"{place.name}-sheet.png"), place.with_name(f"{place.name}.mp4")
    width, height = _share(options, len(runs))
    drawers = _drawers(runs, replace(options, width=width, height=height))
    pictures = [
        SheetPicture(still, longest.diagnostics[number]["time"], drawers[runs.index(longest)].covered(number))
        for still, number in ((stills[k], numbers[k]) for k in spread(list(range(len(stills))), CANDIDATES))
    ]
    contact_sheet(pictures, sheet, drawers[-1].legend(), len(runs) > 1)
    film(stills, movie, longest.scene.frame_rate / step)
    return stills, sheet, movie


def run_names(runs: Sequence[Run], labels: list[str] | None) -> list[str]:
    """Titles of runs shown side by side."""
    if labels is None:
        return [run.path.resolve().name for run in runs] if len(runs) > 1 else [""]
    if len(labels) != len(runs):
        raise SceneError(f"--labels names {len(labels)} runs, and {len(runs)} are shown")
    return labels


def _drawers(runs: Sequence[Run], options: PictureOptions) -> list[Drawer]:
    """A drawer for each run, all of them with the same colour bar, camera and ground."""
    drawers = [make_drawer(run, options) for run in runs]
    if len(runs) == 1:
        return drawers
    legends = [legend for legend in (drawer.legend() for drawer in drawers) if legend]
    if legends:
        limits = min(legend.limits[0] for legend in legends), max(legend.limits[1] for legend in legends)
        drawers = [make_drawer(run, replace(options, limits=limits)) for run in runs]
    return [drawer.alike(drawers) for drawer in drawers]


def _warn_of_small(drawers: list[Drawer], lengths: list[int]) -> None:
    """Say so if the material covers little of the pictures."""
    for drawer, length in zip(drawers, lengths):
        parts = [drawer.covered(number) for number in spread(list(range(length)), 7)]
        share = float(np.median([part for part in parts if part > 0.0] or [1.0]))
        if share < SMALL:
            tell(
                f"the material covers {100 * share:.2g} % of the pictures: move the scene's [camera] nearer, "
                "reduce its fov, or give --camera auto"
            )


def draw_still(
    drawers: list[Drawer], lengths: list[int], labels: list[str], folder: Path, recipe: str, number: int
) -> None:
    """Draw one frame; a run that has already ended keeps showing its last."""
    parts = [drawer.draw(min(number, length - 1)) for drawer, length in zip(drawers, lengths)]
    named = [with_label(part, label, size=part.shape[0] // 16) if label else part for part, label in zip(parts, labels)]
    picture = side_by_side(named)
    if legend := drawers[-1].legend():
        picture = with_color_bar(picture, legend)
    write_png(still_file(folder, number), picture, recipe)


def _share(options: PictureOptions, count: int) -> tuple[int, int]:
    """Sides of one picture out of `count` that stand side by side in rows of at most four."""
    columns = _columns(count)
    # Pictures in a row are less wide than a single one, and a little taller than its share, to be near square.
    height = options.height if count == 1 else int(options.height / (0.62 * columns))
    return max(64, options.width // columns), max(64, height)


def _columns(count: int) -> int:
    return count if count <= 4 else math.ceil(count / 2)


def side_by_side(parts: list[Picture]) -> Picture:
    """Pictures of one size in a row, or in two rows when there are more than four."""
    if len(parts) == 1:
        return parts[0]
    columns = _columns(len(parts))
    return tiled(parts, columns, 4)


def recipe(runs: Sequence[Run], labels: Sequence[str], options: PictureOptions, settled: bool = False) -> str:
    """A digest of everything but the frames that a picture depends on. The pictures of a run in progress depend on the
    frames so far, unless their view is `settled`."""
    about = [FORMAT, asdict(options), list(labels), [[str(run.path), len(run)] for run in runs]]
    if settled or all(run.complete for run in runs):
        about[-1] = [str(run.path) for run in runs]
    if any(run.looks for run in runs):
        about.append([run.looks for run in runs])
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _is_fresh(file: Path, runs: Sequence[Run], number: int, recipe: str) -> bool:
    if not file.exists():
        return False
    shown = [(run, min(number, len(run) - 1)) for run in runs]
    frames = [RunFolder(run.path).frame(last) for run, last in shown]
    frames += [whitewater_file(run, last) for run, last in shown]
    if any(frame.exists() and frame.stat().st_mtime > file.stat().st_mtime for frame in frames):
        return False
    try:
        with require("PIL.Image", "reading pictures").open(file) as image:
            return bool(image.text.get(MARK) == recipe)
    except (OSError, AttributeError):
        return False


def film(stills: list[Path], file: Path, rate: float) -> None:
    """An mp4 of the stills, `rate` pictures a second."""
    imageio = require("imageio.v2", "making films")
    require("imageio_ffmpeg", "making films")
    with whole_file(file) as partial_file:
        writer = imageio.get_writer(
            partial_file, format="FFMPEG", mode="I", fps=rate, codec="libx264", quality=None, macro_block_size=1,
            output_params=["-crf", "19", "-preset", "medium", "-pix_fmt", "yuv420p", "-movflags", "+faststart"],
            ffmpeg_log_level="error",
        )  # fmt: skip
        with writer:
            for still in stills:
                writer.append_data(_cropped(read_png(still)))


def _cropped(picture: Picture) -> Picture:
    """The picture with even width and height, as required by the encoder."""
    return picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]
