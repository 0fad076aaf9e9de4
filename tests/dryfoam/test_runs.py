"""Runs of dry foams: what their logs say, and how their bubbles and films are shown and exported."""

import csv

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.drawing import STEP
from spume.dryfoam.method import DryFoamMethod
from spume.dryfoam.network.geometry import film_lengths
from spume.dryfoam.network.half_edges import network_of
from spume.dryfoam.shapes import filled
from spume.exports.contents import contents
from spume.frames.info import run_lines
from spume.frames.reader import open_run
from spume.runs.loop import start_run
from spume.scene.common import Scene

SHEARED = {
    "title": "sheared",
    "method": "dry-foam",
    "duration": 0.6,
    "frame_rate": 5,
    "foam": {"cells": 16},
    "deformation": {"rate": 1.0, "increment": 0.02},
}
WALLED = {
    "title": "walled",
    "method": "dry-foam",
    "duration": 0.1,
    "frame_rate": 20,
    "foam": {"cells": 12, "boundary": "box", "aspect": 1.5},
    "coarsening": {"diffusion": 1.0, "event_tolerance": 0.02},
}


@pytest.fixture(scope="module")
def sheared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "sheared"
    start_run(Scene(**SHEARED), folder)
    return open_run(folder)


@pytest.fixture(scope="module")
def walled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "walled"
    start_run(Scene(**WALLED), folder)
    return open_run(folder)


def test_a_sheared_run_has_pages_of_statistics_and_stress(sheared, tmp_path):
    pytest.importorskip("matplotlib")
    from spume.dryfoam import save_pages

    pages = save_pages(sheared, tmp_path / "pages")
    assert [page.name for page in pages] == ["statistics.png", "stress-strain.png"]
    assert all(page.read_bytes().startswith(b"\x89PNG") for page in pages)


def test_a_run_logs_the_t1s_of_its_foam(sheared):
    """The same shear in Python gives the same T1s: time, strain, place and cells."""
    foam = Foam.voronoi(16, "periodic", seed=0)
    foam.equilibrate()
    known = len(foam.exchanges)
    foam.shear(0.6, steps=30)
    expected = foam.exchanges[known:]
    assert expected, "this shear has T1s"
    found = [row for frame in sheared for row in zip(*(frame["t1s"][name] for name in ("strain", "parted", "joined")))]
    assert [strain for strain, _, _ in found] == pytest.approx([t1.strain for t1 in expected], abs=1e-12)
    assert [(*a, *b) for _, a, b in found] == [(*t1.parted, *t1.joined) for t1 in expected]
    times = np.concatenate([frame["t1s"].time for frame in sheared])
    assert times == pytest.approx([strain for strain, _, _ in found], abs=1e-12), "the rate is one per second"


def test_each_frame_holds_what_happened_since_the_frame_before(sheared):
    for before, frame in zip(sheared.diagnostics, sheared.diagnostics[1:]):
        times = sheared[frame["frame"]]["t1s"].time
        assert np.all((times > before["time"]) & (times <= frame["time"] + 1e-12))
    assert len(sheared[0]["t1s"].time) == 0


def test_a_run_logs_the_energy_that_t1s_release(sheared):
    """Each release is that of the increment in `Foam.shear`; the diagnostics add them up."""
    foam = Foam.voronoi(16, "periodic", seed=0)
    record = foam.shear(0.6, steps=30)
    expected = [released for released, flips in zip(record.released, record.flips) if flips]
    found = np.concatenate([frame["drops"].released for frame in sheared])
    assert found == pytest.approx(expected, rel=1e-6)
    assert sheared.diagnostics[-1]["released"] == pytest.approx(sum(expected), rel=1e-6)
    assert np.all(found > 0.0)


def test_a_restored_run_goes_on_with_its_log():
    """A checkpoint in the middle of a frame keeps the T1s since the frame before."""
    straight, other = DryFoamMethod(Scene(**SHEARED)), DryFoamMethod(Scene(**SHEARED))
    assert straight.advance(0.6, lambda: False, lambda progress: None)
    stops = iter([False] * 12 + [True])
    assert not other.advance(0.6, lambda: next(stops), lambda progress: None)
    arrays, values = other.checkpoint()
    resumed = DryFoamMethod(Scene(**SHEARED))
    resumed.restore({name: array.copy() for name, array in arrays.items()}, values)
    assert resumed.advance(0.6, lambda: False, lambda progress: None)
    assert len(straight.t1s) > 0
    assert resumed.t1s == straight.t1s
    assert resumed.drops == straight.drops


def test_t1s_of_a_vanishing_cell_are_listed():
    """A cell of more than three sides loses its films by T1s before it goes; each joins two of its neighbours."""
    foam = Foam.voronoi(30, "periodic", seed=3)
    foam.equilibrate()
    index = int(np.argmax(foam.sides == 5))
    label, known = foam.labels[index], len(foam.exchanges)
    before = foam.flips
    foam.collapse(index)
    listed = foam.exchanges[known:]
    own = [t1 for t1 in listed if label in t1.parted]
    assert len(own) == 2, "five sides, three of which a T2 takes"
    assert all(label not in t1.joined for t1 in listed)
    assert foam.flips - before >= len(listed)


def test_info_of_a_run_without_events_lists_no_log(tmp_path):
    quiet = {name: value for name, value in SHEARED.items() if name != "deformation"}
    start_run(Scene(**quiet), tmp_path / "quiet")
    run = open_run(tmp_path / "quiet")
    assert all(len(frame["t1s"].place) == 0 for frame in run)
    assert not any(line.startswith("t1s") for line in run_lines(run))


def test_info_lists_the_latest_t1s(sheared):
    lines = run_lines(sheared)
    total = sum(len(frame["t1s"].time) for frame in sheared)
    assert any(line.startswith(f"t1s: {total} entries") for line in lines)
    assert any("released" in line and "flips" in line for line in lines)


def test_csv_holds_diagnostics_and_logs(sheared, tmp_path):
    from spume.exports.tables import write_tables

    files = {file.name: file for file in write_tables(sheared, list(range(len(sheared))), tmp_path)}
    assert set(files) == {"frames.csv", "t1s.csv", "drops.csv"}
    with files["frames.csv"].open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["energy"]) for row in rows] == [entry["energy"] for entry in sheared.diagnostics]
    with files["t1s.csv"].open() as file:
        rows = list(csv.DictReader(file))
    places = np.concatenate([frame["t1s"].place for frame in sheared])
    assert [[float(row["place_0"]), float(row["place_1"])] for row in rows] == places.tolist()


@pytest.mark.parametrize("name", ["sheared", "walled"])
def test_shapes_fill_the_bubbles_and_follow_the_films(name, request):
    """Arcs in steps of δ ≤ 6° lose at most δ²/24 = 0.05 % of their length ℓ, and ℓ R δ²/12 of the area beside them."""
    run = request.getfixturevalue(name)
    frame = run[len(run) - 1]
    network = network_of(frame)
    cells, arcs = frame["cells"], frame["arcs"]
    corners = cells.x[cells.triangles]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    assert area.min() > -1e-12, "no triangle is turned over"
    turned = np.maximum(2.0 * np.abs(network.half_angles), 1e-12)
    missed = film_lengths(network) ** 2 / turned * np.minimum(turned, STEP) ** 2 / 12.0
    for index, (label, target) in enumerate(zip(network.labels, network.targets, strict=True)):
        own = cells.label[cells.triangles[:, 0]] == label
        bound = missed[np.flatnonzero(network.cell == index) >> 1].sum() + 1e-9
        assert area[own].sum() == pytest.approx(target, abs=bound)
    steps = np.hypot(*np.diff(arcs.x, axis=0).T)
    lengths = [steps[a : b - 1].sum() for a, b in zip(arcs.lines[:-1], arcs.lines[1:], strict=True)]
    assert lengths == pytest.approx(arcs.length[arcs.lines[:-1]], rel=5e-4)
    assert len(lengths) == int(np.sum(~network.is_wall))


def test_a_concave_outline_is_filled():
    """An L of area 3: ears are cut, the notch stays empty."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    x, triangles, _ = filled([outline])
    u, v = x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]]
    area = 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    assert area.sum() == pytest.approx(3.0)
    assert np.all(area >= 0.0)


def last_step(pyvista, file):
    """The last step of a VTKHDF file, by VTK's own reader."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(file))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(reader.GetExecutive().TIME_STEPS())
    reader.UpdateTimeStep(times[-1])
    return pyvista.wrap(reader.GetOutputDataObject(0)).copy()


def test_vtkhdf_holds_cells_and_films(walled, tmp_path):
    pytest.importorskip("h5py")
    pyvista = pytest.importorskip("pyvista")
    from spume.exports.vtkhdf import write_vtkhdf

    last = len(walled) - 1
    chosen = contents(walled, [0, last], "points", None)
    write_vtkhdf(chosen, tmp_path / "foam.vtkhdf")
    cells, arcs = chosen.population_files(tmp_path / "foam.vtkhdf")
    lines, frame = last_step(pyvista, arcs), walled[last]
    films = len(frame["arcs"].lines) - 1
    assert lines.n_lines == films
    np.testing.assert_array_equal(lines.cell_data["length"], frame["arcs"].length[frame["arcs"].lines[:-1]])
    np.testing.assert_array_equal(lines.points[:, :2], frame["arcs"].x)
    mesh = last_step(pyvista, cells)
    np.testing.assert_array_equal(mesh.points[:, :2], frame["cells"].x)
    np.testing.assert_array_equal(mesh["pressure"], frame["cells"].pressure)


def test_usd_holds_cells_and_curves(walled, tmp_path):
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    from spume.exports.usd import write_usd

    write_usd(contents(walled, [0, 1], "points", None), tmp_path / "foam.usda")
    stage = Usd.Stage.Open(str(tmp_path / "foam.usda"))
    root = stage.GetDefaultPrim().GetPath()
    curves = UsdGeom.BasisCurves(stage.GetPrimAtPath(f"{root}/arcs"))
    counts = curves.GetCurveVertexCountsAttr().Get(1)
    assert list(counts) == np.diff(walled[1]["arcs"].lines).tolist()
    assert len(curves.GetPointsAttr().Get(1)) == sum(counts)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"{root}/cells"))
    assert len(mesh.GetPointsAttr().Get(1)) == len(walled[1]["cells"].x)


@pytest.mark.parametrize("kind", ["ply", "obj"])
def test_sequences_hold_the_films_as_lines(kind, walled, tmp_path):
    from spume.exports.sequence import write_frame

    assert write_frame(contents(walled, [0], "points", None), tmp_path, kind, False, 0) == 2
    arcs = walled[0]["arcs"]
    text = (tmp_path / f"arcs_00000.{kind}").read_bytes()
    if kind == "obj":
        assert text.decode().count("\nl ") == len(arcs.lines) - 1
    else:
        assert f"element edge {len(arcs.x) - (len(arcs.lines) - 1)}".encode() in text


def test_the_viewer_shows_bubbles_and_films(walled, tmp_path):
    from spume.look.viewer.watched_run import INK, watch

    watched = watch(walled.path)
    assert not watched.spatial
    assert {"pressure", "area", "sides"} <= set(watched.names)
    shown = watched.frame(1, "points", ["pressure"])
    cells, arcs = shown["cells"], shown["arcs"]
    assert len(cells.triangles) == len(walled[1]["cells"].triangles)
    assert len(np.unique(watched.color(cells, "pressure"), axis=0)) > 1
    assert np.all(watched.color(arcs, "pressure") == INK), "films have no pressure of their own"
    assert len(arcs.vertices) == 2 * len(walled[1]["arcs"].x)
    middle = 0.5 * (arcs.vertices[0::2] + arcs.vertices[1::2])
    np.testing.assert_allclose(middle[:, :2], walled[1]["arcs"].x, atol=1e-6)
    assert np.all(arcs.vertices[:, 2] > 0.0), "in front of the bubbles"


def test_the_page_holds_bubbles_and_films(walled, tmp_path):
    pytest.importorskip("matplotlib")
    from spume.look.viewer.page import write_page

    assert write_page([walled.path], tmp_path / "foam.html") > 10_000
