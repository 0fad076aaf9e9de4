"""Pictures of a dry foam with matplotlib: cells shaded by pressure, sides or area; films; a page of statistics."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from spume.dryfoam.drawing import cell_outlines
from spume.dryfoam.dynamics.deformation import Deformation, deformation_of
from spume.dryfoam.network.half_edges import Floats, Network, network_of
from spume.dryfoam.statistics import aboav_weaire, bulk_cells, second_moment, side_distribution
from spume.errors import MissingExtra, SceneError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shading = Literal["pressure", "sides", "area", "none"]
FEW_DECADES = 300.0
"""Ratio of the limits of a logarithmic axis below which three numbers of each decade have labels."""
COLOUR_MAPS = {"pressure": "Blues", "sides": "RdYlBu_r", "area": "viridis"}


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("look", "matplotlib", "drawing a dry foam") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def shading_values(network: Network, shading: Shading) -> Floats:
    """Value by which each cell is shaded, shape (F,)."""
    if shading == "pressure":
        return network.pressures
    if shading == "sides":
        return network.sides().astype(float)
    if shading == "area":
        return network.targets
    raise SceneError(f"cells are shaded by 'pressure', 'sides', 'area' or 'none', found '{shading}'")


def draw(axes: "Axes", network: Network, shading: Shading = "pressure", line_width: float | None = None) -> None:
    """Draw the foam into matplotlib axes; cells of a periodic foam are drawn with their centres in the box."""
    from matplotlib.collections import PolyCollection

    # arcs of few, large cells must look smooth; those of many small cells may be coarse
    outlines = cell_outlines(network, np.radians(1.0 if network.cells < 2000 else 6.0))
    width = line_width if line_width is not None else float(np.clip(30.0 / np.sqrt(len(outlines)), 0.15, 2.0))
    cells = PolyCollection(outlines, linewidths=width, edgecolors="black")
    if shading == "none":
        cells.set_facecolor("white")
    else:
        cells.set_array(shading_values(network, shading))
        cells.set_cmap(COLOUR_MAPS[shading])
        if shading == "sides":
            cells.set_clim(3, 9)
        elif len(outlines) > 20:  # a few tiny cells with huge pressures would use up the range of colours
            cells.set_clim(*np.percentile(shading_values(network, shading), [5, 95]))
    axes.add_collection(cells)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.axis("off")


def save_picture(network: Network, path: str | Path, shading: Shading = "pressure", size: float = 8.0) -> None:
    """Write a picture of the foam to `path` (PNG, PDF …), `size` inches wide."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(size, size))
    draw(axes, network, shading)
    figure.savefig(path, dpi=150, bbox_inches="tight")
    pyplot.close(figure)


def save_film(networks: Sequence[Network], path: str | Path, shading: Shading = "pressure", rate: int = 12) -> None:
    """Write a film of `networks`, with `rate` pictures per second, to `path` (GIF, or MP4 if ffmpeg or imageio-ffmpeg
    is installed)."""
    pyplot = _pyplot()
    from matplotlib import rcParams
    from matplotlib.animation import FFMpegWriter, PillowWriter

    with contextlib.suppress(ImportError):
        from imageio_ffmpeg import get_ffmpeg_exe

        rcParams["animation.ffmpeg_path"] = get_ffmpeg_exe()
    figure, axes = pyplot.subplots(figsize=(6.4, 6.4))
    writer = PillowWriter(fps=rate) if str(path).endswith(".gif") else FFMpegWriter(fps=rate)
    if not writer.isAvailable():
        raise SceneError("a film of this kind needs ffmpeg: give a name that ends in .gif")
    with writer.saving(figure, str(path), dpi=100):
        for network in networks:
            axes.clear()
            draw(axes, network, shading)
            axes.set_title(f"{network.cells} bubbles")
            writer.grab_frame()
    pyplot.close(figure)


def save_frame_times(
    cells: Sequence[int], seconds: Sequence[float], path: str | Path, paper: Mapping[int, float] | None = None
) -> None:
    """Write a plot like figure 5 of [DryFoam]: time of each frame [s] against its number of cells, both logarithmic;
    `paper` contains published values to compare with."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(6.4, 4.8))
    axes.loglog(cells, seconds, ".", ms=2, color="steelblue", label="frames")
    n = np.array([min(cells), max(cells)], dtype=float)
    at_end = float(np.median(np.asarray(seconds)[np.asarray(cells) > 0.7 * max(cells)]))
    axes.loglog(n, at_end * n / n[1], "k--", lw=0.8, label="proportional to cells")
    if paper:
        axes.loglog(list(paper), list(paper.values()), "rs", label="[DryFoam], first and last frame")
    axes.set(xlabel="cells", ylabel="seconds per frame")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def save_stress_strain(deformation: Deformation, path: str | Path) -> None:
    """Write a plot of stress and energy against strain, with the T1s of each increment."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(3, 1, figsize=(6.4, 7.2), sharex=True, height_ratios=(3, 2, 1))
    axes[0].plot(deformation.strain, deformation.shear_stress, "-", color="steelblue", label="σ_xy")
    axes[0].plot(deformation.strain, deformation.normal_stress_difference, "-", color="darkorange", label="σ_xx - σ_yy")
    axes[0].set(ylabel="stress [N/m]")
    axes[0].legend(frameon=False)
    axes[1].plot(deformation.strain, deformation.energy, "-", color="steelblue")
    axes[1].set(ylabel="energy [J/m]")
    width = float(np.median(np.abs(np.diff(deformation.strain)))) if len(deformation.strain) > 1 else 0.01
    axes[2].bar(deformation.strain, deformation.flips, width=width, color="gray")
    axes[2].set(xlabel="strain", ylabel="T1s")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _plain_log_ticks(axes: "Axes") -> None:
    """Label only 1, 2 and 5 of each decade of logarithmic axes, only 1 if they span many, because more labels would
    overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < FEW_DECADES * low else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def save_statistics(network: Network, records: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write a page of statistics: side distribution and Aboav-Weaire plot of `network` (of a free foam without its
    edge); ⟨A⟩, energy and μ2 over time from `records`, the diagnostics of a run's frames with their times."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 7))
    bulk = bulk_cells(network)
    cells = bulk if np.any(bulk) else None
    n, part = side_distribution(network, cells)
    mu2 = second_moment(network, cells)
    axes[0, 0].bar(n, part, color="steelblue")
    where = "" if network.boundary == "periodic" else " off the edge" if cells is not None else ", including the edge"
    axes[0, 0].set(xlabel="sides n", ylabel=f"fraction of cells{where}", title=f"μ2 = {mu2:.3f}")
    k, product = aboav_weaire(network)
    axes[0, 1].plot(k, product, "o")
    axes[0, 1].plot(k, 5.0 * k + 6.0 + mu2, "-", label="5 n + 6 + μ2")
    axes[0, 1].set(xlabel="sides n", ylabel="n m(n)", title="Aboav-Weaire")
    axes[0, 1].legend()
    time = [record["time"] for record in records]
    for place, name, label in (
        ((0, 2), "mean_area", "⟨A⟩ [m²]"),
        ((1, 0), "energy", "energy [J/m]"),
        ((1, 1), "mu2", "μ2"),
    ):
        axes[place].plot(time, [record[name] for record in records], ".-")
        axes[place].set(xlabel="time [s]", ylabel=label)
    axes[1, 2].loglog(time, [record["cells"] for record in records], ".-")
    axes[1, 2].set(xlabel="time [s]", ylabel="cells")
    _plain_log_ticks(axes[1, 2])
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


class FinishedRun(Protocol):
    """The part of a run opened by `spume.open_run` that its pages show."""

    @property
    def path(self) -> Path: ...
    @property
    def diagnostics(self) -> Sequence[dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> Mapping[str, Any]: ...


def save_pages(run: FinishedRun, out: str | Path | None = None) -> list[Path]:
    """Write the pages of a finished run, opened by `spume.open_run`, into `out` (None: its own folder): statistics of
    its bubbles, and, if it was deformed, stress against strain. Returns the files."""
    target = Path(out) if out is not None else run.path
    target.mkdir(parents=True, exist_ok=True)
    records = [run.diagnostics[number] for number in range(len(run))]
    last = run[len(run) - 1]
    pages = [target / "statistics.png"]
    save_statistics(network_of(last), records, pages[0])
    if any(record["strain"] != 0.0 for record in records):
        pages.append(target / "stress-strain.png")
        save_stress_strain(deformation_of(records), pages[1])
    return pages
