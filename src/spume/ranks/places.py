"""Places of numbers among those of all ranks, found without any rank having all of them."""

import numpy as np
from numpy.typing import NDArray

from spume.ranks.communicator import Communicator

Integers = NDArray[np.int64]


def places(numbers: Integers, messages: Communicator) -> Integers:
    """Places of different numbers, none negative, in the ascending order of those of all ranks.

    Each rank sorts a range of the numbers, as many as there are ranks.
    """
    size = messages.size
    end = int(messages.maximum(np.array([numbers.max(initial=-1)]))[0]) + 1
    # in floating point, as products could exceed 64 bits
    sorter = np.minimum((numbers / max(end, 1) * size).astype(np.int64), size - 1)
    asked = messages.exchange({rank: _bytes(numbers[sorter == rank]) for rank in range(size) if rank != messages.rank})
    asked[messages.rank] = _bytes(numbers[sorter == messages.rank])
    received = {rank: part.view(np.int64) for rank, part in sorted(asked.items())}
    sorted_here = np.sort(np.concatenate(list(received.values())))
    before = sum(int(count[0]) for count in messages.everyone(np.array([sorted_here.size]))[: messages.rank])
    answers = {rank: _bytes(before + np.searchsorted(sorted_here, part)) for rank, part in received.items()}
    own = answers.pop(messages.rank)
    replies = {**messages.exchange(answers), messages.rank: own}
    found = np.empty_like(numbers)
    for rank, part in replies.items():
        found[sorter == rank] = part.view(np.int64)
    return found


def _bytes(numbers: Integers) -> NDArray[np.uint8]:
    return np.ascontiguousarray(numbers).view(np.uint8)
