"""Plots of the table of a sweep, its contact sheet, and the film that shows its runs side by side."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spume.extras import require
from spume.frames.reader import Run, open_run
from spume.frames.selection import spread
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.png import read_png, write_png
from spume.look.pictures.sheet import tiled
from spume.look.pictures.stills import draw_stills, film
from spume.sweeps.jobs import state_of
from spume.sweeps.plan import Plan
from spume.sweeps.table import Table
from spume.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ON_SHEET = 48
MOST_IN_FILM = 8
"""Runs side by side; of more an even selection is shown."""
NOT_MEASURED = ("run", "status", "frames", "seconds")


def plot_table(folder: Path, keys: list[str], table: Table) -> list[Path]:
    """Plot each measurement against each parameter; with two parameters, one line for each value of the other."""
    require("matplotlib", "drawing plots")
    from matplotlib.figure import Figure

    measured = [name for name in table if name not in (*NOT_MEASURED, *keys) and _numeric(table[name])]
    shown = [key for key in keys if _numeric(table[key])]
    if not measured or not shown:
        return []
    figure = Figure(figsize=(4.2 * len(shown), 3.0 * len(measured)), layout="constrained")
    grid = figure.subplots(len(measured), len(shown), squeeze=False)
    for row, name in zip(grid, measured):
        for axes, key in zip(row, shown):
            _plot(axes, table, key, name, [other for other in keys if other != key])
    file = folder / "plot.png"
    with whole_file(file) as partial:
        figure.savefig(partial, format="png", dpi=130)
    return [file]


def _plot(axes: "Axes", table: Table, key: str, name: str, others: list[str]) -> None:
    x, y = _numbers(table[key]), _numbers(table[name])
    groups = [tuple(str(table[other][k]) for other in others) for k in range(len(x))]
    few = sorted(set(groups))
    for group in few if 1 <= len(few) <= 8 else [()]:
        chosen = np.array([not group or each == group for each in groups]) & ~np.isnan(y)
        order = np.argsort(x[chosen], kind="stable")
        label = ", ".join(f"{short(other, others)} {value}" for other, value in zip(others, group))
        several = group or len(few) == 1
        axes.plot(x[chosen][order], y[chosen][order], "o-" if several else "o", markersize=4, label=label or None)
    axes.set_xlabel(key, fontsize=8, parse_math=False)
    axes.set_ylabel(name, fontsize=8, parse_math=False)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, frameon=False)


def _numeric(values: list[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def _numbers(values: list[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.nan if value is None else float(value) for value in values])


def short(key: str, keys: list[str]) -> str:
    """The last part of a key if it is unambiguous.

    >>> short("material.foam.yield_stress", ["material.foam.yield_stress", "grid.cell"])
    'yield_stress'
    """
    last = key.rpartition(".")[2]
    return last if sum(other.rpartition(".")[2] == last for other in keys) <= 1 else key


def label_of(plan: Plan, number: int) -> str:
    """The parameters of a run as text."""
    values = plan.runs[number].parameters
    return ", ".join(
        f"{short(key, plan.keys)} {value:.4g}" if isinstance(value, float) else f"{short(key, plan.keys)} {value}"
        for key, value in values.items()
    )


def _runs(folder: Path, plan: Plan, most: int) -> list[tuple[int, Run]]:
    """Numbers and runs that have frames, at most so many of them."""
    there = [planned.number for planned in plan.runs if state_of(folder / planned.folder)[1] > 0]
    chosen = spread(there, most) if there else []
    return [(number, open_run(folder / plan.runs[number].folder)) for number in chosen]


def contact_sheet_of(folder: Path, plan: Plan) -> list[Path]:
    """The last frames of all runs on one sheet, with their parameters."""
    runs = _runs(folder, plan, MOST_ON_SHEET)
    if not runs:
        return []
    options = PictureOptions(width=480, height=300, quality="preview")
    parts = []
    for number, run in runs:
        place = folder / "pictures" / f"{number:04d}"
        (still,) = draw_stills([run], [label_of(plan, number)], [len(run) - 1], options, place)
        parts.append(read_png(still))
    file = folder / "sheet.png"
    write_png(file, tiled(parts, min(len(parts), math.ceil(math.sqrt(len(parts)))), 6), "sheet")
    return [file]


def film_of(folder: Path, plan: Plan, cluster: str | None) -> list[Path]:
    """A film of the runs side by side, or of an even selection of them."""
    runs = _runs(folder, plan, MOST_IN_FILM)
    if len(runs) < 2:
        return []
    opened = [run for _, run in runs]
    labels = [label_of(plan, number) for number, _ in runs]
    frames = list(range(max(len(run) for run in opened)))
    options = PictureOptions(width=1280, height=720, quality="preview")
    stills = draw_stills(opened, labels, frames, options, folder / "compare", cluster=cluster)
    if len(stills) < 2:
        return []
    file = folder / "compare.mp4"
    film(stills, file, opened[0].scene.frame_rate)
    return [file]
