"""Logs of a run: tables whose entries have a time; each frame contains those since the previous frame."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Population
from spume.frames.reader import Run


def log_populations(run: Run) -> list[Population]:
    """The populations of the run that are logs."""
    return [
        each
        for each in run.stored_populations
        if each.kind == "table" and any(field.name == "time" for field in each.fields)
    ]


def log_table(run: Run, log: Population) -> dict[str, NDArray[Any]]:
    """The columns of a log over the whole run; a field with components has a column for each: place_0, place_1."""
    columns: dict[str, NDArray[Any]] = {}
    frames = [frame[log.name] for frame in run if log.name in frame.populations]
    for field in log.fields:
        parts = [frame[field.name] for frame in frames if field.name in frame]
        values = np.concatenate(parts) if parts else field.allocate(0)
        if not field.shape:
            columns[field.name] = values
            continue
        count = math.prod(field.shape)  # given to reshape, because an empty array does not determine it
        flat = values.reshape(len(values), count)
        columns |= {f"{field.name}_{k}": flat[:, k] for k in range(count)}
    return columns
