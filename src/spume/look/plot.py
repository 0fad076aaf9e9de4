"""Plots of a run's diagnostics: energy, momentum, volume, points, time spent in each stage."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spume.errors import SceneError
from spume.extras import require
from spume.frames.measurements import MeasuredSeries
from spume.frames.reader import Run
from spume.matter.energy_terms import UNACCOUNTED
from spume.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENERGIES = ("kinetic_energy", "elastic_energy", "gravitational_energy", "dissipated_energy")
BUDGET = "energy_budget"
FORMATS = ("png", "svg", "pdf")
FLAT = 1e-3
"""Change of a quantity, relative to its size, that cannot be seen in a plot that includes zero."""
SMALL_SHARE = 0.02
"""Stages that take less than this part of the time are drawn as one."""
BOOKKEEPING = {
    "angular_momentum", "cloud_density", "points_inserted", "points_removed", "pairs_merged", "degenerate_averages",
    "repeated_steps", "unconverged_steps", "worst_residual", "solver_iterations", "linear_iterations", "cycles",
    "restarts", "fallbacks", "saddles", "stuck", "area_error", "angle_error",
}  # fmt: skip
"""Diagnostics of the method rather than of the material."""
Entries = list[dict[str, Any]]


def plot_energy(run: Run, file: Path, numbers: list[int]) -> list[str]:
    """Draw where the energy of the frames `numbers` came from and went; return the titles of the panels."""
    entries = [run.diagnostics[number] for number in numbers]
    if not any(entry.get(BUDGET) for entry in entries):
        raise SceneError(
            f"'{run.path}' has no energy budget: run the scene again with --set frames.energy=true, which the methods "
            "mpm, continuum-foam and sand-water know; runs of point-based scenes always have one"
        )
    panels = [("energy", _energy), ("energy gained since the start", _budget), ("unaccounted for", _unaccounted)]
    _write(_figure(run, panels, entries), file)
    return [title for title, _ in panels]


def plot_run(run: Run, file: Path, numbers: list[int], everything: bool = False) -> tuple[list[str], int]:
    """Draw the diagnostics of the frames `numbers` into `file` (PNG, SVG or PDF, by its suffix).

    Returns the titles of the panels, and how many more `everything` would draw: those that do not vary and those of
    BOOKKEEPING. A panel exists if at least one frame reports its diagnostics, so methods with other diagnostics can be
    plotted, too.
    """
    entries = [run.diagnostics[number] for number in numbers]
    known = [panel for panel in PANELS if any(_reported(entry.get(key)) for entry in entries for key in panel[2])]
    known += [(name, _plain(name), (name,)) for name in _others(entries)]
    chosen = [panel for panel in known if everything or any(_worth_seeing(entries, key) for key in panel[2])]
    panels = [(series.name, _measured(series, numbers)) for series in run.measurements.values()]
    panels += [(title, draw) for title, draw, _ in chosen]
    _write(_figure(run, panels, entries), file)
    return [title for title, _ in panels], len(known) - len(chosen)


def _write(figure: "Figure", file: Path) -> None:
    kind = file.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise SceneError(f"'{file}': plots are written as {', '.join(FORMATS)}, by the suffix of the file")
    with whole_file(file) as partial:
        figure.savefig(partial, format=kind, dpi=150)


def _reported(value: object) -> bool:
    return value is not None and value != [] and value != {}


def _worth_seeing(entries: Entries, key: str) -> bool:
    """Whether a diagnostic is about the material and its values differ by more than FLAT of their size."""
    if key in BOOKKEEPING:
        return False
    if key in ("seconds", "step_residuals", BUDGET):
        return any(entry.get(key) for entry in entries)
    values = series(entries, key)[1]
    finite = values[np.isfinite(values)]
    return bool(finite.size and np.ptp(finite) > FLAT * np.abs(finite).max())


def _figure(run: Run, panels: Sequence[tuple[str, Callable[["Axes", Entries], None]]], entries: Entries) -> "Figure":
    require("matplotlib", "drawing plots")
    from matplotlib.figure import Figure

    columns = min(3, max(1, len(panels)))
    rows = -(-len(panels) // columns) or 1
    figure = Figure(figsize=(4.6 * columns, 3.1 * rows + 0.5), layout="constrained")
    figure.suptitle(f"{run.title}  ({run.name})", fontsize=11, parse_math=False)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, (title, draw) in zip(grid, panels):
        draw(axes, entries)
        axes.set_title(title, fontsize=10, parse_math=False)
        axes.set_xlabel("time [s]", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, frameon=False)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    return figure


def series(entries: Entries, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and values of a diagnostic in the frames that report it."""
    pairs = [(entry["time"], entry[key]) for entry in entries if entry.get(key) is not None]
    times = np.array([time for time, _ in pairs], dtype=float)
    return times, np.array([value for _, value in pairs], dtype=float)


def _energy(axes: "Axes", entries: Entries) -> None:
    total, complete = np.zeros(len(entries)), True
    for key in ENERGIES:
        times, values = series(entries, key)
        if key == "dissipated_energy" and any(entry.get(BUDGET) for entry in entries):
            times, terms = _terms(entries)
            values = -terms["flow"]  # more accurate than the record of the laws
        if len(values):
            # Only differences of the energy in gravity mean anything: its zero is where the scene has its origin.
            shown = values - values[0] if key == "gravitational_energy" else values
            axes.plot(times, shown, label=key.removesuffix("_energy") + (" (change)" if shown is not values else ""))
            complete = complete and len(times) == len(entries)
            total = total + shown if complete else total
    if complete:
        axes.plot([entry["time"] for entry in entries], total, "k--", linewidth=1, label="sum")
    axes.set_ylabel("J", fontsize=8)


def _terms(entries: Entries) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Times [s] and values [J] of the terms of the energy budget, in the frames that report it."""
    known = [entry for entry in entries if entry.get(BUDGET)]
    names = dict.fromkeys(name for entry in known for name in entry[BUDGET])
    terms = {name: np.array([entry[BUDGET].get(name, 0.0) for entry in known], dtype=float) for name in names}
    return np.array([entry["time"] for entry in known], dtype=float), terms


def _budget(axes: "Axes", entries: Entries) -> None:
    times, terms = _terms(entries)
    largest = max((np.abs(values).max() for values in terms.values()), default=0.0)
    for name, values in terms.items():
        if np.abs(values).max() > FLAT * largest:
            axes.plot(times, values, "k--" if name == UNACCOUNTED else "-", label=name)
    axes.set_ylabel("J", fontsize=8)


def _unaccounted(axes: "Axes", entries: Entries) -> None:
    times, terms = _terms(entries)
    put_in = max(sum(np.maximum(values, 0.0) for name, values in terms.items() if name != UNACCOUNTED).max(), 1e-300)
    axes.plot(times, 100.0 * terms[UNACCOUNTED] / put_in)
    axes.set_ylabel("% of what was put in", fontsize=8)


def _vector(key: str, unit: str) -> Callable[["Axes", Entries], None]:
    def draw(axes: "Axes", entries: Entries) -> None:
        times, values = series(entries, key)
        for component, name in zip(values.T, "xyz"):
            axes.plot(times, component, label=name)
        axes.set_ylabel(unit, fontsize=8)

    return draw


def _volume(axes: "Axes", entries: Entries) -> None:
    times, values = series(entries, "volume")
    axes.plot(times, values, label="sum of the points' volumes")
    axes.set_ylabel("m³", fontsize=8)


def _ratio(axes: "Axes", entries: Entries) -> None:
    for key, name in (("volume_ratio_min", "smallest"), ("volume_ratio_max", "largest")):
        times, values = series(entries, key)
        axes.plot(times, values, label=name)
    axes.set_ylabel("J", fontsize=8)


def _lines(key: str, unit: str) -> Callable[["Axes", Entries], None]:
    def draw(axes: "Axes", entries: Entries) -> None:
        axes.plot(*series(entries, key))
        axes.set_ylabel(unit, fontsize=8)
        low, high = axes.get_ylim()
        if low > 0 and high / low > 1e3:
            axes.set_yscale("log")

    return draw


def _measured(series: MeasuredSeries, numbers: list[int]) -> Callable[["Axes", Entries], None]:
    def draw(axes: "Axes", entries: Entries) -> None:
        times, values = series.times[numbers], series.values[numbers]
        if values.ndim == 1:
            axes.plot(times, values)
        else:
            for component, letter in zip(values.T, "xyz"):
                axes.plot(times, component, label=letter)
        axes.set_ylabel(series.unit, fontsize=8)

    return draw


def _plain(key: str) -> Callable[["Axes", Entries], None]:
    return _lines(key, "")


def _seconds(axes: "Axes", entries: Entries) -> None:
    timed = [entry for entry in entries if entry.get("seconds")]
    stages = sorted(timed[-1]["seconds"], key=lambda stage: -timed[-1]["seconds"][stage])
    times = [entry["time"] for entry in timed]
    whole = sum(timed[-1]["seconds"].values())
    shown = [stage for stage in stages if timed[-1]["seconds"][stage] >= SMALL_SHARE * whole]
    spent = [[entry["seconds"].get(stage, 0.0) for entry in timed] for stage in shown]
    if len(shown) < len(stages):
        rest = [sum(entry["seconds"].values()) - sum(own) for entry, own in zip(timed, zip(*spent))]
        shown, spent = [*shown, f"{len(stages) - len(shown)} others"], [*spent, rest]
    axes.stackplot(times, spent, labels=[_label(stage) for stage in shown], alpha=0.85)
    axes.set_ylabel("wall time so far [s]", fontsize=8)


def _residuals(axes: "Axes", entries: Entries) -> None:
    times, values = np.array([step for entry in entries for step in entry.get("step_residuals", ())]).T
    axes.semilogy(times, np.maximum(values, np.finfo(float).tiny), ".", markersize=3)
    axes.set_ylabel("relative residual", fontsize=8)


def _label(name: str) -> str:
    """A name from a file, escaped for matplotlib, which would interpret dollar signs as mathematics."""
    return name.replace("_", " ").replace("$", r"\$")


PANELS: list[tuple[str, Callable[["Axes", Entries], None], tuple[str, ...]]] = [
    ("energy", _energy, ENERGIES),
    ("energy gained since the start", _budget, (BUDGET,)),
    ("momentum", _vector("momentum", "kg m/s"), ("momentum",)),
    ("angular momentum", _vector("angular_momentum", "kg m²/s"), ("angular_momentum",)),
    ("volume", _volume, ("volume",)),
    ("volume ratio", _ratio, ("volume_ratio_min", "volume_ratio_max")),
    ("mass", _lines("mass", "kg"), ("mass",)),
    ("points", _lines("points", "points"), ("points",)),
    ("greatest speed", _lines("speed_max", "m/s"), ("speed_max",)),
    ("time step", _lines("dt", "s"), ("dt",)),
    ("residuals of implicit steps", _residuals, ("step_residuals",)),
    ("time per stage", _seconds, ("seconds",)),
]
"""Title, how it is drawn, the diagnostics it needs one of."""

KNOWN = {key for _, _, keys in PANELS for key in keys} | {"frame", "time", "steps"}


def _others(entries: Entries) -> list[str]:
    """Other numbers that a method reports."""
    names = {key: None for entry in entries for key, value in entry.items() if isinstance(value, int | float)}
    return [name for name in names if name not in KNOWN]
