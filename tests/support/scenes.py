"""Small scenes for verification, made in code."""

from typing import Any

from spume import Scene, Simulation

SOFT = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1.0e4, "poisson_ratio": 0.3}


def simulate(**tables: Any) -> Simulation:
    """A simulation of an MPM scene; tables given here replace the defaults."""
    scene: dict[str, Any] = {"title": "verification", "method": "mpm", "duration": 1000.0, "material": {"solid": SOFT}}
    return Simulation(Scene(**(scene | tables)))


def box(dimension: int, center, size) -> dict[str, Any]:
    """The shape of a rectangle or a box."""
    name = "rectangle" if dimension == 2 else "box"
    return {name: {"center": list(center)[:dimension], "size": list(size)[:dimension]}}


def ball(dimension: int, center, radius: float) -> dict[str, Any]:
    """The shape of a disc or a ball."""
    return {"circle" if dimension == 2 else "sphere": {"center": list(center)[:dimension], "radius": radius}}


def half_space(point, normal) -> dict[str, Any]:
    """The shape of everything below a plane."""
    return {"half_space": {"point": list(point), "normal": list(normal)}}
