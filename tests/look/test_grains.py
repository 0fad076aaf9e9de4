"""Sand is seen as grains: shades by number, darker where wet, in pictures and in the viewer."""

from pathlib import Path

import numpy as np
import synthetic_run

from spume.look.finish import Finish
from spume.look.grains import WET, point_colors, shades
from spume.look.viewer.watched_run import watch
from spume.srgb import to_linear

SAND = Finish((0.5, 0.4, 0.3), roughness=1.0, grain=1.0, variation=0.4)


def test_shades_fill_the_range_and_stay_with_the_point() -> None:
    """Brightness is within ±variation/2 of 1, 1 on average, and a function of the number alone."""
    ids = np.arange(10_000)
    found = shades(ids, 0.4)
    assert found.min() >= 0.8
    assert found.max() <= 1.2
    # multiples of the golden ratio are equidistributed: the mean of n of them is off by O(log n / n)
    assert abs(found.mean() - 1.0) < 0.4 * np.log(1e4) / 1e4
    np.testing.assert_array_equal(shades(ids[::-1], 0.4), found[::-1])


def test_wet_grains_are_darker() -> None:
    ids = np.arange(100)
    dry, wet = (point_colors(SAND, ids, np.full(100, s)) for s in (0.0, 1.0))
    np.testing.assert_allclose(wet, (1.0 - WET) * dry)


def test_the_viewer_shows_sand_as_grains_in_their_own_colours(tmp_path: Path) -> None:
    """A surface is asked for, and points are shown, since the material is granular; their colours differ."""
    look = {"color": "#c0a070", "grain": 1.0, "variation": 0.5}
    bodies = [{**body, "look": look} for body in synthetic_run.scene_tables()["body"]]
    watched = watch(synthetic_run.write_run(tmp_path / "sand", body=bodies))
    (shown,) = watched.frame(0, "surface", ["material"]).values()
    assert len(shown.triangles) == 0
    colors = watched.color(shown, "material")
    brightness = to_linear(colors / 255).mean(axis=1)
    assert brightness.max() > 1.4 * brightness.min()
