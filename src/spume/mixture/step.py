"""One step of sand and water, [Tampubolon17] section 4: symplectic Euler with implicit drag, or semi-implicit."""

from spume.mixture.exchange import drag, find_drag, push
from spume.mixture.free_surface import restore_volume
from spume.mixture.mixture import Mixture, MixtureFields
from spume.mixture.pore_pressure import deform_by_flux, find_pores, share_pressure
from spume.mixture.saturation import saturate
from spume.mpm.implicit.coupled_system import Exchange, PoreVolumes
from spume.mpm.implicit.semi_implicit import SemiImplicit
from spume.mpm.reflection import closed_walls
from spume.mpm.state import State
from spume.mpm.step import (
    accelerate,
    collide_and_move,
    find_contacts,
    gather,
    rasterize,
    sort_points,
    update_material,
)


def mixture_step(state: State, mixture: Mixture, fields: MixtureFields, dt: float) -> None:
    """Advance `state`, whose species are sand and water, by dt [s]."""
    sort_points(state)
    rasterize(state)  # 4.1 mass, momentum, eqs. (14) and (15); forces, eqs. (16) and (17)
    read_mixture(state, mixture, fields)  # 4.3.3 saturation and cohesion
    pores = find_pores(state, mixture, fields) if mixture.coupling == "pore-pressure" else None
    with state.timed("grid"):
        push(state, mixture, fields)
        find_contacts(state, dt)
        walls = None
        if pores is not None:
            walls = closed_walls(state, state.species[1], state.species[0])
            share_pressure(state, pores, walls, dt)
        accelerate(state, dt)
        drag(state, fields, dt)  # eqs. (20) to (22)
        restore_volume(state, mixture, fields, dt, pores)
    gather(state, dt)  # eqs. (28) and (29)
    if pores is not None and walls is not None:
        deform_by_flux(state, pores, walls, dt)
    update_material(state, dt)  # 4.3.1 to 4.3.4
    collide_and_move(state, dt)  # eq. (30)
    state.time += dt
    state.steps += 1


def read_mixture(state: State, mixture: Mixture, fields: MixtureFields) -> None:
    """Compute drag, saturation and cohesion from the masses of the nodes."""
    with state.timed("mixture"):
        fields.fit(state)
        find_drag(state, mixture, fields)
        saturate(state, mixture, fields)


class SemiImplicitMixture:
    """The semi-implicit step of a mixture: supplies the exchange between the species to the solver."""

    def __init__(self, solver: SemiImplicit) -> None:
        self.solver = solver

    def step(self, state: State, mixture: Mixture, fields: MixtureFields, dt: float) -> None:
        """Advance `state` by dt [s]."""
        pores: list[PoreVolumes | None] = [None]

        def exchange(state: State) -> Exchange:
            fields.fit(state)
            find_drag(state, mixture, fields)
            before = [species.fields["force"].copy() for species in state.species]
            push(state, mixture, fields)
            moved = tuple(species.fields["force"] - force for species, force in zip(state.species, before))
            pores[0] = find_pores(state, mixture, fields) if mixture.coupling == "pore-pressure" else None
            return Exchange(moved, fields.drag, pores[0])

        def settle(state: State, h: float) -> None:
            saturate(state, mixture, fields)
            restore_volume(state, mixture, fields, h, pores[0])

        def finish(state: State, h: float) -> None:
            if pores[0] is not None:
                walls = closed_walls(state, state.species[1], state.species[0])
                deform_by_flux(state, pores[0], walls, h)

        self.solver.step(state, dt, exchange, settle, finish)
