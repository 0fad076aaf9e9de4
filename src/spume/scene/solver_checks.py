"""Consistency checks of the tables for grid and solver, before anything is computed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spume.scene.material_checks import with_known_laws
from spume.scene.problems import Problem

if TYPE_CHECKING:
    from spume.scene.mpm import MpmScene

_KEPT = "a round trip would discard the velocities between nodes that it keeps"
WITHOUT_ROUND_TRIPS = {
    "pic": "every step of it damps like two round trips, and rotation, too; drop [damping], or use scheme 'apic'",
    "flip": f"{_KEPT}; lower transfer.flip, or use scheme 'apic'",
    "aflip": f"{_KEPT}; raise transfer.damping_rate, or use scheme 'apic'",
}
"""Why round trips make no sense with a transfer scheme, and what to do. A step of PIC transfers velocities to the grid
and back without their gradients: a viscosity of h²/(4 Δt) with quadratic splines, which damps rotation, too."""


def solver_problems(scene: "MpmScene") -> Iterator[Problem]:
    """Problems of the tables for grid and solver."""
    yield from _implicit(scene)
    if scene.grid.frame == "total":
        yield from _total_frame(scene)
    damping = scene.damping
    if damping.rpic_iterations and damping.viscosity:
        yield Problem("damping", "has both 'rpic_iterations' and 'viscosity': give one of them")
    if (damping.rpic_iterations or damping.viscosity) and scene.transfer.scheme != "apic":
        scheme = scene.transfer.scheme
        yield Problem("damping", f"is given with transfer scheme '{scheme}': {WITHOUT_ROUND_TRIPS[scheme]}")
    if scene.transfer.flip is not None and scene.transfer.scheme != "flip":
        yield Problem(
            "transfer.flip",
            f"is {scene.transfer.flip:g} with scheme '{scene.transfer.scheme}': drop it, or use scheme = 'flip'",
        )
    if scene.transfer.damping_rate is not None:
        if scene.transfer.scheme not in ("flip", "aflip"):
            yield Problem(
                "transfer.damping_rate",
                f"is given with scheme '{scene.transfer.scheme}', which damps in every step: drop it, or use scheme = "
                "'aflip' or 'flip'",
            )
        elif scene.transfer.flip is not None:
            yield Problem("transfer", "has both 'flip' and 'damping_rate': give one of them")


def _implicit(scene: "MpmScene") -> Iterator[Problem]:
    if scene.time.integrator != "implicit":
        if scene.implicit is not None and not scene.time.names_integrator:
            yield Problem(
                "implicit",
                f"is given with integrator '{scene.time.integrator}': it belongs to 'implicit'; drop it, or set "
                "time.integrator",
            )
        return
    if scene.time.deformation == "second-order":
        yield Problem(
            "time.deformation", "is 'second-order' with integrator 'implicit': implicit steps deform by I + Δt L"
        )
    for material in with_known_laws(scene):
        if not material.law.branches:
            yield Problem(
                f"material.{material.name}.law",
                f"is '{material.law.name}', which only explicit steps support: use integrator = 'explicit'",
            )


def _total_frame(scene: "MpmScene") -> Iterator[Problem]:
    """What a grid that deforms with the material cannot do."""
    key, time, transfer = "grid.frame", scene.time, scene.transfer
    if scene.method != "mpm":
        yield Problem(key, f"is 'total' with method '{scene.method}': only 'mpm' has a grid that deforms with a body")
    if time.integrator == "semi-implicit":
        yield Problem(key, "is 'total' with integrator 'semi-implicit': use 'explicit' or 'implicit'")
    if time.deformation == "second-order":
        yield Problem(
            "time.deformation", "is 'second-order' with grid.frame = 'total', where I + Δt L is exact: drop it"
        )
    if len(scene.body) != 1 or scene.emitter:
        count = f"{len(scene.body)} bodies and {len(scene.emitter)} emitters"
        yield Problem(key, f"is 'total' in a scene of {count}: the grid deforms with one body and knows no other")
    if transfer != type(transfer)():
        yield Problem("transfer", "is given with grid.frame = 'total', where the nodes keep their velocities: drop it")
    if scene.damping.rpic_iterations or scene.damping.viscosity:
        yield Problem(
            "damping",
            "is given with grid.frame = 'total', where no velocities go from points to the grid and back: use a "
            "viscoelastic law, or implicit steps",
        )
    if scene.frames.energy:
        yield Problem(
            "frames.energy", "is true with grid.frame = 'total', where energy is not lost in transfers: drop it"
        )
    for material in with_known_laws(scene):
        traits = material.law.traits
        if traits.fluid or traits.granular or traits.tearing:
            yield Problem(
                f"material.{material.name}.law",
                f"is '{material.law.name}', which flows or tears without limit: a grid that deforms with it would be "
                "turned inside out; use grid.frame = 'updated'",
            )
