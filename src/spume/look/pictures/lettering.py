"""Text on pictures, colour maps and colour bars."""

import math
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.extras import require
from spume.srgb import to_linear

Picture = NDArray[np.uint8]
Corner = Literal["upper left", "lower left"]


MAP = "viridis"
"""The colour map of quantities."""


class Legend(NamedTuple):
    """A colour scale."""

    map: str
    """name of the colour map"""
    limits: tuple[float, float]
    text: str


INK = (32, 38, 46)
PAPER = (255, 255, 255)
DARK = 128
"""Text on a background darker than this [of 255] is light."""
HALO = (95, 160)
"""Light text is put on a background at most this bright, dark text on one at least that bright [of 255]."""
VEIL = 0.8
"""Part of the way to it that the background goes."""


def map_colors(values: NDArray[Any], limits: tuple[float, float], name: str) -> NDArray[np.float64]:
    """Colours of a colour map, linear RGB, shape (n, 3); values beyond the limits get the colours of its ends."""
    matplotlib = require("matplotlib", "colouring by a quantity")
    low, high = limits
    place = np.clip((np.asarray(values, dtype=np.float64) - low) / ((high - low) or 1.0), 0.0, 1.0)
    return to_linear(np.asarray(matplotlib.colormaps[name](place))[..., :3])


def with_color_bar(picture: Picture, legend: Legend, size: int | None = None) -> Picture:
    """The picture and, in a strip at its right side, a colour bar with its text along it.

    - size: of the font [pixels]; it follows from the height of the picture if absent.
    """
    name, limits, text = legend
    matplotlib = require("matplotlib", "drawing a colour bar")
    height, width = picture.shape[:2]
    size = size or font_size(height)
    bar_width, bar_height = max(10, size // 2), int(0.7 * height)
    strip = _strip(size)
    pixels = np.concatenate([picture, np.full((height, strip, 3), PAPER, np.uint8)], axis=1)
    left, top = width + size, (height - bar_height) // 2
    ramp = np.linspace(1.0, 0.0, bar_height)
    colors = (255 * np.asarray(matplotlib.colormaps[name](ramp))[:, :3]).astype(np.uint8)
    pixels[top : top + bar_height, left : left + bar_width] = colors[:, None]
    image, draw = _open(pixels)
    draw.rectangle((left - 1, top - 1, left + bar_width, top + bar_height), outline=INK)
    ticks = _ticks(*limits)
    for value, words in zip(ticks, tick_labels(ticks)):
        y = top + (1 - (value - limits[0]) / (limits[1] - limits[0])) * (bar_height - 1)
        draw.line((left + bar_width, y, left + bar_width + size // 3, y), fill=INK)
        draw.text((left + bar_width + size // 2, y), words, fill=INK, font=_font(size), anchor="lm")
    upright = _upright(text, size)
    image.paste(upright, (width + strip - upright.width - size // 4, (height - upright.height) // 2))
    return np.asarray(image)


def _strip(size: int) -> int:
    """Width of the strip with a colour bar whose font has this size [pixels]."""
    return max(10, size // 2) + 8 * size


def without_color_bar(picture: Picture) -> Picture:
    """The picture that `with_color_bar` got without a size of the font."""
    return picture[:, : picture.shape[1] - _strip(font_size(picture.shape[0]))]


def lying_color_bar(legend: Legend, size: tuple[int, int]) -> Picture:
    """A horizontal colour bar with its numbers below and its label above, `size` pixels wide and high."""
    name, limits, text = legend
    matplotlib = require("matplotlib", "drawing a colour bar")
    width, height = size
    letters = height // 5
    pixels = np.full((height, width, 3), PAPER, np.uint8)
    left, right = 2 * letters, width - 2 * letters
    top, bottom = int(1.5 * letters), height - 2 * letters
    colors = (255 * np.asarray(matplotlib.colormaps[name](np.linspace(0.0, 1.0, right - left)))[:, :3]).astype(np.uint8)
    pixels[top:bottom, left:right] = colors
    image, draw = _open(pixels)
    draw.rectangle((left - 1, top - 1, right, bottom), outline=INK)
    draw.text((width // 2, letters // 5), text, fill=INK, font=_font(letters), anchor="ma")
    ticks = _ticks(*limits)
    for value, words in zip(ticks, tick_labels(ticks)):
        x = left + (value - limits[0]) / (limits[1] - limits[0]) * (right - left - 1)
        draw.line((x, bottom, x, bottom + letters // 3), fill=INK)
        draw.text((x, bottom + letters // 2), words, fill=INK, font=_font(letters), anchor="ma")
    return np.asarray(image)


def _upright(text: str, size: int) -> Any:
    """A picture of text that reads from bottom to top."""
    image = require("PIL.Image", "writing on pictures")
    left, top, right, bottom = _font(size).getbbox(text)
    words = image.new("RGB", (int(right - left) + 2, int(bottom - top) + 4), PAPER)
    require("PIL.ImageDraw", "writing on pictures").Draw(words).text(
        (1 - left, 2 - top), text, fill=INK, font=_font(size)
    )
    return words.transpose(image.Transpose.ROTATE_90)


def with_label(picture: Picture, text: str, corner: Corner = "upper left", size: int | None = None) -> Picture:
    """The picture with a label in one of its corners, smaller if it would not fit; `size` is that of the font."""
    height, width = picture.shape[:2]
    margin = font_size(height) // 2
    size = fitting_size(text, (width, height), size)
    reach = 2 * margin + math.ceil(_font(size).getlength(text))
    place = (margin, margin) if corner == "upper left" else (margin, height - margin)
    anchor = "la" if corner == "upper left" else "ld"
    behind = picture[: 2 * size] if corner == "upper left" else picture[-2 * size :]
    fill = INK if behind[:, :reach].mean() > DARK else PAPER
    image, draw = _open(_with_halo(picture, text, place, anchor, size, fill))
    draw.text(place, text, fill=fill, font=_font(size), anchor=anchor)
    return np.asarray(image)


def _with_halo(
    picture: Picture, text: str, place: tuple[int, int], anchor: str, size: int, fill: tuple[int, int, int]
) -> Picture:
    """The picture, darker around light text where it is light, and lighter around dark text where it is dark."""
    mask = require("PIL.Image", "writing on pictures").new("L", picture.shape[1::-1])
    letters = require("PIL.ImageDraw", "writing on pictures").Draw(mask)
    letters.text(place, text, fill=255, font=_font(size), anchor=anchor, stroke_width=max(1, size // 6))
    blur = require("PIL.ImageFilter", "writing on pictures").GaussianBlur(size / 8)
    part = VEIL / 255.0 * np.asarray(mask.filter(blur), dtype=np.float64)[..., None]
    level = picture.mean(axis=2, keepdims=True)
    wanted = np.minimum(level, HALO[0]) if fill == PAPER else np.maximum(level, HALO[1])
    return np.clip(np.round(picture + part * (wanted - level)), 0, 255).astype(np.uint8)


def fitting_size(text: str, picture: tuple[int, int], size: int | None = None) -> int:
    """The font size `size`, or that for the height of a picture [pixels], smaller if the text would be too wide for the
    picture of this width and height."""
    width, height = picture
    size = size or font_size(height)
    room = width - 2 * (font_size(height) // 2)
    return max(1, min(size, int(size * room / max(1.0, _font(size).getlength(text)))))


def font_size(height: int) -> int:
    """Font size for a picture [pixels]."""
    return max(13, height // 26)


@cache
def _font(size: int) -> Any:
    """DejaVu Sans, which comes with Matplotlib and has Greek letters; Pillow's own font has none."""
    file = Path(require("matplotlib", "writing on pictures").get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    return require("PIL.ImageFont", "writing on pictures").truetype(str(file), size)


def _open(picture: Picture) -> tuple[Any, Any]:
    image = require("PIL.Image", "writing on pictures").fromarray(np.ascontiguousarray(picture))
    return image, require("PIL.ImageDraw", "writing on pictures").Draw(image)


def tick_labels(ticks: NDArray[np.float64]) -> list[str]:
    """The numbers with as few digits as distinguish them, at least three."""
    for digits in range(3, 17):
        labels = [f"{value + 0.0:.{digits}g}" for value in ticks]  # + 0.0 makes -0 a 0
        if len(set(labels)) == len(labels):
            break
    return labels


def _ticks(low: float, high: float) -> NDArray[np.float64]:
    """Round numbers between the limits, three to seven of them."""
    step = 10.0 ** np.floor(np.log10(high - low))
    for part in (1.0, 0.5, 0.2):
        if (high - low) / (part * step) >= 3:
            step *= part
            break
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return np.arange(first, last + 1) * step
