"""The contents of a run's folder, as text and as JSON."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.frames.logs import log_populations, log_table
from spume.frames.measurements import MeasuredSeries
from spume.frames.reader import Run
from spume.runs.loop import RANKS, SECONDS, WARNINGS
from spume.runs.progress import rank_sentence
from spume.runs.storage import plain

COLUMNS = (
    "frame", "time", "points", "mass", "kinetic_energy", "elastic_energy", "volume", "energy", "mu2", "strain",
    "shear_stress", "released", "flips", "vanished", "dt", "steps",
)  # fmt: skip
"""The diagnostics shown as columns, if a method reports them."""
LISTED = 20
"""Entries of a log that are shown."""


def describe_run(run: Run) -> dict[str, Any]:
    """The run as one JSON-serialisable object."""
    return {
        "scene": run.name,
        "title": run.title,
        "method": run.method,
        "version": run.version,
        "complete": run.complete,
        "measurements": {name: _describe_series(series) for name, series in run.measurements.items()},
        "frames": run.diagnostics,
    }


def _describe_series(series: MeasuredSeries) -> dict[str, Any]:
    return {
        "unit": series.unit,
        "times": series.times.tolist(),
        "values": plain(series.values),
        "reduction": series.reduction,
        "value": plain(series.value),
    }


def run_lines(run: Run) -> list[str]:
    """The run as lines of text: a heading, then a line per frame."""
    state = "complete" if run.complete else f"unfinished: spume resume {run.path}"
    heading = f"{run.title} ({run.name}, {run.method}, spume {run.version}), {len(run)} frames, {state}"
    frames = run.diagnostics
    columns = [name for name in COLUMNS if any(name in entry for entry in frames)]
    rows = [columns, *([_cell(entry.get(name)) for name in columns] for entry in frames)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(columns))]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) for row in rows]
    return [
        heading,
        *lines,
        *_measurement_lines(run),
        *_warning_lines(frames),
        *_log_lines(run),
        *_stage_lines(frames),
        *_rank_lines(frames),
    ]


def _measurement_lines(run: Run) -> list[str]:
    """Each measurement as one number."""
    found = run.measurements.values()
    width = max((len(series.name) for series in found), default=0)
    lines = [
        f"{series.name:{width}}  {_cell(series.value)} {series.value_unit}  ({series.reduction})" for series in found
    ]
    return ["", "measurements", *lines] if lines else []


def _warning_lines(frames: list[dict[str, Any]]) -> list[str]:
    """The last warning about each thing."""
    last = {name: sentence for entry in frames for name, sentence in entry.get(WARNINGS, {}).items()}
    return ["", *(f"warning: {sentence}" for sentence in last.values())] if last else []


def _log_lines(run: Run) -> list[str]:
    """The latest entries of each log, and how to export all of them."""
    lines = []
    for log in log_populations(run):
        table = log_table(run, log)
        names, rows = list(table), list(zip(*(values.tolist() for values in table.values()), strict=True))
        if not rows:
            continue
        more = f", the last {LISTED} of them" if len(rows) > LISTED else ""
        lines += ["", f"{log.name}: {len(rows)} entries{more} (spume export {run.path} --to csv writes all)"]
        cells = [names, *([_cell(value) for value in row] for row in rows[-LISTED:])]
        widths = [max(len(row[k]) for row in cells) for k in range(len(names))]
        lines += ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) for row in cells]
    return lines


def _stage_lines(frames: list[dict[str, Any]]) -> list[str]:
    """The wall time of each stage since the start, and its share of the total."""
    seconds = frames[-1].get(SECONDS) if frames else None
    if not seconds:
        return []
    whole = sum(seconds.values())
    shares = sorted(seconds.items(), key=lambda item: -item[1])
    return ["", "time per stage", *(f"{spent:10.3g} s  {spent / whole:6.1%}  {stage}" for stage, spent in shares)]


def _rank_lines(frames: list[dict[str, Any]]) -> list[str]:
    """What the ranks of the last part of the run did."""
    report = frames[-1].get(RANKS) if frames else None
    return ["", rank_sentence(report)] if report else []


def describe_frame(run: Run, number: int) -> dict[str, Any]:
    """One frame: its diagnostics and, for each population, the shape, unit and range of each field."""
    frame = run[number]
    populations: dict[str, Any] = {}
    for name in (each.name for each in run.stored_populations):
        population = frame.populations[name]
        fields: dict[str, Any] = {}
        for declared in population.declared.fields:
            if declared.name in population:
                fields[declared.name] = _describe_field(declared, population[declared.name])
        populations[name] = {"kind": population.declared.kind, "spacing": population.declared.spacing, "fields": fields}
    # "fields" are the short names, as in `frame.x`: those of the first population that has them.
    short = {name: about for each in reversed(populations.values()) for name, about in each["fields"].items()}
    return run.diagnostics[number] | {"populations": populations, "fields": short}


def _describe_field(declared: Field, values: NDArray[Any]) -> dict[str, Any]:
    about: dict[str, Any] = {"shape": list(values.shape), "unit": declared.unit, "description": declared.description}
    if values.size:
        about |= {"min": values.min().item(), "max": values.max().item(), "mean": float(np.mean(values))}
    return about


def frame_lines(run: Run, number: int) -> list[str]:
    """One frame as lines of text."""
    about = describe_frame(run, number)
    populations = about.pop("populations")
    del about["fields"]
    lines = [f"{key:24} {_cell(value)}" for key, value in about.items()]
    for name, population in populations.items():
        spacing = f", {population['spacing']:.4g} m apart" if population["spacing"] else ""
        lines += ["", f"{name} ({population['kind']}{spacing})"]
        for field, values in population["fields"].items():
            shape = "×".join(str(n) for n in values["shape"])
            span = "empty"
            if "min" in values:
                span = f"{values['min']:.6g} to {values['max']:.6g}, mean {values['mean']:.6g}"
            lines.append(f"  {field:16} {shape:12} {span} {values['unit']}  {values['description']}")
    return lines


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "[" + ", ".join(_cell(item) for item in value) + "]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    return "-" if value is None else str(value)
