"""Which frames a command works on: `--frames a:b:c` as Python slices are written, or a single number."""

import re

from spume.errors import SceneError

PATTERN = re.compile(r"(-?\d*)(?::(-?\d*)(?::(-?\d*))?)?")


def select_frames(text: str | None, count: int) -> list[int]:
    """The frame numbers that `text` selects from `count` frames; all if `text` is None.

    "10:50:5" is every fifth frame from 10 to 49, "-1" the last one, "::2" every other.
    """
    if count == 0:
        raise SceneError("the run has no frames yet: run it, or resume it, first")
    if text is None:
        return list(range(count))
    match = PATTERN.fullmatch(text.strip())
    if not match or not text.strip():
        raise SceneError(f"--frames {text}: give a number or start:stop:step, such as 0:60:2")
    if ":" not in text:
        number = int(text)
        if not -count <= number < count:
            raise SceneError(f"--frames {text}: the run has frames 0 to {count - 1}")
        return [number % count]
    first, last, step = (int(part) if part else None for part in match.groups())
    if step is not None and step < 1:
        raise SceneError(f"--frames {text}: the step is {step}; it should be 1 or more")
    chosen = list(range(count))[slice(first, last, step)]
    if not chosen:
        raise SceneError(f"--frames {text}: chooses nothing of the frames 0 to {count - 1}")
    return chosen


def chosen_frames(frames: slice | int | None, count: int) -> list[int]:
    """The frame numbers that a slice or a number selects from `count` frames; all for None."""
    if isinstance(frames, slice):
        parts = (frames.start, frames.stop, frames.step)
        return select_frames(":".join("" if part is None else str(part) for part in parts), count)
    return select_frames(None if frames is None else str(frames), count)


def spread(numbers: list[int], count: int) -> list[int]:
    """At most `count` of `numbers`, evenly spread, the first and the last among them."""
    if len(numbers) <= count:
        return list(numbers)
    if count == 1:
        return [numbers[-1]]
    return [numbers[round(k * (len(numbers) - 1) / (count - 1))] for k in range(count)]
