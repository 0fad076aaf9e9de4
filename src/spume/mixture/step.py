"""One explicit step of sand and water: [Tampubolon17] section 4, with symplectic Euler and implicit drag."""

from spume.mixture.exchange import drag, find_drag, push
from spume.mixture.free_surface import restore_volume
from spume.mixture.mixture import Mixture, MixtureFields
from spume.mixture.saturation import saturate
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
    with state.timed("grid"):
        push(state, mixture, fields)
        accelerate(state, dt)
        find_contacts(state, dt)
        drag(state, fields, dt)  # eqs. (20) to (22)
        restore_volume(state, state.species[1], fields, dt)
    gather(state, dt)  # eqs. (28) and (29)
    update_material(state, dt)  # 4.3.1 to 4.3.4
    collide_and_move(state, dt)  # eq. (30)
    state.time += dt
    state.steps += 1


def read_mixture(state: State, mixture: Mixture, fields: MixtureFields) -> None:
    """What the masses of the nodes say: drag, saturation and cohesion."""
    with state.timed("mixture"):
        fields.fit(state)
        find_drag(state, mixture, fields)
        saturate(state, mixture, fields)
