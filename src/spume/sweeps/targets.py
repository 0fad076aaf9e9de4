"""Targets of a calibration: the measured values of a CSV file, and the same values of a simulation."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.frames.measurements import MeasuredSeries
from spume.frames.reader import Run
from spume.materials.table import Material
from spume.rheology.instrument_files import Table, find_tables, read_lines
from spume.rheology.measured import KINDS, QUANTITIES, Measured, kind_of, read_measured
from spume.scene.common import Scene
from spume.suggestions import did_you_mean

Floats = NDArray[np.float64]
TIME = "time"
SMALL_STRAIN = 1e-3
"""Shear strain of a relaxation or creep test in the linear range, for files that do not give theirs. Elastic laws
depart from linear ones by its square."""


@dataclass(frozen=True)
class Target:
    """Measured values, and the scale that residuals are divided by."""

    labels: tuple[str, ...]
    """What each value is."""
    values: Floats
    scale: Floats
    """Standard errors where the file gives them, otherwise what makes values of different kinds comparable."""
    absolute: bool
    """Whether the scales are standard errors."""


@dataclass(frozen=True)
class SeriesTarget:
    """Measurements of the scene over time."""

    target: Target
    times: dict[str, Floats]

    def of_run(self, run: Run) -> Floats:
        """The measurements at the target's times, linear between frames."""
        parts = []
        for name, times in self.times.items():
            series = _scalar(run.measurements[name])
            known = ~np.isnan(series.values)
            parts.append(np.interp(times, series.times[known], series.values[known]))
        return np.concatenate(parts)


@dataclass(frozen=True)
class ValuesTarget:
    """Measurements of the scene as single numbers."""

    target: Target

    def of_run(self, run: Run) -> Floats:
        """The numbers of the run."""
        found = [_scalar(run.measurements[name]).value for name in self.target.labels]
        return np.array([math.nan if value is None else value for value in found], dtype=float)


def _scalar(series: MeasuredSeries) -> MeasuredSeries:
    if series.values.ndim != 1:
        raise SceneError(f"the measurement '{series.name}' is a vector: give it a direction to compare it")
    return series


@dataclass(frozen=True)
class CurveTarget:
    """A rheometer's curve of one material."""

    target: Target
    measured: Measured

    def of_material(self, material: Material) -> Floats:
        """The curve of a simulated material, relative to the measured one."""
        from spume.rheology import rheometer

        columns, step = self.measured.columns, self.measured.step
        if self.measured.kind == "flow curve":
            return rheometer.flow_curve(material, columns["rate"]).shear_stress
        if self.measured.kind == "relaxation curve":
            strain = SMALL_STRAIN if step is None else step
            times, place = _from_zero(columns["time"])
            return rheometer.step_strain(material, strain, times).shear_stress[place] / strain
        if self.measured.kind == "creep curve":
            stress = SMALL_STRAIN / columns["creep compliance"].max() if step is None else step
            times, place = _from_zero(columns["time"])
            strains = np.full(len(times), np.nan)  # beyond the largest strain that is followed
            found = rheometer.creep(material, stress, times).columns["shear_strain"]
            strains[: len(found)] = found
            return strains[place] / stress
        sweep = rheometer.frequency_sweep(material, columns["frequency"]).records()
        return np.array([[row["storage_modulus"], row["loss_modulus"]] for row in sweep]).T.ravel()


def _from_zero(times: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """0 and the different times in increasing order, and the place of each of `times` among them."""
    ordered, place = np.unique(np.concatenate([[0.0], times]), return_inverse=True)
    return ordered, place[1:]


AnyTarget = SeriesTarget | ValuesTarget | CurveTarget


def read_target(
    file: Path, scene: Scene, columns: str | None = None, interval: str | None = None, unit: str | None = None
) -> AnyTarget:
    """The target of a CSV file, by its columns. `columns`, `interval` and `unit` are those of `read_measured`."""
    if columns is not None:
        return _curve(read_measured(file, columns=columns, interval=interval, unit=unit))
    lines = read_lines(file)
    names = [table.name for table in getattr(scene, "measure", ())]
    if len(lines) < 2:
        raise SceneError(f"'{file}' has no values: it should have a line of column names and values below it")
    (table,) = find_tables(lines, _is_none, _is_none, lambda line: f"'{file}', line {line}")
    header = [name.strip() for name in table.header]
    if "measure" in header and "value" in header:
        return _values(file, header, _rows(file, table), names)
    if TIME in header and any(column in names for column in header):
        return _series(file, header, _rows(file, table), names)
    try:
        return _curve(read_measured(file, interval=interval, unit=unit))
    except SceneError as error:
        if kind_of(header) is not None:
            raise
        if TIME in header and len(header) > 1:
            others = ", ".join(column for column in header if column != TIME)
            known = did_you_mean(others, names) if names else "the scene has no [[measure]] tables"
            raise SceneError(
                f"'{file}', line {lines[0][0]}: '{others}' is no measurement of the scene: {known}"
            ) from None
        raise SceneError(
            f"'{file}', line {lines[0][0]}: its columns are {', '.join(header)}; they should be time and measurements "
            f"of the scene ({', '.join(names) or 'it has none'}), or measure and value, or those of a rheometer's "
            f"curve ({error})"
        ) from None


def _is_none(_: object) -> bool:
    """Measurements of a scene have one header, in the first line, and no row of units."""
    return False


def _rows(file: Path, table: Table) -> list[dict[str, str]]:
    """The rows by column, with the number of their line under "#"."""
    rows = []
    for number, cells in table.rows:
        if len(cells) != len(table.header):
            raise SceneError(
                f"'{file}', line {number}: it has {len(cells)} columns, and the header has {len(table.header)}"
            )
        rows.append({name.strip(): cell.strip() for name, cell in zip(table.header, cells)} | {"#": str(number)})
    return rows


def _number(file: Path, row: dict[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SceneError(f"'{file}', line {row['#']}: {column} is '{row[column]}', which is not a finite number")
    return value


def _values(file: Path, header: list[str], rows: list[dict[str, str]], names: list[str]) -> ValuesTarget:
    labels = tuple(row["measure"] for row in rows)
    for label, row in zip(labels, rows):
        if label not in names:
            known = did_you_mean(label, names) if names else "the scene has no [[measure]] tables"
            raise SceneError(f"'{file}', line {row['#']}: '{label}' is no measurement of the scene: {known}")
    values = np.array([_number(file, row, "value") for row in rows])
    if "error" in header:
        return ValuesTarget(Target(labels, values, _errors(file, rows), True))
    return ValuesTarget(Target(labels, values, np.where(values == 0.0, 1.0, np.abs(values)), False))


def _errors(file: Path, rows: list[dict[str, str]]) -> Floats:
    errors = np.array([_number(file, row, "error") for row in rows])
    if not (errors > 0.0).all():
        line = rows[int(np.argmin(errors))]["#"]
        raise SceneError(f"'{file}', line {line}: the error is {errors.min():g}: it should be positive")
    return errors


def _series(file: Path, header: list[str], rows: list[dict[str, str]], names: list[str]) -> SeriesTarget:
    labels: list[str] = []
    values: list[float] = []
    scale: list[float] = []
    times: dict[str, Floats] = {}
    for name in (column for column in header if column in names):
        filled = [row for row in rows if row[name]]
        times[name] = np.array([_number(file, row, TIME) for row in filled])
        found = [_number(file, row, name) for row in filled]
        labels += [f"{name} at {time:g} s" for time in times[name]]
        values += found
        # series of different units count alike: each by its own largest value
        scale += [max(map(abs, found)) or 1.0] * len(found)
    return SeriesTarget(Target(tuple(labels), np.array(values), np.array(scale), False), times)


def _curve(measured: Measured) -> CurveTarget:
    first, *rest = KINDS[measured.kind]
    unit = next(iter(QUANTITIES[first].units))
    labels = tuple(f"{name} at {x:g} {unit}" for name in rest for x in measured.columns[first])
    values = np.concatenate([measured.columns[name] for name in rest])
    return CurveTarget(Target(labels, values, values, False), measured)  # relative residuals: curves span decades


def check_times(target: AnyTarget, scene: Scene, file: Path) -> None:
    """Refuse times that the scene does not reach."""
    if isinstance(target, SeriesTarget):
        last = max(float(times.max()) for times in target.times.values())
        first = min(float(times.min()) for times in target.times.values())
        if first < 0.0 or last > scene.duration * (1 + 1e-9):
            raise SceneError(
                f"'{file}': its times go from {first:g} s to {last:g} s, and the scene lasts {scene.duration:g} s"
            )
