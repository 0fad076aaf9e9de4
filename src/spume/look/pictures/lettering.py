"""Text on pictures, colour maps and colour bars."""

import math
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
DARK = 110
"""Text on a background darker than this [of 255] is light."""


def map_colors(values: NDArray[Any], limits: tuple[float, float], name: str) -> NDArray[np.float64]:
    """Colours of a colour map, linear RGB, shape (n, 3); values beyond the limits get the colours of its ends."""
    matplotlib = require("matplotlib", "colouring by a quantity")
    low, high = limits
    place = np.clip((np.asarray(values, dtype=np.float64) - low) / ((high - low) or 1.0), 0.0, 1.0)
    return to_linear(np.asarray(matplotlib.colormaps[name](place))[..., :3])


def with_color_bar(picture: Picture, legend: Legend) -> Picture:
    """The picture and, in a strip at its right side, a colour bar with its text along it."""
    name, limits, text = legend
    matplotlib = require("matplotlib", "drawing a colour bar")
    height, width = picture.shape[:2]
    size = font_size(height)
    bar_width, bar_height = _bar_width(height), int(0.7 * height)
    strip = _strip(height)
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


def _bar_width(height: int) -> int:
    return max(10, height // 40)


def _strip(height: int) -> int:
    """Width of the strip with a colour bar beside a picture of this height [pixels]."""
    return _bar_width(height) + 8 * font_size(height)


def without_color_bar(picture: Picture) -> Picture:
    """The picture that `with_color_bar` got."""
    return picture[:, : picture.shape[1] - _strip(picture.shape[0])]


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
    image, draw = _open(picture)
    height, width = picture.shape[:2]
    margin = font_size(height) // 2
    size = fitting_size(text, (width, height), size)
    reach = 2 * margin + math.ceil(_font(size).getlength(text))
    y, anchor = (margin, "la") if corner == "upper left" else (height - margin, "ld")
    behind = picture[: 2 * size] if corner == "upper left" else picture[-2 * size :]
    fill = INK if behind[:, :reach].mean() > DARK else PAPER
    draw.text((margin, y), text, fill=fill, font=_font(size), anchor=anchor)
    return np.asarray(image)


def fitting_size(text: str, picture: tuple[int, int], size: int | None = None) -> int:
    """The font size `size`, or that for the height of a picture [pixels], smaller if the text would be too wide for the
    picture of this width and height."""
    width, height = picture
    size = size or font_size(height)
    room = width - 2 * (font_size(height) // 2)
    return max(1, min(size, int(size * room / max(1.0, _font(size).getlength(text)))))


def font_size(height: int) -> int:
    """Font size for a picture [pixels]."""
    return max(13, height // 32)


def _font(size: int) -> Any:
    return require("PIL.ImageFont", "writing on pictures").load_default(size)


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
