"""Scalars to colour by, from the fields of a population.

A name is a field ("weak"; the length of a vector, the Frobenius norm of a tensor), a component of one ("v.x", "F.xy"),
or "speed". It refers to every population that has the quantity; "water/speed" to one population only.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.fields import VOLUME_RATIO, Population
from spume.frames.populations import FramePopulations, PopulationArrays
from spume.suggestions import did_you_mean

Floats = NDArray[np.float64]
SYMMETRIC = ("xx", "yy", "zz", "xy", "xz", "yz")
DERIVED = {"speed": ("m/s", "speed"), "pressure": ("Pa", "pressure"), "stress": ("Pa", "Cauchy stress")}
"""Unit and label of what is derived from fields; pressure and stress by `derived.py`."""
CHOSEN = ("stress", "pressure", "strain_rate", "dissipation_rate")
"""Fields that scenes may add to their frames."""
DRAWN = ("points", "mesh", "lines")
"""Kinds of populations whose members have positions."""
NOT_COLORED = ("x", "v", "triangles", "lines", "id")
"""Fields that are not quantities to colour by."""


def quantity_names(populations: Iterable[Population]) -> list[str]:
    """The quantities a picture of these populations can show, each name once, without the components."""
    names: dict[str, None] = {}
    for population in drawable(populations):
        declared = {field.name for field in population.fields}
        names |= {"speed": None} if "v" in declared else {}
        fields = sorted(population.fields, key=lambda field: field.name != VOLUME_RATIO.name)
        # Full tensors are shown by their components.
        single = [field.name for field in fields if field.name not in NOT_COLORED and len(field.shape) < 2]
        names |= dict.fromkeys(single)
    return list(names)


def drawable(populations: Iterable[Population]) -> list[Population]:
    """The populations whose members have positions."""
    return [each for each in populations if each.kind in DRAWN]


def quantities(frame: FramePopulations, name: str) -> dict[str, Floats]:
    """The values of quantity `name` by population; those that do not have it are left out.

    Raises SceneError when no population has it."""
    chosen, _, plain = name.rpartition("/")
    shown = [each for each in frame.of_kind(*DRAWN) if chosen in ("", each.declared.name)]
    found = {each.declared.name: quantity(each, plain) for each in shown if has_quantity(each, plain)}
    if not found:
        everything = frame.of_kind(*DRAWN)
        listed = "; ".join(f"{each.declared.name}: {', '.join(_known(each))}" for each in everything)
        words = [word for each in shown for word in _known(each)]  # none where the population is the wrong part
        raise _unknown(name, did_you_mean(plain, words, f"it has {listed}"))
    return found


def _unknown(name: str, meant: str) -> SceneError:
    field = name.rpartition("/")[2].partition(".")[0]
    if field in CHOSEN:
        return SceneError(
            f"the frames of this run do not hold '{field}', and it cannot be derived from them: run the scene with "
            f"--set 'frames.fields=[\"{field}\"]'"
        )
    return SceneError(f"there is no quantity '{name}' in this run: {meant} (components are written as v.x)")


def has_quantity(population: Mapping[str, NDArray[Any]], name: str) -> bool:
    """Whether `population` has the quantity, or the field of which it is a component."""
    return ("v" if name == "speed" else name.partition(".")[0]) in population


def _known(population: Mapping[str, NDArray[Any]]) -> list[str]:
    return [*(name for name in DERIVED if has_quantity(population, name) and name not in list(population)), *population]


def quantity(population: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """The values of quantity `name` at the points of `population`, shape (n,)."""
    if name == "speed" and "v" in population:
        return np.asarray(np.linalg.norm(population["v"], axis=1))
    field, _, component = name.partition(".")
    if field not in population:
        known = _known(population)
        raise _unknown(name, did_you_mean(field, known, f"it has {', '.join(known)}"))
    values = np.asarray(population[field], dtype=np.float64)
    if component:
        return values.reshape(len(values), -1)[:, _component(name, values.shape[1:])]
    if values.ndim == 1:
        return values
    if values.shape[1:] == (6,):
        return np.sqrt((values[:, :3] ** 2).sum(axis=1) + 2 * (values[:, 3:] ** 2).sum(axis=1))
    return np.asarray(np.linalg.norm(values.reshape(len(values), -1), axis=1))


def _component(name: str, shape: tuple[int, ...]) -> int:
    letters = name.partition(".")[2]
    if len(shape) == 1 and shape[0] in (2, 3):
        known: tuple[str, ...] = tuple("xyz"[: shape[0]])
    elif shape == (6,):
        known = SYMMETRIC
    elif len(shape) == 2:
        known = tuple(a + b for a in "xyz"[: shape[0]] for b in "xyz"[: shape[1]])
    else:
        known = tuple(str(k) for k in range(int(np.prod(shape)))) if shape else ()
    if letters not in known:
        raise SceneError(f"'{name}': there is no such component, only {', '.join(known) or 'the field itself'}")
    return known.index(letters)


def volumes(population: PopulationArrays, spacing: float) -> Floats:
    """Current volume of each point [m³], in 2D its area [m²]: V J, or the cell of a lattice of `spacing` [m] if points
    carry no volume."""
    x = population["x"]
    rest = population["volume"] if "volume" in population else np.full(len(x), spacing ** x.shape[1])
    ratio = population.get(VOLUME_RATIO.name, 1.0)
    return np.asarray(rest * ratio)


def label(populations: Iterable[Population], name: str) -> str:
    """The label of quantity `name` for a colour bar, with its unit."""
    chosen, _, name = name.rpartition("/")
    fields = [field for each in populations if chosen in ("", each.name) for field in each.fields]
    field = next((f for f in fields if f.name == name.partition(".")[0]), None)
    if field is not None:
        unit, words = field.unit, f"{field.description} ({name})" if field.description else name
    else:
        unit, words = DERIVED.get(name.partition(".")[0], ("1", name))
        words = words if "." not in name else f"{words} ({name})"
    return words if unit == "1" else f"{words} [{unit}]"


def spatial(vectors: NDArray[Any]) -> Floats:
    """Vectors with three components; 2D vectors get z = 0."""
    wide = np.asarray(vectors, dtype=np.float64)
    return wide if wide.shape[1] == 3 else np.pad(wide, ((0, 0), (0, 1)))
