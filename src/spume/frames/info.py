"""What a run's folder holds, in words and as JSON."""

from typing import Any

import numpy as np

from spume.frames.reader import Run
from spume.run.loop import SECONDS

COLUMNS = ("frame", "time", "points", "mass", "kinetic_energy", "elastic_energy", "volume", "dt", "steps")
"""The diagnostics shown as columns, where a method reports them."""


def describe_run(run: Run) -> dict[str, Any]:
    """The run as one JSON-serialisable object."""
    return {
        "scene": run.name,
        "title": run.title,
        "method": run.method,
        "version": run.version,
        "complete": run.complete,
        "frames": run.diagnostics,
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
    return [heading, *lines, *_stage_lines(frames)]


def _stage_lines(frames: list[dict[str, Any]]) -> list[str]:
    """The wall time of each stage since the start, with its part of the whole."""
    seconds = frames[-1].get(SECONDS) if frames else None
    if not seconds:
        return []
    whole = sum(seconds.values())
    shares = sorted(seconds.items(), key=lambda item: -item[1])
    return ["", "time per stage", *(f"{spent:10.3g} s  {spent / whole:6.1%}  {stage}" for stage, spent in shares)]


def describe_frame(run: Run, number: int) -> dict[str, Any]:
    """One frame: its diagnostics and the shape, unit and range of each field."""
    frame = run[number]
    fields = {}
    for declared in run.fields:
        if declared.name in frame:
            values = frame[declared.name]
            about: dict[str, Any] = {"shape": list(values.shape), "unit": declared.unit}
            about["description"] = declared.description
            if values.size:
                about |= {"min": values.min().item(), "max": values.max().item(), "mean": float(np.mean(values))}
            fields[declared.name] = about
    return run.diagnostics[number] | {"fields": fields}


def frame_lines(run: Run, number: int) -> list[str]:
    """One frame as lines of text."""
    about = describe_frame(run, number)
    fields = about.pop("fields")
    lines = [f"{key:24} {_cell(value)}" for key, value in about.items()]
    for name, field in fields.items():
        shape = "×".join(str(n) for n in field["shape"])
        span = f"{field['min']:.6g} to {field['max']:.6g}, mean {field['mean']:.6g}" if "min" in field else "empty"
        lines.append(f"{name:12} {shape:12} {span} {field['unit']}  {field['description']}")
    return lines


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "[" + ", ".join(_cell(item) for item in value) + "]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    return "-" if value is None else str(value)
