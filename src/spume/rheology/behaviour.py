"""Behaviour of a material in shear, found by trial: determines which measurements make sense for it."""

from dataclasses import dataclass
from functools import cache

from spume.errors import SceneError
from spume.materials.table import Material
from spume.rheology.point import Point

SMALL = 1e-6
"""Shear strain of the trials of linear response."""
AT_ONCE, SOON, FOR_EVER = 1e-12, 1e-9, 1e30
"""Times [s] far below, still far below, and far beyond all relaxation times."""
GROWTH = 1.05
"""If doubling a slow strain raises the stress by at most this factor, the material flows."""
SAME = 1e-6
"""Relative difference below which stresses count as equal."""


@dataclass(frozen=True)
class Behaviour:
    """Response of a material to shear."""

    modulus: float
    """instantaneous shear modulus at small strain [Pa]; 0 for fluids whose stress depends on the rate only"""
    viscous: bool
    """whether the stress of a sudden small strain is proportional to its rate"""
    relaxes: bool
    """whether the stress of a small strain falls while it is held"""
    flows: bool
    """whether the stress of a slow deformation stops growing with the strain"""
    elastic: bool
    """whether the law has no flow at all"""
    needs_pressure: bool
    """whether it resists shear only while it is compressed"""

    @property
    def resists(self) -> bool:
        """Whether shear causes stress."""
        return self.modulus > 0.0 or self.viscous


def behaviour_of(material: Material) -> Behaviour:
    """Behaviour of a material, from its response to a few strains."""
    return _behaviour(material)


@cache
def _behaviour(material: Material) -> Behaviour:
    at_once, soon = _small_shear(material, AT_ONCE), _small_shear(material, SOON)
    rest = _small_shear(material, AT_ONCE, held=True)
    threshold = 1e-9 * material.parameters.density * material.law.wave_speed(material.parameters) ** 2
    viscous = at_once > 100.0 * soon > 0.0
    resists = viscous or at_once > threshold
    modulus = at_once if resists and not viscous else 0.0
    needs_pressure = not resists and _small_shear(material, AT_ONCE, compressed=1e-3) > threshold
    return Behaviour(
        modulus,
        viscous,
        viscous or (resists and rest < (1.0 - SAME) * at_once),
        resists and _keeps_flowing(material, threshold),
        all(branch.return_map is None for branch in material.law.branches)
        and all(field.name != "dissipation" for field in material.law.fields),
        needs_pressure,
    )


def _small_shear(material: Material, dt: float, held: bool = False, compressed: float = 0.0) -> float:
    """Shear stress over strain [Pa] after a small shear within dt, or, if `held`, long after it."""
    point = Point(material)
    if compressed:
        point.stretch(-compressed, -compressed, -compressed, 1.0)
    point.shear(SMALL, dt)
    if held:
        point.hold(FOR_EVER, 3)
    return abs(point.stresses()[0]) / SMALL


def _keeps_flowing(material: Material, threshold: float) -> bool:
    """Whether ‖dev τ‖ stops growing in infinitely slow pure shear between principal strains of ±1 and ±2.

    The largest stresses are compared, because laws whose flow is explicit in time drop below yield in long steps.
    """
    point, largest = Point(material), []
    for _ in range(2):
        stresses = []
        for _ in range(100):
            point.stretch(0.01, -0.01, 0.0, FOR_EVER)
            stresses.append(point.magnitude())
        largest.append(max(stresses))
    return largest[1] <= GROWTH * largest[0] + threshold


def require_resistance(material: Material, wanted: str) -> Behaviour:
    """Return the behaviour of a material, or raise SceneError if it does not resist shear at rest."""
    found = behaviour_of(material)
    if found.needs_pressure:
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) bears shear only under pressure, so it has no {wanted}: "
            "ask for --triaxial or --shear-box"
        )
    if not found.resists:
        raise SceneError(
            f"'{material.name}' (law {material.law.name}) has no shear stress at all, so it has no {wanted}: "
            "nothing can be measured in shear"
        )
    return found


def require_flow(material: Material, wanted: str) -> Behaviour:
    """Return the behaviour of a material, or raise SceneError if it cannot flow steadily."""
    found = require_resistance(material, wanted)
    if found.flows:
        return found
    reason = "hardens and never flows at a steady stress"
    if found.elastic:
        reason = "is elastic and never flows"
    elif found.relaxes:
        reason = "relaxes, but keeps a part of its stiffness and never flows"
    raise SceneError(
        f"'{material.name}' (law {material.law.name}) {reason}, so it has no {wanted}: "
        "ask for --startup or --step-strain"
    )


def require_relaxation(material: Material, wanted: str) -> Behaviour:
    """Return the behaviour of a material, or raise SceneError if its stress at small strain is independent of time."""
    found = require_resistance(material, wanted)
    if found.relaxes:
        return found
    raise SceneError(
        f"'{material.name}' (law {material.law.name}) is elastic at small strain, with a shear modulus of "
        f"{found.modulus:.4g} Pa at all times, so it has no {wanted}"
    )
