"""Saturation of the sand, and its effect on cohesion: [Tampubolon17] section 4.3.3."""

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.materials.history import field_of
from spume.mixture.mixture import RETENTION_EXPONENT, CohesionCurve, Mixture, MixtureStep, bulk_volume
from spume.mpm.world import GridWorld

SATURATION = Field("saturation", (), 0.0, "1", "average", description="saturation of the sand, from 0 (dry) to 1")


def cohesion_factor(
    curve: CohesionCurve, saturation: NDArray[np.float64], retention_exponent: float = RETENTION_EXPONENT
) -> NDArray[np.float64]:
    """Fraction of the material's cohesion that is active at a saturation.

    "linear" is [Tampubolon17] eq. (25): 1 without water, 0 when saturated. "robert-soga" is the cohesion of moist sand
    by suction, see `suction_stress`. Pairs of saturation and fraction are joined by straight lines; before the first
    and after the last pair the fraction is constant.

    >>> cohesion_factor("robert-soga", np.array([0.0, 0.1, 0.4, 0.7, 1.0])).round(2).tolist()
    [0.0, 0.84, 1.0, 0.88, 0.0]
    """
    if not isinstance(curve, str):
        s, fraction = np.transpose(curve)
        return np.asarray(np.interp(saturation, s, fraction))
    if curve == "constant":
        return np.ones_like(saturation)
    if curve == "linear":
        return 1.0 - saturation
    strongest = strongest_saturation(retention_exponent)
    largest = suction_stress(retention_exponent, np.array([strongest]))
    return suction_stress(retention_exponent, saturation) / largest


def suction_stress(n: float, saturation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Suction stress S ψ(S) in units of 1/α [1], at the degree of saturation S. [Lu10]

    The pore water with the suction ψ presses the grains together by this stress; times tan φ it is their cohesion. The
    retention curve is S = (1 + (α ψ)ⁿ)^(1/n − 1) [vanGenuchten80], with all water able to drain.
    """
    S = saturation
    return np.maximum(S ** (n * (n - 2.0) / (n - 1.0)) - S**n, 0.0) ** (1.0 / n)


def strongest_saturation(n: float) -> float:
    """Degree of saturation at which the suction stress is largest, where its derivative is zero.

    >>> round(strongest_saturation(RETENTION_EXPONENT), 3)
    0.4
    """
    return float(((n - 2.0) / (n - 1.0)) ** ((n - 1.0) / n))


def saturate(world: GridWorld, dt: float, mixture: Mixture, step: MixtureStep) -> None:
    """Compute the saturation of the nodes and of the sand's points, eq. (24), and their cohesion, eq. (25).

    A node's saturation is 1 where both species have mass ("overlap", the paper's indicator), or the degree of
    saturation m_w/(n ρw V), at most 1, with the bulk volume V of the sand at the node ("degree").
    """
    sand, water = world.species
    p = sand.particles
    fields = step.fields
    m_s, m_w = sand.fields["mass"], water.fields["mass"]
    if mixture.saturation == "overlap":
        np.copyto(fields.saturation, (m_s > 0.0) & (m_w > 0.0))
    else:
        pores = mixture.porosity * mixture.water_density * bulk_volume(world, sand, mixture.sand_densities, fields)
        wet = np.divide(m_w, pores, out=np.zeros_like(pores), where=pores > 0.0)
        np.minimum(wet, 1.0, out=fields.saturation)
    first = fields.fields.first("saturation")
    sand.transfers.to_points(("scalar",), p.x, fields.fields.array, first_channel=first, scalar=p.saturation)
    np.clip(p.saturation, 0.0, 1.0, out=p.saturation)  # the weights add up to one up to rounding
    for use in sand.model.laws:
        granular = use.law.traits.granular
        if granular is not None and granular.cohesion_factor is not None:
            active = field_of(use, granular.cohesion_factor, p.arrays())
            active[:] = cohesion_factor(mixture.cohesion_curve, p.saturation, mixture.retention_exponent)
