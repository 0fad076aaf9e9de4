"""Contact sheets: the pictures of a run in which most happens, with their times."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.extras import require
from spume.look.pictures.drawing import Picture
from spume.look.pictures.lettering import Legend, lying_color_bar, with_label, without_color_bar
from spume.look.pictures.png import read_png, write_png

TILES, COLUMNS = 6, 3
"""Pictures on a contact sheet, and in a row of it."""
WIDTH = 480
"""Width of a picture on it [pixels]."""
COMPARED_TILES, COMPARED_COLUMNS, COMPARED_WIDTH = 4, 2, 720
"""The same for pictures that show several runs."""
GAP = 6
LETTERS = 56
"""Width of a sheet over the size of its letters: on a page of 800 pixels they have 14."""
BAR = 110
"""Height of the colour bar [pixels]."""
STEADY = 0.3
"""Weight of time against that of change when pictures are chosen."""
THUMBNAIL = 96
"""Width of the pictures whose change is measured [pixels]."""
EMPTY = 0.2
"""Pictures that show less of the material than this part of the median are left out."""


class SheetPicture(NamedTuple):
    """A picture that may be on a sheet."""

    file: Path
    time: float
    """[s]"""
    covered: float
    """part of it that the material covers"""


def contact_sheet(pictures: list[SheetPicture], file: Path, legend: Legend | None, is_comparison: bool) -> None:
    """The sheet of the pictures in which most happens, with their times, and one colour bar for all."""
    image = require("PIL.Image", "writing pictures")
    count, columns, width = (
        (COMPARED_TILES, COMPARED_COLUMNS, COMPARED_WIDTH) if is_comparison else (TILES, COLUMNS, WIDTH)
    )
    shown = with_material(pictures)
    thumbnails = np.stack([_thumbnail(each.file) for each in shown])
    parts = []
    for k in eventful(thumbnails, count):
        picture = read_png(shown[k].file)
        picture = picture if legend is None else without_color_bar(picture)
        size = width, max(1, round(width * picture.shape[0] / picture.shape[1]))
        small = image.fromarray(picture).resize(size, image.Resampling.LANCZOS)
        parts.append((np.asarray(small), shown[k].time))
    sheet = labelled_tiles(parts, min(columns, len(parts)))
    if legend is not None:
        sheet = np.concatenate([sheet, lying_color_bar(legend, (sheet.shape[1], BAR))])
    write_png(file, sheet, "sheet")


def with_material(pictures: list[SheetPicture]) -> list[SheetPicture]:
    """The pictures that are not empty or nearly so; all of them if all are."""
    shown = [each.covered for each in pictures if each.covered > 0.0]
    least = EMPTY * float(np.median(shown)) if shown else 0.0
    return [each for each in pictures if each.covered > least] or pictures


def eventful(thumbnails: NDArray[np.float64], count: int) -> list[int]:
    """The first picture, the last, and those between at equal sums of change from picture to picture."""
    total = len(thumbnails)
    if total <= count:
        return list(range(total))
    change = np.abs(np.diff(thumbnails.reshape(total, -1), axis=0)).mean(axis=1)
    part = change / change.sum() if change.sum() > 0 else np.full(total - 1, 1.0 / (total - 1))
    past = np.concatenate([[0.0], np.cumsum((1.0 - STEADY) * part + STEADY / (total - 1))])
    chosen = [0]
    for k in range(1, count):
        best = int(np.argmin(np.abs(past - k / (count - 1))))
        # each later than the one before, with room for those that follow
        chosen.append(min(max(best, chosen[-1] + 1), total - count + k))
    return chosen


def _thumbnail(file: Path) -> NDArray[np.float64]:
    image = require("PIL.Image", "reading pictures")
    with image.open(file) as picture:
        size = THUMBNAIL, max(1, round(THUMBNAIL * picture.height / picture.width))
        return np.asarray(picture.convert("RGB").resize(size, image.Resampling.BOX), dtype=np.float64)


def labelled_tiles(parts: list[tuple[Picture, float]], columns: int) -> Picture:
    """Pictures and their times [s] in rows of `columns`."""
    letters = columns * parts[0][0].shape[1] // LETTERS
    return tiled(
        [with_label(picture, f"{time:.2f} s", "lower left", letters) for picture, time in parts], columns, GAP
    )  # fmt: skip


def tiled(parts: list[Picture], columns: int, gap: int) -> Picture:
    """Pictures of one size in rows of `columns`, separated by white."""
    height, width = parts[0].shape[:2]
    rows = math.ceil(len(parts) / columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for k, part in enumerate(parts):
        top, left = (k // columns) * (height + gap), (k % columns) * (width + gap)
        sheet[top : top + height, left : left + width] = part
    return sheet
