"""Parameter values of a sweep: grids, random samples and Latin hypercubes."""

import itertools
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spume.errors import SceneError
from spume.scene.overrides import BARE_WORD

Sampling = Literal["grid", "random", "latin"]
Scale = Literal["linear", "log", "int"]
RANGE = re.compile(r"\s*([^:\s]+)\s*:\s*([^:\s]+)\s*(?::\s*(log|int|linear)\s*)?")
MOST_RUNS = 100_000


@dataclass(frozen=True)
class Range:
    """A range of numbers, uniform; "log": uniform in the logarithm; "int": integers only."""

    low: float
    high: float
    scale: Scale = "linear"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise SceneError(f"the range {self.low:g}:{self.high:g}: its second number should be the greater one")
        if self.scale == "log" and self.low <= 0:
            raise SceneError(f"the range {self.low:g}:{self.high:g}:log: a logarithmic range should begin above 0")

    def at(self, part: float) -> float | int:
        """The number at a fraction of the range, 0 to 1."""
        if self.scale == "int":
            return int(self.low) + min(int(part * (int(self.high) - int(self.low) + 1)), int(self.high) - int(self.low))
        if self.scale == "log":
            return float(self.low * (self.high / self.low) ** part)
        return float(self.low + part * (self.high - self.low))


Variation = Range | tuple[Any, ...]
"""What a parameter varies over: a range or a list of values."""


def parse_variation(text: str, option: str = "--vary") -> tuple[str, Variation]:
    """Key and values of "grid.cell=0.004,0.002" or "material.foam.yield_stress=10:40:log"."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise SceneError(
            f"{option} {text}: it should be path.to.key=a,b,c or path.to.key=low:high, as in grid.cell=0.004,0.002"
        )
    return key.strip(), parse_values(values, f"{option} {text}")


def parse_values(text: str, where: str) -> Variation:
    """The values of a list "a,b,c", written as in TOML, or of a range "low:high", "low:high:log", "low:high:int"."""
    if match := RANGE.fullmatch(text):
        try:
            low, high = float(match[1]), float(match[2])
        except ValueError:
            low = high = math.nan
        if math.isfinite(low) and math.isfinite(high):
            scale: Any = match[3] or "linear"
            return Range(low, high, scale)
    try:
        return tuple(tomllib.loads(f"values = [{text}]")["values"])
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        words = [word.strip() for word in text.split(",")]
        if all(BARE_WORD.fullmatch(word) for word in words):
            return tuple(words)
    raise SceneError(f"{where}: '{text}' is neither a list of values such as 1,2,3 nor a range such as 1:3")


def variations(vary: Mapping[str, Any] | Sequence[str]) -> dict[str, Variation]:
    """The parameters of a sweep by key: texts as on the command line, or values by key."""
    found: dict[str, Variation] = {}
    if isinstance(vary, str):
        raise SceneError(f"vary is a dict or a list of texts, and '{vary}' is a single text: put it in a list")
    pairs = vary.items() if isinstance(vary, Mapping) else [parse_variation(text) for text in vary]
    for key, values in pairs:
        if isinstance(values, str):
            values = parse_values(values, key)
        elif not isinstance(values, Range):
            values = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
        if key in found:
            raise SceneError(f"'{key}' is varied twice: put all its values together")
        if not isinstance(values, Range) and not values:
            raise SceneError(f"'{key}' is varied over no values: give at least one")
        found[key] = values
    if not found:
        raise SceneError("a sweep needs at least one parameter to vary, as in --vary grid.cell=0.004,0.002")
    return found


def draw_samples(
    varied: Mapping[str, Variation], sampling: Sampling = "grid", count: int | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """The values of all parameters in each run."""
    if sampling == "grid":
        return _grid(varied, count)
    if count is None or not 1 <= count <= MOST_RUNS:
        raise SceneError(f"--count {count}: {sampling} samples need a number of runs, 1 to {MOST_RUNS:,}")
    rng = np.random.default_rng(seed)
    if sampling == "latin":
        from scipy.stats import qmc

        parts = qmc.LatinHypercube(len(varied), rng=rng).random(count)
    else:
        parts = rng.random((count, len(varied)))
    return [
        {key: _at(values, float(part)) for (key, values), part in zip(varied.items(), row)} for row in parts
    ]  # fmt: skip


def _grid(varied: Mapping[str, Variation], count: int | None) -> list[dict[str, Any]]:
    if count is not None:
        raise SceneError(f"--count {count}: a grid has as many runs as its values make; use --sample random or latin")
    for key, values in varied.items():
        if isinstance(values, Range):
            raise SceneError(
                f"'{key}' has a range: a grid needs a list of values; --sample random and latin take ranges"
            )
    runs = math.prod(len(values) for values in varied.values() if not isinstance(values, Range))
    if runs > MOST_RUNS:
        raise SceneError(f"the grid has {runs:,} runs, and {MOST_RUNS:,} is the most")
    listed = [values for values in varied.values() if not isinstance(values, Range)]
    return [dict(zip(varied, values)) for values in itertools.product(*listed)]


def _at(values: Variation, part: float) -> Any:
    return values.at(part) if isinstance(values, Range) else values[min(int(part * len(values)), len(values) - 1)]
