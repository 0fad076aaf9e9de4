"""Damage to values, arrays and texts from a random number generator, and the command line to try it on."""

import contextlib
import copy
import io
import random
import signal
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from spume.cli import main

NUMBERS = (
    0, -1, 1, 2, 7, 1000, 10**9, 10**30, 10**400, 2**63, 0.0, -0.0, 0.5, 1e-30, 5e-324, 1e30, 1e308, -1e308,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
WORDS = (
    "",
    "x",
    "points",
    "a/b",
    "..",
    "\0",
    "\ud800",
    "\n",
    "\x1b[2J",
    3000 * "x",
    "auto",
    "float64",
    "table",
    "mesh",
)
OTHERS: tuple[Any, ...] = ([], {}, None, True, False, [1, 2], [[]], {"a": 1}, [None], {"time": 0}, ["x"])
LIMIT = 20
"""Seconds after which a case hangs."""


def damaged_value(rng: random.Random, old: Any) -> Any:
    """Something in the place of `old`."""
    kind = rng.randrange(6)
    if kind <= 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        return rng.choice(WORDS)
    if kind == 3:
        return copy.deepcopy(rng.choice(OTHERS))
    if kind == 4:
        return [old] if rng.random() < 0.5 else {"a": old}
    return old * 10.0 ** rng.randint(-30, 30) if isinstance(old, float) else f"{old!s:.20}"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values inside `value`."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def damage_tables(tables: Any, rng: random.Random) -> None:
    """Replace, delete, add or copy a value somewhere in `tables`; places near the root are as likely as deep ones."""
    paths = list(places(tables))
    depth = rng.choice(sorted({len(path) for path in paths}))
    path = rng.choice([each for each in paths if len(each) == depth])
    parent = tables
    for key in path[:-1]:
        parent = parent[key]
    action = rng.randrange(6)
    if action <= 2:
        parent[path[-1]] = damaged_value(rng, parent[path[-1]])
    elif action == 3:
        del parent[path[-1]]
    elif isinstance(parent, dict):
        parent[rng.choice((*WORDS, *map(str, parent)))] = damaged_value(rng, copy.deepcopy(parent[path[-1]]))
    else:
        parent.append(copy.deepcopy(rng.choice(parent)))


def damage_arrays(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    """Change the name, type, shape, length or values of an array."""
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    action = rng.randrange(8)
    if action == 0:
        del arrays[name]
    elif action == 1:
        arrays[rng.choice((*WORDS[1:4], f"{name}x", "points/weird"))] = arrays.pop(name)
    elif action == 2:
        arrays[name] = array.astype(rng.choice(("float32", "int8", "uint64", "bool", "float16")))
    elif action == 3:
        arrays[name] = array[: rng.randrange(len(array) + 1)] if array.ndim else np.zeros(3)
    elif action == 4:
        arrays[name] = array.reshape(-1) if rng.random() < 0.5 else array[..., None]
    elif action == 5:
        arrays[name] = np.zeros(())
    elif action == 6 and array.size:
        flat = array.reshape(-1).copy()
        worst = (np.nan, np.inf, 1e300, -1e300) if array.dtype.kind == "f" else (100, 1, 0, 77)
        flat[rng.randrange(flat.size)] = rng.choice(worst)
        arrays[name] = flat.reshape(array.shape)
    else:
        arrays[name] = np.full_like(array, 1)


def damage_bytes(contents: bytes, rng: random.Random, likely: bytes) -> bytes:
    """Cut out, insert or replace a few bytes, or cut the end off."""
    data = bytearray(contents)
    if rng.random() < 0.1:
        return bytes(data[: rng.randrange(len(data) + 1)])
    for _ in range(rng.choice((1, 2, 5, 20))):
        place = rng.randrange(len(data) + 1)
        data[place : place + rng.randrange(4)] = bytes(rng.choices(likely, k=rng.randrange(4)))
    return bytes(data)


class Hangs(BaseException):
    """A case took too long."""


@contextlib.contextmanager
def limited(seconds: int = LIMIT) -> Iterator[None]:
    """Raise Hangs after some seconds."""

    def stop(*_: Any) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_command(*arguments: str) -> int:
    """Run the command line here; its exit code. An error has to be said in a few lines, and nothing else."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), limited():
        code = main(list(arguments))
    said = [line for line in err.getvalue().splitlines() if "Warning" not in line]
    assert code in range(7) or code == 130, f"{arguments} ended with {code}"
    assert "Traceback" not in err.getvalue()
    if code not in (0, 3):
        assert any(line.startswith("error: ") and len(line) > 20 for line in said), f"{arguments} said {said}"
        assert len(said) <= 12, said
    return code


def try_all(count: int, seed: int, case: Callable[[random.Random], object]) -> None:
    """Try `case` with many random number generators; all that fail are listed, with the place where they do."""
    failed = []
    for number in range(count):
        try:
            case(random.Random(f"{seed} {number}"))
        except (Exception, Hangs) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            failed.append(f"case {number}: {error!r:.200} at {last.filename}:{last.lineno}")
    assert not failed, "\n".join(failed)
