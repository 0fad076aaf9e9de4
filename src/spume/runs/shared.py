"""What all ranks of a run do at the same time for its files: write parts of a frame or checkpoint, and read them."""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.matter.method import ParticleMethod
from spume.methods import method_class
from spume.ranks.migration import pack, unpack_points
from spume.ranks.team import Team
from spume.runs.changes import continued
from spume.runs.parts import joined, read_some_parts, write_part
from spume.runs.restoring import DOES_NOT_FIT, restore_checked
from spume.runs.storage import stored_arrays
from spume.scene.common import Scene

Arrays = dict[str, NDArray[Any]]
Shared = ParticleMethod[Any, Any]


def shared_method(scene: Scene, team: Team) -> Shared:
    """A method of the scene on this rank."""
    kind: Any = method_class(scene.method)
    method: Shared = kind(scene, team)
    return method


def changed_share(method: Shared, team: Team, scene: Scene) -> Shared:
    """A method of `scene` with the points of this rank, in the state of `method`: see `with_scene`."""
    arrays, own = method.checkpoint()
    values = team.messages.broadcast(own)
    with team.agreed(speaking=True):  # all agree in `build_sources` before they speak of anything else
        new: Any = shared_method(scene, team)
        continued(new, arrays, values)
    team.forget()
    found: Shared = new
    return found


def shared_arrays(method: Shared, what: str) -> tuple[dict[str, Arrays], Arrays, dict[str, Any]]:
    """Of a "frame" or a "checkpoint": the arrays of which each rank has some rows, by population, the other arrays,
    which the writer has whole, and values. In a frame these rows are the points of the species; everything in a
    checkpoint is divided."""
    if what == "checkpoint":
        arrays, values = method.checkpoint()
        return _by_population(arrays), {}, values
    frame, names = method.frame(), {species.name for species in method.world.species}
    others = stored_arrays({name: arrays for name, arrays in frame.items() if name not in names})
    return {name: arrays for name, arrays in frame.items() if name in names}, others, {}


def _by_population(arrays: Arrays) -> dict[str, Arrays]:
    """Arrays called "population/field", by population and field."""
    found: dict[str, Arrays] = {}
    for name, array in arrays.items():
        population, _, field = name.partition("/")
        found.setdefault(population, {})[field] = array
    return found


def gather_whole(method: Shared, team: Team, what: str) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and values of a frame or checkpoint with all points, on the writer."""
    points, whole, values = shared_arrays(method, what)
    for species, own in points.items():
        found = team.collected(own)
        whole |= {f"{species}/{name}": array for name, array in (found or {}).items()}
    return whole, values


def gather_points(method: Shared, team: Team) -> dict[str, Arrays]:
    """All points by species, on the writer; nothing on the others."""
    found = {species.name: team.collected(species.particles.arrays()) for species in method.world.species}
    return {name: arrays for name, arrays in found.items() if arrays is not None}


def write_own_part(method: Shared, team: Team, what: str, folder: str) -> tuple[list[str], Arrays, dict[str, Any]]:
    """Write the points of this rank to a part in `folder`. Return, on the writer, the checksums of all parts, the
    arrays that are not divided, and values."""
    points, others, values = shared_arrays(method, what)
    arrays = {f"{species}/{name}": array for species, own in points.items() for name, array in own.items()}
    checksum = ""
    with team.agreed():
        checksum = write_part(Path(folder), team.rank, arrays)
    parts = team.messages.gather(np.frombuffer(checksum.encode(), np.uint8))
    return [part.tobytes().decode() for part in parts or ()], others, values


def restore_share(method: Shared, team: Team, values: dict[str, Any]) -> None:
    """Restore a state of which the writer has all points: each rank keeps a part of them, until the first step moves
    them to their owners."""
    own: Arrays = {}
    for population, arrays in _by_population(method.state_arrays()).items():
        parts = None
        if team.rank == 0:
            count = len(next(iter(arrays.values())))
            bounds = [count * k // team.size for k in range(team.size + 1)]
            parts = [pack(arrays, slice(first, last)) for first, last in itertools.pairwise(bounds)]
        share = unpack_points(arrays, [team.messages.scatter(parts)])
        own |= {f"{population}/{name}": array for name, array in share.items()}
    method.restore(own, values)
    team.forget()


def restore_parts(method: Shared, team: Team, path: str, values: dict[str, Any]) -> None:
    """Restore a state whose points are in the parts of the checkpoint at `path`: each rank reads some of these. Raises
    CacheError on all ranks if the state does not fit the scene."""
    file = Path(path)
    with team.agreed(), _fitting(file):
        parts = read_some_parts(file, team.rank, team.size)
        nothing = {name: array[:0] for name, array in method.checkpoint()[0].items()}
        restore_checked(method, joined(parts) or nothing, values)
    of_all = [_some_ids(species.particles.id, team) for species in method.world.species]
    with team.agreed(), _fitting(file):
        if any(len(np.unique(ids)) < len(ids) for ids in of_all):
            raise ValueError("the field 'id' of its points has numbers that occur twice")
    team.forget()


@contextlib.contextmanager
def _fitting(file: Path) -> Iterator[None]:
    try:
        yield
    except DOES_NOT_FIT as error:
        raise CacheError(f"'{file}' does not fit the scene of its run: {error}") from error


def _some_ids(ids: NDArray[np.int64], team: Team) -> NDArray[np.int64]:
    """Of the ids of points of all ranks, those that this rank looks at; equal ones are looked at by the same rank."""
    sorter = ids % team.size
    outgoing = {rank: np.ascontiguousarray(ids[sorter == rank]).view(np.uint8) for rank in range(team.size)}
    mine = outgoing.pop(team.rank).view(np.int64)
    return np.concatenate([mine, *(part.view(np.int64) for part in team.messages.exchange(outgoing).values())])
