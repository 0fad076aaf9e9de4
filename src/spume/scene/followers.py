"""Obstacles that move as an emitter or another obstacle does, so that one motion is written once."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spume.geometry.motion import Motion
from spume.geometry.motion.models import Combine, MotionModel
from spume.scene.problems import Problem
from spume.suggestions import did_you_mean

if TYPE_CHECKING:
    from spume.scene.bodies import ObstacleTable
    from spume.scene.material_scene import MaterialScene


def moving_obstacles(scene: "MaterialScene") -> "tuple[ObstacleTable, ...]":
    """The obstacles with the motions that they have: their own, and after it that of what they follow."""
    return scene.derived(_moving)


def _moving(scene: "MaterialScene") -> "tuple[ObstacleTable, ...]":
    return tuple(
        obstacle if obstacle.follows is None else obstacle.model_copy(update={"motion": _motion(scene, obstacle)})
        for obstacle in scene.obstacle
    )


def _motion(scene: "MaterialScene", item: Any) -> Motion | None:
    """The motion of an obstacle or an emitter."""
    chain: list[MotionModel] = []
    while item is not None:
        if item.motion is not None:
            chain.append(item.motion)
        name = getattr(item, "follows", None)
        item = None if name is None else _named(scene, name)
    if len(chain) < 2:
        return chain[0] if chain else None
    return Combine.model_construct(of=tuple(chain))


def _named(scene: "MaterialScene", name: str) -> Any:
    return next((each for each in _named_things(scene) if each.name == name), None)


def _named_things(scene: "MaterialScene") -> list[Any]:
    return [*scene.emitter, *scene.obstacle]


def follower_problems(scene: "MaterialScene") -> Iterator[Problem]:
    """Names that nothing has, that two have, and obstacles that follow each other in a circle."""
    names = [each.name for each in _named_things(scene) if each.name]
    for k, obstacle in enumerate(scene.obstacle):
        name, path = obstacle.follows, f"obstacle.{k}.follows"
        if name is None:
            continue
        if name not in names:
            known = did_you_mean(name, names, "emitters and obstacles are followed by their names")
            yield Problem(path, f"is '{name}', which no emitter and no obstacle is called: {known}")
            continue
        if names.count(name) > 1:
            yield Problem(path, f"is '{name}', the name of an emitter and of an obstacle: give them different names")
            continue
        seen, item = [obstacle.name], _named(scene, name)
        while item is not None and item.name not in seen:
            seen.append(item.name)
            following = getattr(item, "follows", None)
            item = None if following is None else _named(scene, following)
        if item is not None:
            yield Problem(path, f"is '{name}', and this leads in a circle back to '{item.name}'")
