"""Calibration: parameters with which a simulation reproduces a measurement, by least squares over runs.

A trust-region method with bounds (scipy) minimises Σ ((s(θ) − y)/scale)² over the measured values y and the simulated
values s(θ). Every parameter is scaled to 0 to 1 between its bounds, linearly or by its logarithm. Derivatives are
differences over steps of STEP, long enough that the noise of a simulation (single points that come and go) is small in
them; the runs they need are made at once. The uncertainties are those of the linearised fit, s² (JᵀJ)⁻¹ with Student's
t: they include the scatter of the measurement, but not the error of the model.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spume.consent import accepted
from spume.csv_files import write_csv
from spume.errors import CacheError, SceneError
from spume.frames.reader import open_run
from spume.materials.table import parameter_units
from spume.runs.storage import folder_inside, plain, write_json
from spume.scene.common import Scene
from spume.scene.loading import SceneLike, load_scene
from spume.scene.overrides import Changes, Presets, parse_path
from spume.sweeps.execution import execute, suitable_processes
from spume.sweeps.jobs import Job, state_of
from spume.sweeps.samples import Range, parse_variation
from spume.sweeps.targets import AnyTarget, CurveTarget, Target, check_times, read_target
from spume.terminal import tell

Floats = NDArray[np.float64]
STEP = 0.02
"""Step of finite differences, as a fraction of the range of a parameter."""
TOLERANCE = 1e-4
"""The search ends when the relative change of the parameters or of the sum of squares is less than this."""
COVERAGE = 0.95
UNLIKELY = 1e-3
"""Probability of the remaining residuals below which they are not due to the errors of the measurement."""


class _Enough(Exception):
    """The maximum number of evaluations was reached."""


@dataclass(frozen=True)
class Estimate:
    """A fitted parameter."""

    value: float
    limits: tuple[float, float] | None
    """95 % confidence limits; None if the measurement does not determine them."""
    unit: str = ""
    """Unit of the parameter; empty for numbers, and for keys that are not parameters of a material."""


@dataclass(frozen=True)
class Calibration:
    """The result of a calibration."""

    parameters: dict[str, Estimate]
    target: Target
    values: Floats
    """Of the simulation with these parameters, beside `target.values`."""
    evaluations: int
    converged: bool
    notes: tuple[str, ...]
    folder: Path

    @property
    def residual(self) -> float:
        """Root mean square of (simulated − measured)/scale [1]."""
        return float(np.sqrt(np.mean(((self.values - self.target.values) / self.target.scale) ** 2)))

    def record(self) -> dict[str, Any]:
        """Everything as a JSON-serialisable object."""
        found = {
            key: {"value": each.value, "limits_95": each.limits, "unit": each.unit}
            for key, each in self.parameters.items()
        }
        columns = (self.target.labels, self.target.values.tolist(), self.values.tolist())
        compared = [{"what": label, "measured": y, "simulated": s} for label, y, s in zip(*columns)]
        about = {"residual": self.residual, "evaluations": self.evaluations, "converged": self.converged}
        made: dict[str, Any] = plain({"parameters": found, **about, "notes": list(self.notes), "values": compared})
        return made

    def lines(self) -> list[str]:
        """The result as lines of text, the parameters as --set takes them."""
        state = "converged" if self.converged else "not converged"
        lines = [f"# {state} after {self.evaluations} evaluations, residual {self.residual:.3g}"]
        for key, each in self.parameters.items():
            unit = f" {each.unit}" if each.unit else ""
            limits = f"{each.limits[0]:.4g} to {each.limits[1]:.4g}" if each.limits else "uncertainty not known"
            limits += f"{unit} (95 %)" if each.limits else f",{unit}" if unit else ""
            lines.append(f"{key}={each.value:.6g}  # {limits}")
        return [*lines, *(f"# note: {note}" for note in self.notes), f"# {self.folder / 'calibration.json'}"]


def calibrate(
    scene: SceneLike,
    target: str | Path,
    fit: Mapping[str, Range | str] | Sequence[str],
    out: str | Path,
    *,
    material: str | None = None,
    columns: str | None = None,
    interval: str | None = None,
    unit: str | None = None,
    preset: Presets = None,
    changes: Changes = (),
    evaluations: int = 60,
    processes: int | None = None,
    cluster: str | None = None,
    progress: Literal["auto", "none"] = "auto",
) -> Calibration:
    """Find values of the parameters `fit` with which the scene reproduces the measurements of the file `target`.

    - target: CSV with the columns time [s] and names of measurements of the scene; or measure, value and optionally
      error, the standard error; or the curve of a rheometer, which needs no runs.
    - fit: limits by key, {"material.foam.yield_stress": "5:100:log"}; the values of the scene are the start.
    - out: folder for the runs. Called again with the same scene, existing runs are reused.
    - material: the material that a rheometer's curve is of, if the scene has several.
    - columns, interval, unit: how to read a rheometer's file, as for `read_measured`.
    - evaluations: maximum number of runs.
    """
    loaded = load_scene(scene, changes, preset)
    limits = fit_ranges(fit)
    file, folder = Path(target), Path(out)
    wanted = read_target(file, loaded, columns, interval, unit)
    check_times(wanted, loaded, file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheError(f"'{folder}' cannot be made: {error.strerror}") from None

    def note(text: str) -> None:
        if progress == "auto":
            tell(text)

    simulate: Callable[[list[dict[str, Any]]], list[Floats]]
    if isinstance(wanted, CurveTarget):
        simulate = _Rheometer(loaded, wanted, material)
    else:
        simulate = _Runs(loaded, wanted, folder, processes, cluster, note)
    units = {key: unit_of(loaded, key) for key in limits}
    search = _Search(simulate, wanted.target, limits, units, evaluations, note, folder)
    found = search.run([start_of(loaded, key, limits[key]) for key in limits])
    write_json(folder / "calibration.json", found.record())
    return found


def fit_ranges(fit: Mapping[str, Range | str] | Sequence[str]) -> dict[str, Range]:
    """The limits of the parameters by key."""
    pairs = fit.items() if isinstance(fit, Mapping) else [parse_variation(text, "--fit") for text in fit]
    found: dict[str, Range] = {}
    for key, given in pairs:
        limits = parse_variation(f"{key}={given}", "--fit")[1] if isinstance(given, str) else given
        if not isinstance(limits, Range) or limits.scale == "int":
            raise SceneError(f"--fit {key}: it should have limits low:high or low:high:log, as in {key}=1:100:log")
        found[key] = limits
    if not found:
        raise SceneError("a calibration needs at least one parameter, as in --fit material.foam.yield_stress=5:100:log")
    return found


def start_of(scene: Scene, key: str, limits: Range) -> float:
    """Where a parameter of the scene lies between its limits, 0 to 1; in the middle if the scene does not have it."""
    value: Any = scene.resolved()
    for part in parse_path(key):
        inside = isinstance(value, list) and str(part).isdigit() and int(part) < len(value)
        value = value[int(part)] if inside else value.get(part) if isinstance(value, dict) else None
    if value is None:
        scene.changed({key: limits.at(0.5)})  # an unknown key is an error that names it
        return 0.5
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SceneError(f"--fit {key}: its value in the scene is {value!r}, which is not a number")
    if not limits.low <= value <= limits.high:
        raise SceneError(f"--fit {key}: the scene begins with {value:g}, outside {limits.low:g}:{limits.high:g}")
    if limits.scale == "log":
        return math.log(value / limits.low) / math.log(limits.high / limits.low)
    return (value - limits.low) / (limits.high - limits.low)


def unit_of(scene: Scene, key: str) -> str:
    """Unit of a parameter of one of the scene's materials; empty for other keys."""
    table, *path = map(str, parse_path(key))
    laws = {each.name: each.law.family for each in getattr(scene, "materials", ())}
    if table != "material" or len(path) != 2 or path[0] not in laws:
        return ""
    return parameter_units(laws[path[0]]).get(path[1], "")


class _Rheometer:
    """Curves of the material of a scene, without runs."""

    def __init__(self, scene: Scene, target: CurveTarget, material: str | None) -> None:
        self._scene, self._target = scene, target
        names = [each.name for each in getattr(scene, "materials", ())]
        if material is None and len(names) != 1:
            raise SceneError(f"--material is missing: the scene has {', '.join(names) or 'no materials'}")
        if material is not None and material not in names:
            raise SceneError(f"--material {material}: the scene has {', '.join(names) or 'no materials'}")
        self._material = material or names[0]

    def __call__(self, samples: list[dict[str, Any]]) -> list[Floats]:
        found = []
        for values in samples:
            materials = getattr(self._scene.changed(values), "materials", ())
            chosen = next(each for each in materials if each.name == self._material)
            found.append(self._target.of_material(chosen))
        return found


@dataclass
class _Runs:
    """Runs of a scene, each in a folder named after its parameters."""

    scene: Scene
    target: AnyTarget
    folder: Path
    processes: int | None
    cluster: str | None
    note: Callable[[str], None]

    def __call__(self, samples: list[dict[str, Any]]) -> list[Floats]:
        scenes = [self.scene.changed(values) for values in samples]
        places = [folder_inside(self.folder.resolve(), "runs", _digest(scene)) for scene in scenes]
        left = [k for k, place in enumerate(places) if state_of(place)[0] != "complete"]
        if left:
            self._make([scenes[k] for k in left], [places[k] for k in left], [samples[k] for k in left])
        assert not isinstance(self.target, CurveTarget)
        return [self.target.of_run(open_run(place)) for place in places]

    def _make(self, scenes: list[Scene], places: list[Path], samples: list[dict[str, Any]]) -> None:
        at_once, threads = (1, None) if self.cluster else suitable_processes(scenes, self.processes)
        stop = str(self.folder.resolve() / "stop")
        tables = [plain(scene.resolved()) for scene in scenes]
        trusted = accepted()
        jobs = [Job(str(place), place.name, each, stop, threads, trusted) for place, each in zip(places, tables)]
        frames = sum(scene.frame_count + 1 for scene in scenes)
        try:
            results = execute(jobs, frames, self.note, at_once, self.cluster)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; the same command continues from here") from None
        for job, values in zip(jobs, samples):
            if results[job.folder].status == "failed":
                listed = ", ".join(f"{key}={value:g}" for key, value in values.items())
                raise SceneError(f"the run with {listed} failed: {results[job.folder].sentence}; narrow the limits")


def _digest(scene: Scene) -> str:
    text = json.dumps(plain(scene.resolved()), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class _Search:
    """The search for the parameters, and all evaluations so far."""

    simulate: Callable[[list[dict[str, Any]]], list[Floats]]
    target: Target
    limits: dict[str, Range]
    units: dict[str, str]
    most: int
    note: Callable[[str], None]
    folder: Path
    known: dict[tuple[float, ...], Floats] = field(default_factory=dict)
    """Simulated values by the places of the parameters."""

    def values(self, u: Floats) -> dict[str, Any]:
        """The parameters at the place u."""
        return {key: limits.at(float(part)) for (key, limits), part in zip(self.limits.items(), u)}

    def evaluate(self, places: list[Floats], kept: int = 0) -> list[Floats]:
        """Residuals at all places; new ones are simulated together. `kept` evaluations remain for later."""
        keys = [tuple(float(part) for part in place) for place in places]
        new = [place for place, key in zip(places, keys) if key not in self.known]
        if new:
            if len(self.known) + len(new) > self.most - kept:
                raise _Enough
            for place, found in zip(new, self.simulate([self.values(place) for place in new])):
                if not np.isfinite(found).all():
                    listed = ", ".join(f"{key}={value:g}" for key, value in self.values(place).items())
                    raise SceneError(f"with {listed} the scene measures nothing where the target has a value")
                self.known[tuple(float(part) for part in place)] = found
                listed = ", ".join(
                    f"{key} {value:.4g} {self.units[key]}".rstrip() for key, value in self.values(place).items()
                )
                size = math.sqrt(np.mean(self._residual(found) ** 2))
                self.note(f"evaluation {len(self.known)}: {listed}: residual {size:.3g}")
            write_csv(self.folder / "evaluations.csv", self.table())
        return [self._residual(self.known[key]) for key in keys]

    def residual(self, u: Floats) -> Floats:
        """Residuals at the place u."""
        return self.evaluate([u], self._kept(len(u)))[0]

    def _kept(self, parameters: int) -> int:
        """Evaluations that the search leaves to the uncertainties of the result, if there are enough for both."""
        return parameters if self.most > 2 * parameters + 1 else 0

    def _residual(self, found: Floats) -> Floats:
        return (found - self.target.values) / self.target.scale

    def jacobian(self, u: Floats, kept: int | None = None) -> Floats:
        """Derivatives of the residuals by differences towards the middle of the range."""
        steps = np.where(u < 0.5, STEP, -STEP)
        places = [u, *(u + step * unit for step, unit in zip(steps, np.eye(len(u))))]
        here, *there = self.evaluate(places, self._kept(len(u)) if kept is None else kept)
        return np.stack([(each - here) / step for each, step in zip(there, steps)], axis=1)

    def run(self, start: list[float]) -> Calibration:
        """Search from `start`."""
        from scipy.optimize import least_squares

        # the method wants to begin inside the limits
        u = np.clip(np.array(start), STEP, 1.0 - STEP)
        converged = False
        try:
            result = least_squares(
                self.residual, u, self.jacobian, (0.0, 1.0), method="trf", x_scale=1.0,
                xtol=TOLERANCE, ftol=TOLERANCE, gtol=None,
            )  # fmt: skip
            u, converged = np.asarray(result.x, dtype=float), bool(result.success)
        except _Enough:
            if not self.known:
                raise SceneError(f"--evaluations {self.most}: it should be at least {len(start) + 1}") from None
            u = np.array(min(self.known, key=lambda key: float(np.sum(self._residual(self.known[key]) ** 2))))
        return self._result(u, converged)

    def _result(self, u: Floats, converged: bool) -> Calibration:
        residual = self._residual(self.known[tuple(u.tolist())])
        notes = [] if converged else [f"the search did not end within {self.most} evaluations"]
        for key, part in zip(self.limits, u):
            if not STEP / 10 < part < 1.0 - STEP / 10:
                notes.append(f"{key} is at one of its limits: widen them")
        errors = self._errors(u, residual, notes)
        parameters = {}
        for (key, limits), part, error in zip(self.limits.items(), u, errors):
            spread = None if error is None else (float(limits.at(part - error)), float(limits.at(part + error)))
            parameters[key] = Estimate(float(limits.at(float(part))), spread, self.units[key])
        found = self.known[tuple(u.tolist())]
        return Calibration(parameters, self.target, found, len(self.known), converged, tuple(notes), self.folder)

    def _errors(self, u: Floats, residual: Floats, notes: list[str]) -> list[float | None]:
        """Half widths of the 95 % confidence limits of each parameter, as fractions of its range."""
        from scipy.stats import chi2, norm, t

        unknown: list[float | None] = [None] * len(u)
        freedom = len(residual) - len(u)
        if freedom <= 0 and not self.target.absolute:
            notes.append("there are no more values than parameters, so their scatter is not known")
            return unknown
        try:
            J = self.jacobian(u, kept=0)
        except _Enough:
            notes.append("no evaluations were left for the uncertainties")
            return unknown
        curvature = J.T @ J
        if np.linalg.cond(curvature) > 1e12:
            notes.append("the measurement does not distinguish the parameters: fit fewer of them")
            return unknown
        if self.target.absolute and freedom > 0 and chi2.sf(float(residual @ residual), freedom) < UNLIKELY:
            notes.append("the simulation misses the measurement by more than its errors: the limits are too narrow")
        variance = 1.0 if self.target.absolute else float(residual @ residual) / freedom
        factor = norm.ppf(0.5 + COVERAGE / 2) if self.target.absolute else t.ppf(0.5 + COVERAGE / 2, freedom)
        return [float(factor * each) for each in np.sqrt(variance * np.diag(np.linalg.inv(curvature)))]

    def table(self) -> dict[str, Any]:
        """All evaluations: parameters and the root mean square of the residuals."""
        rows = [self.values(np.array(place)) for place in self.known]
        sizes = [float(np.sqrt(np.mean(self._residual(found) ** 2))) for found in self.known.values()]
        return {**{key: [row[key] for row in rows] for key in self.limits}, "residual": sizes}
