"""Runs of one scene that differ in resolution or seed, whose spread says what counts as a difference."""

from collections.abc import Iterable, Mapping

from reports.case import Surroundings
from reports.runs import run_of

from spume import Run


def at_cells(around: Surroundings, scene: str, cells: Iterable[float]) -> list[Run]:
    """Runs of the preset with each of the cells [m]."""
    return at_sizes(around, scene, "grid.cell", cells)


def at_sizes(
    around: Surroundings,
    scene: str,
    key: str,
    sizes: Iterable[float],
    changes: Mapping[str, object] | None = None,
    variant: str = "",
) -> list[Run]:
    """Runs of the preset with each of the sizes [m] at `key`; `variant` names further `changes`."""
    first = "-".join(filter(None, (scene, variant, around.preset)))
    return [
        run_of(around, scene, {key: size, **(changes or {})}, folder=f"{first}-{1e3 * size:g}-mm") for size in sizes
    ]


def with_seeds(around: Surroundings, scene: str, seeds: Iterable[int] = (0, 1, 2)) -> list[Run]:
    """Runs of the preset with each of the seeds."""
    return [run_of(around, scene, {"seed": seed}, folder=f"{scene}-{around.preset}-seed-{seed}") for seed in seeds]
