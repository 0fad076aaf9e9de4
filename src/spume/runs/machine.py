"""What runs have taken on this machine, kept beside the compiled kernels, for estimates.

A file contains, for each kind of scene (method, integrator, dimension), the longest time that compiling its kernels has
taken, and the ratio of the time of its last run to the time that was expected.
"""

import contextlib
import json
import math
import os
import statistics
import uuid
from pathlib import Path
from typing import Any

from spume.scene.common import Scene

COMPILATION = {
    "mpm": 36.0,
    "continuum-foam": 50.0,
    "sand-water": 60.0,
    "point-based": 40.0,
    "dry-foam": 40.0,
}
"""Time to compile the kernels of a method [s], on two cores of 2021: measured for mpm and continuum-foam, guessed for
the others. It counts only until a run has shown how long it takes."""
IMPLICIT = 1.5
"""Time to compile the kernels of an implicit step over that of an explicit one."""
LEAST_COMPILATION = 1.0
"""Shorter compilation is not recorded [s]."""
LEAST_STEPS = 50
"""Runs with fewer steps are not recorded."""


def kind_of(scene: Scene) -> str:
    """The kind of a scene: scenes of a kind use about the same kernels."""
    integrator = getattr(getattr(scene, "time", None), "integrator", "")
    dimension = getattr(scene, "dimension", 2)
    return f"{scene.method} {integrator} {dimension}D"


def record_compilation(scene: Scene, seconds: float) -> None:
    """Keep the time that compiling took, if it is the longest so far: a run may find some of its kernels."""
    known = _read().get(kind_of(scene), {}).get("compilation", 0.0)
    if seconds > max(known, LEAST_COMPILATION):
        _update(kind_of(scene), "compilation", seconds)


def record_run(scene: Scene, steps: int, seconds: float, expected: float) -> None:
    """Keep how long `steps` took [s] over what was expected [s]."""
    if steps >= LEAST_STEPS and expected > 0.0:
        _update(kind_of(scene), "ratio", seconds / expected)


def compilation_time(scene: Scene) -> float:
    """Expected time to compile the kernels of a scene [s]: as measured for its kind, or COMPILATION times the ratio
    that other kinds have shown."""
    measured = {kind: entry["compilation"] for kind, entry in _read().items() if "compilation" in entry}
    kind = kind_of(scene)
    if kind in measured:
        return measured[kind]
    ratios = [seconds / _reference(other) for other, seconds in measured.items()]
    return _reference(kind) * (statistics.median(ratios) if ratios else 1.0)


def known_ratio(scene: Scene) -> float | None:
    """Time of the last run of a scene of this kind over the expected time; None if there was none."""
    found: float | None = _read().get(kind_of(scene), {}).get("ratio")
    return found


def _reference(kind: str) -> float:
    method, integrator, _ = kind.split(" ")
    return COMPILATION.get(method, COMPILATION["mpm"]) * (IMPLICIT if "implicit" in integrator else 1.0)


def _file() -> Path:
    from spume.numerics.jit import cache_directory  # loads the compiler

    return cache_directory().parent / "machine.json"


def _read() -> dict[str, dict[str, float]]:
    """What is known; nothing if the file does not exist or is damaged."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {kind: _positive_numbers(entry) for kind, entry in found.items() if kind.count(" ") == 2}


def _positive_numbers(entry: Any) -> dict[str, float]:
    if not isinstance(entry, dict):
        return {}
    return {
        key: float(value)
        for key, value in entry.items()
        if isinstance(value, int | float) and math.isfinite(value) and value > 0.0
    }


def _update(kind: str, key: str, value: float) -> None:
    """Write a value; estimates do without it where the folder cannot be written."""
    known = _read()
    known[kind] = {**known.get(kind, {}), key: round(value, 4)}
    partial = _file().with_name(f"machine.{uuid.uuid4().hex[:12]}")
    with contextlib.suppress(OSError):
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(known, indent=1), encoding="utf-8")
        os.replace(partial, _file())
