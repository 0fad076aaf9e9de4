"""Matrix-free linear system of an implicit step: gather gradients, scatter stresses.

For velocities v at the active nodes

    A v = m v + s Σ_p V T_p(∇v) ∇w,

where T_p is the linear response of the material of point p to a velocity gradient, a map of tensors. If T is the
tangent of the Kirchhoff stress and s = Δt², this is backward Euler; for a viscosity s = Δt. A is symmetric if every T_p
is (A : T(B) = B : T(A)), because gather and scatter are adjoint. One multiplication costs two transfers.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from spume.grid.contacts import Contacts
from spume.grid.nodes import DegreesOfFreedom, NodeFields, Nodes
from spume.grid.transfers import Transfers

Tangent = Callable[[NDArray[np.float64], NDArray[np.float64]], None]
"""tangent(L, T): write the responses to the gradients L to T, both of shape (n, 3, 3)."""


class StressSystem:
    """A system for `numerics.krylov`, whose vectors have the shape (active nodes, d)."""

    def __init__(
        self, transfers: Transfers, nodes: Nodes, dofs: DegreesOfFreedom, mass: NDArray[np.float64],
        x: NDArray[np.float64], volume: NDArray[np.float64], tangent: Tangent, scale: float,
        contacts: Contacts | None = None, engaged: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        """`mass`: of the active nodes [kg]; `x`, `volume`: of the points for which the transfers are connected;
        `scale`: s. The solution satisfies the `contacts` that are `engaged`."""
        self._transfers, self._dofs = transfers, dofs
        self._mass = mass[:, None]
        self._x, self._volume = x, volume
        self._tangent, self._scale = tangent, scale
        self._contacts, self._engaged = contacts, engaged
        self._fields = NodeFields(vector=nodes.dimension)
        self._fields.fit(nodes)
        self._gradient, self._answer = np.empty((len(x), 3, 3)), np.empty((len(x), 3, 3))

    def multiply(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """A v."""
        field = self._fields.array
        self._dofs.put(v, field)
        self._transfers.to_points(("gradient",), self._x, field, tensor=self._gradient)
        self._tangent(self._gradient, self._answer)
        self._transfers.to_grid(
            ("tensor divergence",), self._x, field, room=self._fields.room, volume=self._volume, tensor=self._answer
        )
        return self._mass * v - self._scale * self._dofs.take(field)

    def precondition(self, r: NDArray[np.float64]) -> NDArray[np.float64]:
        """r divided by the masses."""
        return r / self._mass

    def project(self, v: NDArray[np.float64]) -> None:
        """Remove the components constrained by contacts."""
        if self._contacts is not None:
            assert self._engaged is not None
            self._contacts.project(v, self._dofs, self._engaged)

    def dots(self, pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> list[float]:
        """Inner products."""
        return self._dofs.dots(pairs)
