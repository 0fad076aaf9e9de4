"""Normal impulses of the contacts of a node, which tell the contacts that push from those that pull.

The impulse of the obstacles at a node with one contact is λ n. In a corner it is Σ λ_k n_k over several contacts, and
none of the λ_k is the component of the sum along n_k: between two faces that meet at an acute angle that component can
be negative although both faces push.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SPANNED = 1e-8
"""Normals that differ by less from the span of the others count as dependent, as in the projection of solvers."""


def normal_impulses(
    node: NDArray[np.int64], normal: Floats, active: NDArray[np.bool_], separating: NDArray[np.bool_], impulse: Floats
) -> Floats:
    """λ of each contact, such that Σ λ n over the `active` contacts of a node is closest to the `impulse` at it.

    `node` is sorted; `impulse` (contacts, d) is repeated for the contacts of a node. If separating contacts of a corner
    cannot all push, those that push in the closest combination that only pushes have λ > 0, and the others λ < 0.
    Contacts that are not active have the component along their normal.
    """
    from scipy.optimize import nnls  # slow to import

    push: NDArray[np.float64] = np.einsum("nq,nq->n", dual_normals(node, normal, active), impulse)
    finite = np.asarray(np.isfinite(impulse).all(axis=1))  # others belong to a diverging step
    for contacts in _corners(node, active):
        contacts = contacts[finite[contacts[:, 0]] & separating[contacts].all(axis=1)]
        for own in contacts[(push[contacts] < 0.0).any(axis=1)]:
            pushing, _ = nnls(normal[own].T, impulse[own[0]])
            push[own] = np.where(pushing > 0.0, pushing, -np.abs(push[own]))
    return push


def dual_normals(node: NDArray[np.int64], normal: Floats, active: NDArray[np.bool_]) -> Floats:
    """For each contact the vector whose scalar product with the impulse at its node is λ, before pushing contacts of
    corners are told from those that cannot push."""
    dual = normal.copy()
    for contacts in _corners(node, active):
        dual[contacts] = np.linalg.pinv(normal[contacts].transpose(0, 2, 1), SPANNED)
    return dual


def _corners(node: NDArray[np.int64], active: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Contacts of nodes with several active ones, shape (nodes, contacts of each), by the number of contacts."""
    chosen = np.flatnonzero(active)
    _, first, count = np.unique(node[chosen], return_index=True, return_counts=True)
    for size in range(2, int(count.max(initial=1)) + 1):
        contacts = chosen[first[count == size][:, None] + np.arange(size)]
        if len(contacts):
            yield contacts
