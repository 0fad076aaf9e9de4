"""Drawn and exported outlines are the foam."""

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.drawing import cell_outlines
from spume.dryfoam.dynamics.deformation import deformation_of
from spume.dryfoam.export import save_svg
from spume.dryfoam.statistics import aboav_weaire, second_moment, summary


@pytest.fixture(params=["periodic", "free"])
def foam(request):
    foam = Foam.voronoi(12, request.param, seed=2)
    foam.equilibrate()
    return foam


def svg_area(path):
    """Signed area of an SVG path of M, L, A commands, by the segment formula, y pointing down."""
    words = path.split()
    start = at = np.array([float(words[1]), float(words[2])])
    k, area = 3, 0.0
    while words[k] != "Z":
        if words[k] == "L":
            to, bulge, k = np.array([float(w) for w in words[k + 1 : k + 3]]), 0.0, k + 3
        else:
            radius, large, sweep = float(words[k + 1]), int(words[k + 4]), int(words[k + 5])
            to = np.array([float(w) for w in words[k + 6 : k + 8]])
            half = np.arcsin(min(1.0, np.hypot(*(to - at)) / (2 * radius)))
            half = np.pi - half if large else half
            bulge = radius**2 * (half - np.sin(half) * np.cos(half)) * (1 if sweep else -1)
            k += 8
        area += 0.5 * ((at[0] - start[0]) * (to[1] - start[1]) - (at[1] - start[1]) * (to[0] - start[0])) + bulge
        at = to
    return -area


def test_svg_arcs_enclose_the_cells_exactly(foam, tmp_path):
    """Coordinates are written with nine digits, so areas agree to about 1e-7."""
    save_svg(foam.network, tmp_path / "foam.svg")
    paths = [p for p in ElementTree.parse(tmp_path / "foam.svg").iter() if p.tag.endswith("path")]
    assert len(paths) == foam.cells
    for path, label, area in zip(paths, foam.labels, foam.areas, strict=True):
        assert path.get("id") == f"cell-{label}"
        assert svg_area(path.get("d")) == pytest.approx(area, rel=1e-6)


def test_outlines_of_cells_tile_the_foam(foam):
    """Arcs in steps of 6° lose or gain up to (6°)²/12 of a segment, below 1e-3 of a cell; in a box they cancel."""
    assert len(cell_outlines(foam.network)) == foam.cells
    total = 0.0
    for outline in cell_outlines(foam.network):
        x, y = (outline - outline[0]).T
        total += 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    assert total == pytest.approx(foam.areas.sum(), rel=1e-3)


def test_weaires_sum_rule():
    """⟨n m(n)⟩ = ⟨n²⟩ = 36 + μ2 exactly in a periodic foam."""
    network = Foam.voronoi(200, "periodic", seed=0).network
    n, product = aboav_weaire(network)
    weights = np.bincount(network.sides(), minlength=n.max() + 1)[n] / network.cells
    assert np.sum(weights * product) == pytest.approx(36.0 + second_moment(network), rel=1e-12)


@pytest.mark.parametrize("shading", ["pressure", "sides", "area", "none"])
def test_pictures_are_drawn(foam, shading, tmp_path):
    pytest.importorskip("matplotlib")
    from spume.dryfoam.picture import save_picture

    save_picture(foam.network, tmp_path / "foam.png", shading, size=2.0)
    assert (tmp_path / "foam.png").read_bytes().startswith(b"\x89PNG")


def test_the_record_of_a_run_is_that_of_its_increments():
    """What a run's diagnostics say frame by frame gives back the stress-strain record of the same shear."""
    straight, framed = (Foam.voronoi(12, "periodic", seed=2) for _ in range(2))
    record = straight.shear(0.1, steps=5)
    framed.equilibrate()
    began = framed.flips
    records = [{"strain": 0.0, **summary(framed)}]
    for k in range(1, 6):
        framed.shear(0.02, steps=1)
        records.append({"strain": 0.02 * k, **summary(framed)})
    found = deformation_of(records)
    assert found.strain == pytest.approx(record.strain)
    # five shears of 0.02 move the box as one of 0.1 in five parts does, up to rounding and the tolerance of 1e-9
    assert found.shear_stress == pytest.approx(record.shear_stress, abs=1e-7)
    assert found.energy == pytest.approx(record.energy, rel=1e-7)
    assert [found.flips[0] - began, *found.flips[1:]] == record.flips


def test_pages_are_drawn(foam, tmp_path):
    pytest.importorskip("matplotlib")
    from spume.dryfoam.picture import save_frame_times, save_statistics, save_stress_strain

    records = [{"time": 0.0, **summary(foam)}]
    foam.coarsen(0.05)
    records.append({"time": 0.05, **summary(foam)})
    save_statistics(foam.network, records, tmp_path / "statistics.png")
    save_stress_strain(foam.shear(0.02), tmp_path / "stress-strain.png")
    save_frame_times([100, 50, 10], [1.0, 0.4, 0.1], tmp_path / "frame-times.png", paper={100: 2.0})
    for name in ("statistics", "stress-strain", "frame-times"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("span", [(1.0, 3.0), (200.0, 2000.0), (1e-3, 1e3)])
def test_labels_of_logarithmic_axes_do_not_overlap(span):
    pytest.importorskip("matplotlib", reason="needs the extra 'look'")
    from matplotlib.figure import Figure

    from spume.dryfoam.picture import _plain_log_ticks

    figure = Figure(figsize=(4, 3.5))
    axes = figure.add_subplot()
    axes.loglog(span, span)
    _plain_log_ticks(axes)
    figure.tight_layout()
    figure.draw_without_rendering()
    for labels, side in ((axes.get_xticklabels(which="both"), 0), (axes.get_yticklabels(which="both"), 1)):
        boxes = [label.get_window_extent().get_points()[:, side] for label in labels if label.get_text()]
        shown = sorted(box for box in map(tuple, boxes) if box[1] > box[0])
        assert len(shown) >= 2
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(shown))
