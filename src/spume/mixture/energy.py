"""The energy budget of sand and water: what `mpm/energy.py` needs to know about the stages of a mixture."""

import numpy as np

from spume.mixture.exchange import drag
from spume.mixture.mixture import MixtureStep
from spume.mixture.pore_pressure import deform_by_flux
from spume.mpm.energy import EnergyBudget, OwnStages
from spume.mpm.energy_nodes import Exchanged, count_nodes, keep_forced
from spume.mpm.world import GridWorld


def budget_stages(step: MixtureStep) -> OwnStages:
    """Stages of the budget around those of a mixture, which hand on `step`."""

    def exchanged(world: GridWorld, dt: float) -> Exchanged:
        """Drag with the velocities at the end of the step, which are what its equations contain, and buoyancy."""
        sand, water = (species.fields for species in world.species)
        both = (sand["mass"] > 0.0) & (water["mass"] > 0.0)
        coefficient = np.where(both, step.fields.drag, 0.0)[:, None, :]
        pushed = None if step.pushed is None else dt * step.pushed
        return Exchanged(-dt * coefficient * (sand["velocity"] - water["velocity"]), pushed)

    return OwnStages(exchanged, {drag: keep_forced}, {drag: count_nodes, deform_by_flux: count_flux})


def count_flux(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Work of the stress of the water in the deformation by the flux of both phases."""
    budget.power[1][:] = budget.power_now(world.species[1])
