"""Embedded surfaces: fine meshes of the initial shapes of bodies that deform with the material. [Fang19] §9

Each vertex is bound to the points nearest to it at the start. Its position in a frame is c + A (X − C): the affine map
that takes the initial positions of these points to their current ones by least squares, with weights that
decrease to zero at the farthest of them. C and c are the weighted means of the initial and current positions and X is
the initial vertex. The map is exact where the body moves affinely, does not accumulate errors from step to step, and is
computed only for frames. The mesh keeps its triangles, so it does not tear with the material: where points have parted,
a warning recommends the reconstructed surface.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.fields import Field, Population
from spume.geometry.filling.fill import Filling
from spume.geometry.surface_mesh import surface_mesh
from spume.matter.nearest import nearest
from spume.matter.world import World
from spume.ranks.ranks import Ranks
from spume.scene.material_scene import MaterialScene

NEIGHBOURS = 24
"""Number of points to which a vertex is bound: within about 1.2 cells at a flat surface with 8 points per cell."""
RIGID = 1e-3
"""Weight of the fitted rotation relative to the fitted gradient, which determines the normal of a layer of points."""
PARTED = 1e-3
"""Fraction of a mesh's vertices whose points may part before a warning is issued: single points fly off without a
visible change of the mesh."""
DIFFERENCE = 1e-4
"""Movement of points by which the map of a vertex is differentiated, relative to their distances: the error of the
difference is its square, that of rounding 1e-12."""
CHUNK = 20_000
"""Number of vertices processed at a time, to limit memory."""
FIELDS = (
    Field("x", (3,), 0.0, "m", "average", description="position"),
    Field("v", (3,), 0.0, "m/s", "average", description="velocity"),
    Field("triangles", (3,), 0, "1", "new", dtype="int32", description="vertices of each triangle"),
    Field("material", (), 0, "1", "nearest", dtype="int32", description="index of the material"),
)


class EmbeddedSurface:
    """The mesh of one body. It is empty until the body has appeared."""

    def __init__(
        self, name: str, vertices: NDArray[np.float64], triangles: NDArray[np.int32], material: int, species: int
    ) -> None:
        self.name = name
        self.species = species
        """Index of the species of the body."""
        self.vertices = vertices
        """Initial positions (m, 3) [m]."""
        self.triangles = triangles
        self.material = np.full(len(vertices), material, np.int32)
        self.first_id: int | None = None
        """Id of the first point of the body, once it has appeared."""
        self.bound_ids = np.empty(0, np.int64)
        """Ids of all points that vertices are bound to."""
        self._unbound: Filling | None = None
        """The points of the body, until vertices are bound to them."""

    def appear(self, filling: Filling, first_id: int) -> None:
        """The points of the body have appeared, with ids from `first_id` on. Vertices are bound to them by all ranks
        together, when the surface is first needed."""
        if first_id != self.first_id:
            self.first_id, self._unbound = first_id, filling

    def bind(self, ranks: Ranks) -> None:
        """Bind the vertices to points of the body, if that has not been done. One rank keeps to which."""
        if self._unbound is None or self.first_id is None:
            return
        filling, self._unbound = self._unbound, None
        count = min(NEIGHBOURS, filling.count)
        found = nearest(self.vertices, filling.positions, filling.places, count, ranks)
        numbers = np.empty(0, np.int64)
        if found is not None:
            numbers = np.unique(found.number)
            self.ids = self.first_id + found.number
            """Points that each vertex is bound to (m, k)."""
            self.initial = found.x
            """Their initial positions (m, k, 3) [m]."""
            farthest = found.distance.max(axis=1, keepdims=True) * (1.0 + 1e-6)
            self.weights = (1.0 - (found.distance / farthest) ** 2) ** 2
        self.bound_ids = self.first_id + ranks.totals_by(numbers, np.ones_like(numbers))[0]

    def declaration(self, spacing: float) -> Population:
        """Population of the surface in frames."""
        return Population(self.name, FIELDS, "mesh", spacing)

    def points_bound_to(self, world: World[Any]) -> Mapping[str, NDArray[Any]] | None:
        """Id, position and velocity of at least the points that vertices are bound to; None on all ranks but one."""
        self.bind(world.ranks)
        p = world.species[self.species].particles
        return world.ranks.collected({"id": p.id, "x": p.x, "v": p.v}, self.bound_ids)

    def arrays(self, points: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Arrays of a frame. Triangles of vertices with fewer than four remaining points are omitted."""
        if self.first_id is None:
            nothing = self.vertices[:0]
            return {"x": nothing, "v": nothing, "triangles": self.triangles[:0], "material": self.material[:0]}
        x, v = self.vertices.copy(), np.zeros_like(self.vertices)
        bound = np.zeros(len(x), bool)
        for part, near, present in self._bound_points(points):
            current = np.where(present[..., None], points["x"][near], self.initial[part])
            speed = np.where(present[..., None], points["v"][near], 0.0)
            weights = np.where(present, self.weights[part], 0.0)
            bound[part] = np.count_nonzero(weights, axis=1) >= 4
            weights[~bound[part]] = 1.0
            x[part] = deformed(self.vertices[part], self.initial[part], current, weights)
            v[part] = moving(self.vertices[part], self.initial[part], current, speed, weights)
        kept = bound[self.triangles].all(axis=1)
        return {"x": x, "v": v, "triangles": self.triangles[kept], "material": self.material}

    def parted(self, points: Mapping[str, NDArray[Any]], reach: float) -> float:
        """Fraction of the vertices whose points have parted: a gap wider than `reach` [m] along an axis separates them.

        With `reach` the width of the splines, the points on both sides of the gap share no node and exert no forces
        on each other.
        """
        if self.first_id is None or len(self.vertices) == 0:
            return 0.0
        count = 0
        for _, near, present in self._bound_points(points):
            current = points["x"][near]
            first = np.take_along_axis(current, present.argmax(axis=1)[:, None, None], axis=1)
            sorted_axes = np.sort(np.where(present[..., None], current, first), axis=1)
            count += int((np.diff(sorted_axes, axis=1) > reach).any(axis=(1, 2)).sum())
        return count / len(self.vertices)

    def _bound_points(
        self, points: Mapping[str, NDArray[Any]]
    ) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.bool_]]]:
        """For some vertices at a time: which, the present indices of their points (m, k), and whether each of these
        points still exists (m, k)."""
        order = np.argsort(points["id"])
        ids = points["id"][order]
        if not ids.size:
            return
        for first in range(0, len(self.vertices), CHUNK):
            part = slice(first, first + CHUNK)
            place = np.minimum(np.searchsorted(ids, self.ids[part]), len(ids) - 1)
            yield part, order[place], ids[place] == self.ids[part]


def deformed(
    vertices: NDArray[np.float64], initial: NDArray[np.float64], current: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """Positions (m, 3) of `vertices` moved by the affine maps that fit `initial` to `current` positions (m, k, 3)."""
    w = weights / weights.sum(axis=1, keepdims=True)
    C, c = np.einsum("mk,mki->mi", w, initial), np.einsum("mk,mki->mi", w, current)
    D, d = initial - C[:, None], current - c[:, None]
    moments = np.einsum("mk,mki,mkj->mij", w, D, D)
    mixed = np.einsum("mk,mki,mkj->mij", w, d, D)
    U, _, Vt = np.linalg.svd(mixed)
    U[:, :, 2] *= np.sign(np.linalg.det(U) * np.linalg.det(Vt))[:, None]
    rigid = RIGID * np.trace(moments, axis1=1, axis2=2)[:, None, None]
    moments, mixed = moments + rigid * np.eye(3), mixed + rigid * (U @ Vt)
    return np.asarray(c + np.einsum("mij,mj->mi", mixed, np.linalg.solve(moments, (vertices - C)[..., None])[..., 0]))


def moving(
    vertices: NDArray[np.float64], initial: NDArray[np.float64], current: NDArray[np.float64],
    v: NDArray[np.float64], weights: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """Velocities (m, 3) [m/s] of `vertices` whose points have the velocities `v` (m, k, 3): the central difference of
    `deformed` over a time in which the points move by DIFFERENCE of their distances."""
    fastest = float(np.sqrt(np.einsum("mki,mki->mk", v, v).max(initial=0.0)))
    if fastest == 0.0:
        return np.zeros_like(vertices)
    apart = float(np.abs(initial - initial.mean(axis=1, keepdims=True)).max())
    h = DIFFERENCE * (apart or 1.0) / fastest
    after, before = (deformed(vertices, initial, current + sign * h * v, weights) for sign in (1.0, -1.0))
    return np.asarray((after - before) / (2.0 * h))


def embedded_surfaces(scene: MaterialScene, species_of_material: Sequence[int]) -> dict[int, EmbeddedSurface]:
    """The surfaces of the bodies that ask for one, by the index of the body."""
    found = {}
    for k, body in enumerate(scene.body):
        if body.surface != "embedded":
            continue
        name = f"surface of {body.name or f'body {k}'}".replace("/", " ")
        spacing = scene.cell / body.fill.points_per_axis
        try:
            vertices, triangles = surface_mesh(body.shape, spacing, scene.folder)
        except SceneError as error:
            raise SceneError(f"body.{k}.surface is 'embedded': {error}") from None
        material = scene.material_index(body.material, body.look)
        found[k] = EmbeddedSurface(name, vertices, triangles, material, species_of_material[material])
    return found


def parting_warning(surfaces: Iterable[EmbeddedSurface], world: World[Any]) -> dict[str, str]:
    """Warnings, by topic, for surfaces that span gaps between parted points."""
    cells = round(world.reach / world.cell)
    warnings = {}
    for surface in surfaces:
        points = surface.points_bound_to(world)
        part = surface.parted(points, world.reach) if points is not None else 0.0
        if part > PARTED:
            warnings[surface.name] = (
                f"at t = {world.time:.4g} s the embedded '{surface.name}' spans gaps: points of {part:.2g} of its "
                f"vertices have parted by more than {cells} cells; --skin reconstructed shows the gaps, as does "
                "surface = 'reconstructed' in the scene; smaller cells keep stretched material together"
            )
    return warnings
