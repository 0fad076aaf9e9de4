"""Labels that mean the same."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def united(labels: Integers, pairs: Integers) -> Integers:
    """Replace each label by the least of those that `pairs` (n, 2) of equal meaning connect it with."""
    if not len(pairs):
        return labels
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    known, place = np.unique(pairs, return_inverse=True)
    first, second = place.reshape(-1, 2).T
    links = coo_array((np.ones(len(pairs), np.int64), (first, second)), shape=(known.size, known.size))
    count, component = connected_components(links, directed=False)
    least = np.full(count, known[-1])
    np.minimum.at(least, component, known)
    found = np.minimum(np.searchsorted(known, labels), known.size - 1)
    return np.where(known[found] == labels, least[component[found]], labels)
