"""VTKHDF files, read back by VTK's own reader, hold the frames' own numbers, bit for bit."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from spume.exports.contents import contents
from spume.exports.vtkhdf import write_vtkhdf
from spume.frames.reader import open_run

pytest.importorskip("h5py", reason="needs the extra 'export' (h5py)")
pytest.importorskip("pyvista", reason="needs the extra 'test' (VTK's reader)")
from vtkhdf_file import read_steps


@pytest.mark.parametrize("dimension", [3, 2])
def test_every_step_of_points_is_the_frame(request, dimension: int, tmp_path: Path) -> None:
    run = open_run(request.getfixturevalue("solid_run" if dimension == 3 else "plane_run"))
    file = tmp_path / "points.vtkhdf"
    write_vtkhdf(contents(run, [0, 1, 2], "points", None), file)
    steps = list(read_steps(file))
    assert [time for time, _ in steps] == [0.0, 0.1, 0.2]
    for (_, mesh), frame in zip(steps, run):
        np.testing.assert_array_equal(mesh.points[:, :dimension], frame["x"])
        np.testing.assert_array_equal(mesh["v"][:, :dimension], frame["v"])
        np.testing.assert_array_equal(mesh["F"].reshape(-1, 3, 3), frame["F"])
        # VTK orders a symmetric tensor xx, yy, zz, xy, yz, xz.
        np.testing.assert_array_equal(mesh["be"], frame["be"][:, [0, 1, 2, 3, 5, 4]])
        np.testing.assert_array_equal(mesh["weak"], frame["weak"])
        assert mesh.n_verts >= 1


def test_every_step_of_a_surface_is_the_skin(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0, 2], "surface", None)
    file = tmp_path / "surface.vtkhdf"
    write_vtkhdf(chosen, file)
    for (_, mesh), number in zip(read_steps(file), (0, 2)):
        skin = chosen.pieces(number)[0]
        np.testing.assert_array_equal(mesh.points, skin.x)
        np.testing.assert_array_equal(mesh.regular_faces, skin.triangles)
        np.testing.assert_array_equal(mesh["J"], skin.fields["J"])


def test_an_interrupted_export_leaves_the_file_that_was_there(solid_run: Path, tmp_path: Path, monkeypatch) -> None:
    run = open_run(solid_run)
    file = tmp_path / "points.vtkhdf"
    write_vtkhdf(contents(run, [0], "points", None), file)
    before = file.read_bytes()
    chosen = contents(run, [0, 1, 2], "points", None)
    whole = type(chosen).pieces

    def fails(self, number: int, tensors: bool = True):
        if number == 2:
            raise KeyboardInterrupt
        return whole(self, number, tensors)

    monkeypatch.setattr(type(chosen), "pieces", fails)
    with pytest.raises(KeyboardInterrupt):
        write_vtkhdf(chosen, file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_stress_and_pressure_are_exported_like_fields(plane_run: Path, tmp_path: Path) -> None:
    run, file = open_run(plane_run), tmp_path / "points.vtkhdf"
    write_vtkhdf(contents(run, [0, 1], "points", "stress,pressure"), file)
    for (_, mesh), frame in zip(read_steps(file), run):
        np.testing.assert_array_equal(mesh["stress"], frame.stress[:, [0, 1, 2, 3, 5, 4]])
        np.testing.assert_array_equal(mesh["pressure"], frame.pressure)


@pytest.mark.slow_suite
def test_the_example_of_the_page_draws_every_step(plane_run: Path, tmp_path: Path, monkeypatch) -> None:
    """docs/start/looking.md, with PyVista and time."""
    pytest.importorskip("imageio", reason="needs the extra 'look'")
    page = (Path(__file__).parents[2] / "docs" / "start" / "looking.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^    import pyvista\n.*?^    plotter\.close\(\)\n", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    write_vtkhdf(contents(open_run(plane_run), [0, 1, 2], "points", "v,pressure"), Path("points.vtkhdf"))
    exec(textwrap.dedent(example).replace("DIR/export/", ""), {})
    import imageio.v3

    assert len(imageio.v3.imread("pressure.gif", index=None)) == 3
