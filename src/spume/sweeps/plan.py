"""The plan of a sweep on disk: DIR/sweep.json, and a folder for each run, DIR/runs/0000 and so on."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic import Field as Limits

from spume.errors import CacheError
from spume.runs.storage import plain, read_json, write_json
from spume.scene.problems import describe
from spume.version import __version__

PicturesOf = Literal["film", "sheet", "none"]
"""A contact sheet of the last frames and a film of the runs side by side, only the sheet, or none."""
FORMAT = 1
FILE = "sweep.json"
STOP = "stop"


@dataclass(frozen=True)
class PlannedRun:
    """One run of a sweep."""

    number: int
    parameters: dict[str, Any]
    scene: dict[str, Any]
    """Resolved tables."""

    @property
    def folder(self) -> str:
        """Folder within the sweep's."""
        return f"runs/{self.number:04d}"


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep, and what is measured of them."""

    name: str
    """Name of the scene."""
    runs: list[PlannedRun]
    measures: list[str]
    """Measurements of the scene and diagnostics, see `table.measure_run`."""
    functions: list[str] = field(default_factory=list)
    """Functions of files that are measured, "FILE.py:NAME" with the whole path."""
    pictures: PicturesOf = "none"

    @property
    def keys(self) -> list[str]:
        """The parameters that are varied."""
        return list(self.runs[0].parameters)

    def write(self, folder: Path) -> None:
        """Write the plan to the sweep's folder."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheError(f"'{folder}' cannot be made: {error.strerror}") from None
        write_json(folder / FILE, {"format": FORMAT, "version": __version__, **plain(asdict(self))})


def read_plan(folder: Path) -> Plan:
    """The plan of the sweep in `folder`."""
    file = folder / FILE
    if not file.exists():
        raise CacheError(f"'{folder}' holds no sweep: it has no {FILE}")
    data = read_json(file)
    if data.get("format") != FORMAT:
        raise CacheError(f"'{file}' has format {data.get('format')}, of another version of spume")
    try:
        _PlanTable.model_validate(data)
    except ValidationError as error:
        raise CacheError(f"'{file}' is malformed: {describe(error, _PlanTable, data)[0]}") from None
    runs = [PlannedRun(**entry) for entry in data["runs"]]
    if len({tuple(run.parameters) for run in runs}) > 1 or [run.number for run in runs] != list(range(len(runs))):
        raise CacheError(f"'{file}' is malformed: its runs are not in order, or vary different parameters")
    return Plan(
        data["name"], runs, list(data["measures"]), list(data.get("functions", ())), data.get("pictures", "none")
    )  # fmt: skip


class _RunTable(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    number: Annotated[int, Limits(ge=0)]
    parameters: Annotated[dict[str, Any], Limits(min_length=1)]
    scene: dict[str, Any]


class _PlanTable(BaseModel):
    """What sweep.json holds."""

    model_config = ConfigDict(strict=True, extra="forbid")
    format: int
    version: str
    name: str
    runs: Annotated[list[_RunTable], Limits(min_length=1)]
    measures: list[str]
    functions: list[str] = []
    pictures: PicturesOf = "none"


def same_runs(one: Plan, other: Plan) -> bool:
    """Whether two plans have the same runs; what is measured may differ."""
    return bool(plain([asdict(run) for run in one.runs]) == plain([asdict(run) for run in other.runs]))
