"""Points as bytes, to be sent to another rank: the arrays one after the other, in the order of their names."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.ranks.communicator import Bytes

Arrays = Mapping[str, NDArray[Any]]


def pack(arrays: Arrays, chosen: NDArray[Any] | slice = slice(None)) -> Bytes:
    """The bytes of the chosen points."""
    parts = [np.ascontiguousarray(array[chosen]).reshape(-1).view(np.uint8) for _, array in sorted(arrays.items())]
    return np.concatenate(parts)


def unpack_points(like: Arrays, packed: Sequence[Bytes]) -> dict[str, NDArray[Any]]:
    """The points of several messages, with arrays like those of `like`."""
    size = sum(array.dtype.itemsize * prod(array.shape[1:]) for array in like.values())
    found: dict[str, list[NDArray[Any]]] = {name: [] for name in like}
    for message in packed:
        count, first = message.size // size, 0
        for name, array in sorted(like.items()):
            last = first + count * array.dtype.itemsize * prod(array.shape[1:])
            # in a place that need not be aligned, which the copy below is
            found[name].append(message[first:last].view(array.dtype).reshape(count, *array.shape[1:]))
            first = last
    return {name: np.concatenate([like[name][:0], *parts]) for name, parts in found.items()}
