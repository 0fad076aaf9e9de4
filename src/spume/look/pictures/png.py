"""Pictures on disk."""

from pathlib import Path

import numpy as np

from spume.extras import require
from spume.look.pictures.drawing import Picture
from spume.whole_files import whole_file

MARK = "spume"
"""Key of the metadata in a picture that records how it was made."""


def write_png(file: Path, picture: Picture, recipe: str) -> None:
    """Write a picture with metadata on how it was made."""
    image = require("PIL.Image", "writing pictures")
    info = require("PIL.PngImagePlugin", "writing pictures").PngInfo()
    info.add_text(MARK, recipe)
    with whole_file(file) as partial_file:
        image.fromarray(picture).save(partial_file, format="PNG", pnginfo=info, compress_level=4)


def read_png(file: Path) -> Picture:
    """A picture from disk."""
    with require("PIL.Image", "reading pictures").open(file) as image:
        return np.asarray(image.convert("RGB"))
