"""Pictures of a mixture, coloured by what its frames say about sand and water."""

from pathlib import Path

import mixture_run
import numpy as np
import pytest

from spume.cli import main
from spume.frames.reader import open_run
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer

for package in ("imageio", "imageio_ffmpeg", "matplotlib", "PIL"):
    pytest.importorskip(package, reason="needs the extra 'look'")

SMALL = ["--size", "160x90", "--quality", "preview", "--processes", "1", "--frames", "2", "--stills-only"]
QUANTITIES = ("saturation", "pore_pressure", "cohesion")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """By dimension."""
    return {d: mixture_run.write_run(tmp_path_factory.mktemp("runs") / f"wet-{d}", d) for d in (2, 3)}


@pytest.mark.parametrize(
    ("name", "dimension"),
    [
        *((name, 2) for name in QUANTITIES),
        ("saturation", 3),
        *(pytest.param(name, 3, marks=pytest.mark.slow_suite) for name in QUANTITIES[1:]),
    ],
)
def test_a_picture_by_quantity_differs_from_the_plain_one(runs, tmp_path: Path, dimension: int, name: str) -> None:
    from spume.look.pictures.png import read_png

    pictures = []
    for folder, color in (("plain", []), ("colored", ["--color", name])):
        assert main(["render", str(runs[dimension]), *SMALL, *color, "--out", str(tmp_path / folder)]) == 0
        (file,) = (tmp_path / folder).glob("*.png")
        pictures.append(read_png(file).astype(int))
    plain, colored = pictures
    width = plain.shape[1]
    assert colored.shape[1] > width  # the colour bar is beside the picture
    assert np.mean(np.abs(plain - colored[:, :width]).max(axis=2) > 10) > 0.01


@pytest.mark.parametrize("name", QUANTITIES)
def test_each_grain_has_the_colour_of_its_value(runs, name: str) -> None:
    """The sand is drawn as one set of points in the colours of the map; the water keeps its look."""
    run = open_run(runs[3])
    frame = run[2]
    values = frame["sand"][name]
    assert values.max() > values.min()
    drawer = space_drawer(run, PictureOptions(160, 90, color=name, quality="preview"), None)
    (sand, _), (water, finish) = drawer.material_parts(frame)
    np.testing.assert_array_equal(sand.colors, drawer.mapped(values))
    assert len(sand.triangles) == 0
    assert len(water.triangles) > 0
    assert finish.transparency > 0.0
