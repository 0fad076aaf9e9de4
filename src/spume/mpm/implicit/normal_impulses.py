"""Normal impulses of the contacts of a node, which tell the contacts that push from those that pull.

The impulse of the obstacles at a node with one contact is λ n. In a corner it is Σ λ_k n_k over several contacts, and
none of the λ_k is the component of the sum along n_k: between two faces that meet at an acute angle that component can
be negative although both faces push.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

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
    push: NDArray[np.float64] = np.einsum("nq,nq->n", impulse, normal)
    chosen = np.flatnonzero(active)
    _, first, count = np.unique(node[chosen], return_index=True, return_counts=True)
    for size in range(2, int(count.max(initial=1)) + 1):
        contacts = chosen[first[count == size][:, None] + np.arange(size)]
        if len(contacts) == 0:
            continue
        contacts = contacts[np.isfinite(impulse[contacts[:, 0]]).all(axis=1)]  # others belong to a diverging step
        normals = normal[contacts]
        found = np.einsum("nkq,nq->nk", np.linalg.pinv(normals.transpose(0, 2, 1), SPANNED), impulse[contacts[:, 0]])
        for k in np.flatnonzero((found < 0.0).any(axis=1) & separating[contacts].all(axis=1)):
            pushing, _ = nnls(normals[k].T, impulse[contacts[k, 0]])
            found[k] = np.where(pushing > 0.0, pushing, -np.abs(found[k]))
        push[contacts] = found
    return push
