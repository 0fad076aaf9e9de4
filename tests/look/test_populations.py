"""Pictures, surfaces and viewers show every population of a run."""

from pathlib import Path

import numpy as np
import pytest

from spume.frames.reader import open_run


def test_each_population_of_points_gets_a_surface(several_run: Path) -> None:
    from spume.look.surface.files import surface_frame, surface_parts

    run = open_run(several_run)
    assert [part.name for part in surface_parts(run)] == ["rubber", "jelly"]
    assert len(surface_parts(run, "material")) == 4
    for report in surface_frame(run, 1, "preview", "all"):
        assert report.watertight
        # Each ball is stretched to 1.1 times its volume; a preview is coarse.
        assert report.points_volume == pytest.approx(1.1 * 4224 * 1e-6, rel=1e-9)
        assert abs(report.excess) < 0.1


def test_a_picture_has_parts_for_all_and_colours_those_with_the_quantity(several_run: Path) -> None:
    from spume.look.pictures.drawing import PictureOptions
    from spume.look.pictures.space_drawer import PLAIN, space_drawer

    run = open_run(several_run)
    plain = space_drawer(run, PictureOptions(200, 150, quality="preview"), None)
    parts = plain.material_parts(run[1])
    assert len(parts) == 3
    (tetrahedron,) = (part for part, _ in parts if len(part.triangles) == len(run[1]["shell"].triangles))
    np.testing.assert_array_equal(
        tetrahedron.vertices[tetrahedron.triangles], run[1]["shell"].x[run[1]["shell"].triangles]
    )
    assert PictureOptions(color="shell/speed").suffix == "-shell-speed", "it is a part of a folder's name"
    colored = space_drawer(run, PictureOptions(200, 150, show="points", color="speed"), (0.0, 1.0))
    assert sorted(finish == PLAIN for _, finish in colored.material_parts(run[1])) == [False, True, True]
    assert colored.draw(1).std() > 5


def test_the_viewer_shows_each_population(several_run: Path, tmp_path: Path) -> None:
    import json
    import re

    from spume.look.viewer.page import write_page
    from spume.look.viewer.watched_run import watch

    watched = watch(several_run)
    shown = watched.frame(1, "surface", ["speed", "material"])
    assert list(shown) == ["rubber", "jelly", "shell"]
    assert all(len(each.triangles) for each in shown.values())
    assert "speed" not in shown["jelly"].values
    gelatin = watched.colors[1]
    np.testing.assert_array_equal(
        watched.color(shown["jelly"], "speed"), np.tile(gelatin, (len(shown["jelly"].vertices), 1))
    )
    write_page([several_run], tmp_path / "page.html", shows=("points",))
    text = (tmp_path / "page.html").read_text()
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])
    frames = data["runs"][0]["shows"]["points"]["frames"]
    assert [len(frame) for frame in frames] == [3, 3, 3]
    assert frames[0][2]["parts"]["triangles"]
