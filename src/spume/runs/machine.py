"""What runs have taken on this machine, kept beside the compiled kernels, for estimates.

A file contains, for each kind of scene (method, integrator, dimension), the longest time that compiling its kernels has
taken, and the ratios of the times of its last runs to the times that were expected.
"""

import contextlib
import json
import math
import statistics
from pathlib import Path
from typing import Any, TypeGuard

from spume.errors import CacheError
from spume.scene.common import Scene
from spume.whole_files import whole_file

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
KEPT = 9
"""Runs of a kind whose ratios are kept. Their median counts: one of them may have been unusually slow."""


def kind_of(scene: Scene) -> str:
    """The kind of a scene: scenes of a kind use about the same kernels."""
    integrator = getattr(getattr(scene, "time", None), "integrator", "")
    dimension = getattr(scene, "dimension", 2)
    return f"{scene.method} {integrator} {dimension}D"


def record_compilation(scene: Scene, seconds: float) -> None:
    """Keep the time that compiling took, if it is the longest so far: a run may find some of its kernels."""
    known = _compilation(_read().get(kind_of(scene), {})) or 0.0
    if seconds > max(known, LEAST_COMPILATION):
        _update(kind_of(scene), "compilation", round(seconds, 4))


def record_run(scene: Scene, steps: int, seconds: float, expected: float) -> None:
    """Keep how long `steps` took [s] over what was expected [s]."""
    if steps >= LEAST_STEPS and expected > 0.0:
        earlier = _ratios(_read().get(kind_of(scene), {}))
        _update(kind_of(scene), "ratios", [*earlier, round(seconds / expected, 4)][-KEPT:])


def compilation_time(scene: Scene) -> float:
    """Expected time to compile the kernels of a scene [s]: as measured for its kind, or COMPILATION times the ratio
    that other kinds have shown."""
    measured = {kind: seconds for kind, entry in _read().items() if (seconds := _compilation(entry))}
    kind = kind_of(scene)
    if kind in measured:
        return measured[kind]
    ratios = [seconds / _reference(other) for other, seconds in measured.items()]
    return _reference(kind) * (statistics.median(ratios) if ratios else 1.0)


def known_ratio(scene: Scene) -> float | None:
    """Time of runs of scenes of this kind over the expected time, the median of the last ones; None if there were
    none."""
    found = _ratios(_read().get(kind_of(scene), {}))
    return statistics.median(found) if found else None


def _reference(kind: str) -> float:
    method, integrator, _ = kind.split(" ")
    return COMPILATION.get(method, COMPILATION["mpm"]) * (IMPLICIT if "implicit" in integrator else 1.0)


def _file() -> Path:
    from spume.numerics.jit import cache_directory  # loads the compiler

    return cache_directory().parent / "machine.json"


def _read() -> dict[str, dict[str, Any]]:
    """What is known of each kind; nothing if the file does not exist or is damaged."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {kind: entry for kind, entry in found.items() if kind.count(" ") == 2 and isinstance(entry, dict)}


def _compilation(entry: dict[str, Any]) -> float | None:
    """Time to compile [s]."""
    value = entry.get("compilation")
    return float(value) if _usable(value) else None


def _ratios(entry: dict[str, Any]) -> list[float]:
    """Ratios of the last runs, the latest at the end."""
    found = entry.get("ratios")
    return [float(value) for value in found if _usable(value)] if isinstance(found, list) else []


def _usable(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0.0


def _update(kind: str, key: str, value: float | list[float]) -> None:
    """Write a value; estimates do without it where the folder cannot be written."""
    known = _read()
    known[kind] = {**known.get(kind, {}), key: value}
    with contextlib.suppress(CacheError), whole_file(_file()) as partial:
        partial.write_text(json.dumps(known, indent=1), encoding="utf-8")
