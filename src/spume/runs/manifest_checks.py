"""Checks of manifests that were read from disk: a file with a good checksum may still have been written by somebody
else. What passes can be relied upon by everything that reads runs."""

import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError
from pydantic import Field as Limits

from spume.errors import CacheError
from spume.fields import Field, Population, PopulationKind, Resample
from spume.runs.storage import TYPES
from spume.scene.problems import describe

NAME = re.compile(r"[^/\\\x00-\x1f\x7f]+")
"""Names of populations and fields, which occur in names of files."""
Number = FiniteFloat | None
"""Values that are not finite are stored as null."""
Vector = Annotated[list[Number], Limits(min_length=1, max_length=3)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Record(_Part):
    """A frame; its diagnostics differ from method to method."""

    model_config = ConfigDict(strict=True, extra="allow")
    frame: Annotated[int, Limits(ge=0)]
    time: FiniteFloat
    seconds: dict[str, FiniteFloat] = {}
    warnings: dict[str, str] = {}
    measured: dict[str, Number] = {}
    obstacles: dict[str, dict[str, Vector]] = {}


class _Field(_Part):
    name: str
    shape: Annotated[list[Annotated[int, Limits(ge=0, le=1000)]], Limits(max_length=4)] = []
    initial: FiniteFloat | list[FiniteFloat] = 0.0
    unit: str = "1"
    resample: Resample = "average"
    dtype: str = "float64"
    description: str = ""
    in_frames: bool = True


class _Population(_Part):
    name: str
    fields: list[_Field]
    kind: PopulationKind = "points"
    spacing: Annotated[FiniteFloat, Limits(gt=0)] | None = None


class _Change(_Part):
    time: FiniteFloat
    values: dict[str, Any]


class _Kernels(_Part):
    numba: str
    cache: str


class _Scene(_Part):
    """What a run tells about its scene without its method; `Scene(**tables)` checks the rest."""

    model_config = ConfigDict(strict=True, extra="allow")
    title: str
    method: str
    body: list[dict[str, Any]] = []
    measure: list[dict[str, Any]] = []


class _Manifest(_Part):
    name: str
    method: str
    scene: _Scene
    version: str
    frames: list[_Record]
    complete: bool
    format: int


class _Format1(_Manifest):
    fields: list[_Field]


class _Format2(_Manifest):
    populations: list[_Population]
    changes: list[_Change] = []
    kernels: list[_Kernels] = []


def check_manifest(data: dict[str, Any], path: Path) -> None:
    """Raise CacheError that names the first thing that is wrong with the object of a manifest, read from `path`."""
    model = _Format1 if data.get("format") == 1 else _Format2
    try:
        model.model_validate(data)
    except ValidationError as error:
        raise _malformed(path, str(describe(error, model, data)[0])) from None
    if data["scene"]["method"] != data["method"]:
        raise _malformed(path, f"its method is '{data['method']}', and that of its scene '{data['scene']['method']}'")
    times = [entry["time"] for entry in data["frames"]]
    if [entry["frame"] for entry in data["frames"]] != list(range(len(times))) or times != sorted(times):
        raise _malformed(path, "its frames are not in order")
    names = [entry["name"] for entry in data.get("populations", ())]
    if len(set(names)) < len(names):
        raise _malformed(path, f"two of its populations have the same name: {', '.join(names)}")
    for entry in data.get("populations", ()):
        try:
            _check_names(population(entry))
        except ValueError as error:
            raise _malformed(path, str(error)) from None


def population(entry: dict[str, Any]) -> Population:
    """The declaration of a population from its table. Raises ValueError if its fields do not fit its kind."""
    return Population(**{**entry, "fields": tuple(_field(each) for each in entry["fields"])})


def _field(entry: dict[str, Any]) -> Field:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Field(**values)


def _check_names(declared: Population) -> None:
    fields = [field.name for field in declared.fields]
    for name in (declared.name, *fields):
        if not NAME.fullmatch(name) or name in (".", ".."):
            raise ValueError(f"population '{declared.name}': '{name}' is no name of a population or field")
    if len(set(fields)) < len(fields):
        raise ValueError(f"population '{declared.name}' has two fields of the same name")
    for field in declared.fields:
        if field.dtype not in TYPES:
            raise ValueError(f"field '{field.name}' of '{declared.name}' has the unknown type '{field.dtype}'")
        if np.ndim(field.initial) and np.size(field.initial) != int(np.prod(field.shape)):
            raise ValueError(f"field '{field.name}' of '{declared.name}' has {np.size(field.initial)} initial values")
    if declared.kind != "table" and not any(f.name == "x" and f.shape in ((2,), (3,)) for f in declared.fields):
        raise ValueError(f"population '{declared.name}' has positions that are not vectors of 2 or 3 components")


def _malformed(path: Path, what: str) -> CacheError:
    return CacheError(f"'{path}' is malformed: {what}")
