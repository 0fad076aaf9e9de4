"""States of scenes on ranks and in one process, to be compared bit for bit."""

import copy
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from lockstep import on_ranks

from spume.methods import method_class
from spume.ranks.team import Team
from spume.runs.crew import Crew, Leader, follow
from spume.runs.shared import gather_points
from spume.runs.storage import plain
from spume.scene.common import Scene
from spume.scene.loading import load_scene


def counted(steps: int) -> Callable[[], bool]:
    """Stops a method after so many steps."""
    left = iter([False] * steps)
    return lambda: next(left, True)


def state(scene: Scene, steps: int, messages: Any = None, threads: int = 1, every: int = 5) -> tuple[dict, tuple]:
    """All points by id after some steps, on the first rank, and what every rank has of the world as a whole. The cuts
    are moved `every` few steps."""
    numba.set_num_threads(threads)
    if messages is None:
        method = method_class(scene.method)(scene)
        method.advance(scene.duration, counted(steps), lambda progress: None)
        whole = {species.name: species.particles.arrays() for species in method.world.species}
    else:
        team = Team(messages, every=every, uneven=0.0)
        method = method_class(scene.method)(scene, team)
        method.advance(scene.duration, counted(steps), lambda progress: None)
        whole = gather_points(method, team)
    world = method.world
    values = world.time, world.steps, world.speed, world.obstacle_loads.report(), world.passages.mass
    values += tuple(species.particles.next_id for species in world.species)
    values += tuple(part.checkpoint() for part in method.parts)
    return by_id(whole), values


def by_id(whole: dict[str, dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {
        f"{species}/{name}": array[np.argsort(arrays["id"])]
        for species, arrays in whole.items()
        for name, array in arrays.items()
    }


def assert_same_states(whole: tuple[dict, tuple], ranks: list[tuple[dict, tuple]]) -> None:
    """All ranks have the values of one process, and the first of them its points."""
    expected, values = whole
    points = ranks[0][0]
    assert points.keys() == expected.keys()
    for field, array in expected.items():
        assert points[field].tobytes() == array.tobytes(), field
    for _, found in ranks:
        assert found == values


def frame_state(method: Any) -> tuple[dict, dict]:
    """Frame and diagnostics of a method, without times."""
    frame = {}
    for population, arrays in method.frame().items():
        order = np.argsort(arrays["id"]) if "id" in arrays else ...
        frame |= {f"{population}/{name}": array[order].tobytes() for name, array in arrays.items()}
    report = plain(method.diagnostics())
    report.pop("seconds")
    return frame, report


def frames_of(build: Callable[[Scene], Any], tables: dict, count: int) -> list[tuple[dict, dict]]:
    """Frames and diagnostics at the start, after some steps, after as many more, and after as many more from the
    checkpoint after the first."""
    scene = load_scene(tables)
    method = build(scene)
    found = [frame_state(method)]
    method.advance(scene.duration, counted(count), lambda progress: None)
    found.append(frame_state(method))
    arrays, values = method.checkpoint()
    arrays, values = {name: array.copy() for name, array in arrays.items()}, copy.deepcopy(plain(values))
    method.advance(scene.duration, counted(count), lambda progress: None)
    found.append(frame_state(method))
    again = build(scene)
    again.restore(arrays, values)
    again.advance(scene.duration, counted(count), lambda progress: None)
    return [*found, frame_state(again)]


def on_crew(size: int, work: Callable[[Crew], Any]) -> Any:
    """What `work` returns, which is given a crew of so many ranks."""
    if size == 1:
        return work(Crew())

    def on_rank(messages: Any) -> Any:
        if messages.rank > 0:
            return follow(messages)
        leader = Leader(messages)
        try:
            return work(leader)
        finally:
            leader.dismiss()

    return on_ranks(size, on_rank)[0]


def frames_on_ranks(size: int, tables: dict, count: int) -> list[tuple[dict, dict]]:
    """The same on ranks, as the loop over frames sees it."""
    found: list[tuple[dict, dict]] = on_crew(size, lambda crew: frames_of(crew.build, tables, count))
    return found


def assert_same_frames(size: int, tables: dict, count: int) -> None:
    """Frames, diagnostics and checkpoints on ranks are those of one process."""
    whole = frames_of(lambda scene: method_class(scene.method)(scene), tables, count)
    assert whole[2] == whole[3]
    for found, expected in zip(frames_on_ranks(size, tables, count), whole, strict=True):
        assert found[0] == expected[0]
        assert found[1] == expected[1]
