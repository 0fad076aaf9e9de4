"""Sand and water in one place, and the equations of their semi-implicit step."""

import numpy as np
from mixtures import body, simulate

from spume.mixture.exchange import find_drag
from spume.mixture.method import build_mixture
from spume.mixture.mixture import MixtureStep
from spume.mixture.pore_pressure import find_pores, pore_flux
from spume.mpm.implicit.coupled_system import CoupledSystem, SpeciesCoupling
from spume.mpm.step import find_contacts, rasterize, sort_points

CELL, DT = 0.05, 5e-3


def overlapping(**tables):
    """Sand and water in the same 6 × 6 cells, with strains and velocities at random."""
    corners = ([0.0, 0.0], [6 * CELL, 6 * CELL])
    sim = simulate(
        body=[body("sand", *corners), body("water", *corners)],
        **({"grid": {"cell": CELL}, "time": {"integrator": "semi-implicit", "dt": DT}} | tables),
    )  # fmt: skip
    rng = np.random.default_rng(3)
    sand, water = sim.method.species["sand"], sim.method.species["water"]
    sand.b[:] += 0.02 * rng.normal(size=sand.b.shape)
    sand.gained_volume[:] = 0.02 * rng.random(len(sand))
    water.Jw[:] *= 1.0 + 0.05 * rng.normal(size=len(water))
    for p in (sand, water):
        p.v[:] = 0.2 * rng.normal(size=p.v.shape)
    return sim


def system_of(sim, unilateral=None, preconditioner="blocks", drag=1.0):
    """The equations of the first step; `drag` is a factor."""
    return system_and_fields(sim, unilateral, preconditioner, drag)[0]


def system_and_fields(sim, unilateral=None, preconditioner="blocks", drag=1.0):
    """The same, and the fields of the mixture on the nodes."""
    state, mixture, step = sim.method.world, build_mixture(sim.scene), MixtureStep()
    sort_points(state)
    rasterize(state)
    step.fields.fit(state, DT)
    find_drag(state, DT, mixture, step)
    step.fields.drag[:] *= drag
    find_contacts(state, DT)
    if mixture.coupling == "pore-pressure":
        find_pores(state, DT, mixture, step)
    coupling = SpeciesCoupling((), step.fields.drag, pore_flux(state, step.pores))
    return CoupledSystem(state, coupling, DT, "lagged", unilateral, preconditioner), step.fields
