"""Meshes that deform, as signed distances and velocities on one lattice at any time.

The distances are sampled at *keys*: times between which no vertex moves by more than a sample spacing, so that the
surface may be interpolated linearly in time between two of them; for a plane that moves this is exact, for a surface
of curvature κ the error is below κ h²/8. A convex combination of 1-Lipschitz functions is 1-Lipschitz. The velocity of
a sample is that of the nearest place on the mesh.
"""

import itertools
import math
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.mesh_files.sequence import MeshSequence, read_sequence, sequence_files
from spume.geometry.sdf.mesh_samples import (
    Lattice,
    Samples,
    is_closed,
    lattice_around,
    merged_corners,
    signed_distances,
)
from spume.geometry.shapes import primitives

Floats = NDArray[np.float64]
QUARTERS = 4
"""Parts of the time between two files in which the way of the vertices is measured."""
KEPT = 4
"""Number of keys whose samples stay in memory: the two around a time, and those of the step before."""


def deforming_mesh(shape: primitives.MeshSequence, folder: Path | None = None) -> "DeformingMesh":
    """The mesh of a shape."""
    sequence = read_sequence(shape.files, shape.frame_rate, folder)
    path = sequence_files(shape.files, folder)[0]
    return _shared(_Same(sequence), shape.start, shape.scale, shape.resolution, path)


class _Same:
    """A sequence, which is the same if it is the same object: its arrays cannot be compared quickly."""

    def __init__(self, sequence: MeshSequence) -> None:
        self.sequence = sequence

    def __hash__(self) -> int:
        return id(self.sequence)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.sequence is other.sequence


@lru_cache(maxsize=8)
def _shared(same: _Same, start: float, scale: float, resolution: float | None, path: Path) -> "DeformingMesh":
    return DeformingMesh(same.sequence, start, scale, resolution, path)


class DeformingMesh:
    """Distances and velocities of a mesh at any time, in its own frame and in metres."""

    def __init__(
        self, sequence: MeshSequence, start: float, scale: float, resolution: float | None, path: Path
    ) -> None:
        self._sequence, self._start, self._scale, self._path = sequence, start, scale, path
        self._used, self._faces = merged_corners(sequence.vertices[0], sequence.first.triangles)
        self._closed = is_closed(self._faces)
        corners = np.concatenate([sequence.vertices.min(axis=1), sequence.vertices.max(axis=1)])
        # the cubic between two files leaves their box by at most 4/27 of the ways that belong to its two velocities
        ways = np.abs(np.diff(sequence.vertices, axis=0)).max(axis=(0, 1))
        around = np.concatenate([corners - 8 / 27 * ways, corners + 8 / 27 * ways])
        self.lattice = lattice_around(scale * around, resolution, path)
        self._keys = self._key_times()
        self._known: dict[int, _Key] = {}

    def _key_times(self) -> Floats:
        """Times [s] of the keys, from that of the first file to that of the last."""
        times, found = self._sequence.times, []
        for begin, end in zip(times[:-1].tolist(), times[1:].tolist()):
            quarters = [self._sequence.at(begin + part * (end - begin) / QUARTERS)[0] for part in range(QUARTERS + 1)]
            way = max(float(np.linalg.norm(x - y, axis=1).max()) for x, y in itertools.pairwise(quarters))
            parts = max(1, math.ceil(QUARTERS * self._scale * way / self.lattice.spacing))
            found += [begin + (end - begin) * part / parts for part in range(parts)]
        return np.array([*found, float(times[-1])]) + self._start

    @property
    def first(self) -> Samples:
        """The distances before anything moves."""
        key, lattice = self._key(0), self.lattice
        middle = lattice.first + 0.5 * lattice.spacing * (lattice.counts - 1)
        return Samples(lattice.first, lattice.spacing, key.factor * key.distances, 1.0, None, middle)

    def vertices(self, time: float) -> tuple[Floats, Floats]:
        """Positions [m] and velocities [m/s] of the vertices of the file at a time [s], (n, 3) each."""
        x, v = self._sequence.at(time - self._start)
        return self._scale * x, self._scale * v

    def samples(self, time: float, distances: Floats, velocities: Floats) -> None:
        """Write the distances [m] and velocities [m/s] at a time [s] to arrays (size,) and (size, 3)."""
        if (phase := self.phase(time)) != "moving":
            key = self._key(0 if phase == "before" else len(self._keys) - 1)
            distances[:] = key.factor * key.distances.ravel()
            velocities[:] = 0.0
            return
        k = int(np.searchsorted(self._keys, time, side="right")) - 1
        part = float((time - self._keys[k]) / (self._keys[k + 1] - self._keys[k]))
        one, other = self._key(k), self._key(k + 1)
        for out, before, after in (
            (distances, one.distances, other.distances),
            (velocities, one.velocities, other.velocities),
        ):
            np.subtract(after.reshape(out.shape), before.reshape(out.shape), out=out)
            out *= part
            out += before.reshape(out.shape)
        distances *= min(one.factor, other.factor)

    @property
    def size(self) -> int:
        """Number of samples."""
        return int(np.prod(self.lattice.counts))

    def phase(self, time: float) -> Literal["before", "moving", "after"]:
        """Whether the mesh deforms at a time [s], or rests before or after that."""
        return "before" if time < self._keys[0] else "moving" if time < self._keys[-1] else "after"

    def _key(self, k: int) -> "_Key":
        found = self._known.pop(k, None)
        self._known[k] = found or self._sampled(float(self._keys[k]))
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return self._known[k]

    def _sampled(self, time: float) -> "_Key":
        # the last file has the velocity with which it is reached
        inside = min(time, math.nextafter(float(self._keys[-1]), -math.inf))
        x, v = (each[self._used] for each in self.vertices(inside))
        found = signed_distances(x, self._faces, self._closed, self.lattice, self._path)
        weights = _barycentric(found.place, x[self._faces[found.nearest]])
        velocities = np.einsum("nk,nkd->nd", weights, v[self._faces[found.nearest]])
        return _Key(found.values, velocities.reshape(*self.lattice.counts, 3), found.factor)


class _Key(NamedTuple):
    """The samples at one time."""

    distances: Floats
    velocities: Floats
    factor: float
    """makes the interpolated distance 1-Lipschitz"""


def sampled_distances(vertices: Floats, triangles: NDArray[np.int64], coarse: float, path: Path) -> Samples:
    """Distances of a mesh at one time, on a lattice `coarse` times as wide as the default one, for drawing."""
    used, faces = merged_corners(vertices, triangles)
    x = vertices[used]
    default = lattice_around(x, None, path)
    lattice: Lattice = lattice_around(x, coarse * default.spacing, path)
    found = signed_distances(x, faces, is_closed(faces), lattice, path)
    return Samples(lattice.first, lattice.spacing, found.values, found.factor, None, x.mean(axis=0))


def _barycentric(x: Floats, corners: Floats) -> Floats:
    """Weights (n, 3) of the corners (n, 3, 3) of triangles at places (n, 3) on them; of the nearest corner where a
    triangle has no area."""
    a, b, c = np.moveaxis(corners, 1, 0)
    across = np.cross(b - a, c - a)
    area = np.einsum("ij,ij->i", across, across)
    flat = area <= 1e-24 * np.maximum(np.einsum("ij,ij->i", b - a, b - a), 1e-300) ** 2
    scale = np.where(flat, 1.0, area)
    beta = np.einsum("ij,ij->i", np.cross(x - a, c - a), across) / scale
    gamma = np.einsum("ij,ij->i", np.cross(b - a, x - a), across) / scale
    weights = np.stack([1.0 - beta - gamma, beta, gamma], axis=1)
    near = np.argmin(np.linalg.norm(corners - x[:, None], axis=2), axis=1)
    return np.where(flat[:, None], np.eye(3)[near], weights)
