"""The step of sand and water as lists of stages, [Tampubolon17] section 4: symplectic Euler with implicit drag, or
semi-implicit."""

from spume.matter.stages import Stage
from spume.mixture.even_pressure import even_pressure
from spume.mixture.exchange import drag, find_drag, push
from spume.mixture.free_surface import restore_volume
from spume.mixture.mixture import Mixture, MixtureStep
from spume.mixture.pore_pressure import deform_by_flux, find_pores, find_walls, pore_flux, share_pressure
from spume.mixture.saturation import saturate
from spume.mpm.implicit.coupled_system import SpeciesCoupling
from spume.mpm.implicit.semi_implicit import SemiImplicit
from spume.mpm.step import CROWDED_SAND, GATHER, MATERIAL, MOVE, RASTERIZE, SORT, accelerate, find_contacts
from spume.mpm.world import GridWorld


def explicit_mixture_stages(mixture: Mixture, step: MixtureStep) -> list[Stage]:
    """Symplectic Euler."""
    pores = mixture.coupling == "pore-pressure"
    return [
        SORT,
        RASTERIZE,  # 4.1 mass, momentum, eqs. (14) and (15); forces, eqs. (16) and (17)
        Stage("mixture", step.fields.fit),
        Stage("mixture", find_drag, mixture, step),
        Stage("mixture", saturate, mixture, step),  # 4.3.3 saturation and cohesion
        Stage("pores", find_pores, mixture, step, when=pores),
        Stage("grid", push, mixture, step),
        Stage("grid", find_contacts),
        Stage("grid", find_walls, step, when=pores),
        Stage("grid", share_pressure, step, when=pores),
        Stage("grid", accelerate),
        Stage("grid", drag, step),  # eqs. (20) to (22)
        Stage("grid", restore_volume, mixture, step, energy="volume correction"),
        Stage("pores", even_pressure, mixture, when=pores, energy="volume correction"),
        GATHER,  # eqs. (28) and (29)
        Stage("pores", deform_by_flux, step, when=pores),
        CROWDED_SAND,
        MATERIAL,  # 4.3.1 to 4.3.4
        MOVE,  # eq. (30)
    ]


def semi_implicit_mixture_stages(mixture: Mixture, step: MixtureStep, solver: SemiImplicit) -> list[Stage]:
    """Backward Euler with lagged plasticity; drag and pore pressure are part of the solved system."""
    pores = mixture.coupling == "pore-pressure"
    return [
        SORT,
        RASTERIZE,
        Stage("mixture", step.fields.fit),
        Stage("mixture", find_drag, mixture, step),
        Stage("mixture", exchange_forces, mixture, step),
        Stage("implicit solve", solver.solve_step, step),
        Stage("mixture", saturate, mixture, step),
        Stage("mixture", restore_volume, mixture, step, energy="volume correction"),
        Stage("pores", even_pressure, mixture, when=pores, energy="volume correction"),
        GATHER,
        Stage("pores", find_walls, step, when=pores),
        Stage("pores", deform_by_flux, step, when=pores),
        CROWDED_SAND,
        MATERIAL,
        MOVE,
    ]


def exchange_forces(world: GridWorld, dt: float, mixture: Mixture, step: MixtureStep) -> None:
    """Collect for the solver the forces between the species, their drag and the pores."""
    before = [species.fields["force"].copy() for species in world.species]
    push(world, dt, mixture, step)
    moved = tuple(species.fields["force"] - force for species, force in zip(world.species, before))
    if mixture.coupling == "pore-pressure":
        find_pores(world, dt, mixture, step)
    step.coupling = SpeciesCoupling(moved, step.fields.drag, pore_flux(world, step.pores))
