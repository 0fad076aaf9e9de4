"""The energy budget that methods with points report: what changed the kinetic and elastic energy of the points.

Every term is the energy that the points have gained from one cause since the start [J]: positive where energy was put
in, negative where it was lost.

    kinetic + elastic = Σ terms + unaccounted

Each term has a formula of its own. `unaccounted` is the difference that remains, and belongs to no cause.
"""

TERMS = {
    "sources": "energy of released points",
    "gravity": "work of gravity, Σ m g·Δx",
    "loads": "work of forces from outside",
    "obstacles": "work of moving obstacles",
    "changes": "changes of the scene during the run",
    "flow": "plastic and viscous flow",
    "contacts": "friction and impacts on obstacles",
    "drag": "drag between sand and water",
    "transfers": "transfers between points and grid",
    "damping": "damping of velocities",
    "tearing": "limits of torn material",
    "removal": "removed points",
    "resampling": "inserted and merged points",
    "volume correction": "volume corrections of sand and water",
    "consistency": "deformations of solids led back to their positions",
    "time integration": "time steps of finite length",
}
"""Each term of the budget, with what it stands for. A method reports those it has."""
UNACCOUNTED = "unaccounted"
TOLERANCE = 0.01
"""Part of the energy ever put in that may remain unaccounted for without a warning [1]."""
