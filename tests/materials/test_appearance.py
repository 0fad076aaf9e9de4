"""How a material looks is data: of the table's entry, of a scene's own, or a neutral default."""

import numpy as np
import pytest

from spume.errors import SceneError
from spume.look.finish import (
    GROUND,
    OBSTACLE,
    OTHERS,
    background,
    ground_finish,
    material_finishes,
    obstacle_finish,
    srgb,
)
from spume.look.obstacles import ground_obstacle
from spume.materials.appearance import Appearance
from spume.materials.table import complete_appearance, named_materials
from spume.scene.common import Scene

SOLID = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e4, "poisson_ratio": 0.3}


def scene(material: dict, name: str = "panda", **obstacle) -> Scene:
    ball = {"sphere": {"center": [0.0, 0.1, 0.0], "radius": 0.05}}
    tables = {"title": "look", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.02}, "material": material}
    return Scene(**tables, body=[{"material": name, "shape": ball}], obstacle=[{"shape": ball, **obstacle}])


@pytest.mark.parametrize("name", named_materials())
def test_every_named_material_says_its_colour(name: str) -> None:
    assert Appearance.model_validate(named_materials()[name]["look"]).color is not None


def test_a_name_alone_gives_no_look() -> None:
    """A panda is no pan."""
    assert material_finishes(scene({"panda": SOLID}, name="panda")) == [OTHERS[0]]
    assert obstacle_finish(scene({"panda": SOLID}, name="panda").obstacle[0]) == OBSTACLE


def test_a_scene_changes_the_look_key_by_key() -> None:
    changed = scene({"panda": {"base": "gelatin", "look": {"roughness": 0.9}}}).materials[0].look
    assert changed == Appearance(**{**named_materials()["gelatin"]["look"], "roughness": 0.9})
    (drawn,) = material_finishes(scene({"panda": {**SOLID, "look": {"color": "#ff0080"}}}))
    assert drawn.color == srgb(255, 0, 128)
    assert drawn.roughness == OTHERS[0].roughness
    painted = scene({"panda": SOLID}, look={"color": "#102030"}).obstacle[0]
    assert obstacle_finish(painted).color == srgb(16, 32, 48)


def test_a_resolved_scene_keeps_its_looks() -> None:
    first = scene({"panda": {"base": "gelatin", "look": {"roughness": 0.9}}}, look={"color": "#102030"})
    again = Scene(**first.resolved())
    assert again.materials[0].look == first.materials[0].look
    assert again.obstacle[0].look == first.obstacle[0].look


def test_a_written_out_material_looks_like_the_named_one() -> None:
    """Runs written before materials had looks hold their parameters only."""
    assert complete_appearance("gelatin", {"gelatin": SOLID}) == Appearance(**named_materials()["gelatin"]["look"])


@pytest.mark.parametrize("look", [{"color": "red"}, {"color": "#12345"}, {"roughness": 2.0}, {"colour": "#102030"}])
def test_a_wrong_look_is_one_sentence_that_names_the_key(look: dict) -> None:
    with pytest.raises(SceneError, match=rf"material\.panda\.look\.{next(iter(look))}"):
        scene({"panda": {**SOLID, "look": look}})


def test_a_body_may_look_different_from_its_material() -> None:
    """Two bodies of one material, one with a look of its own: two materials of the same law and parameters."""
    ball = {"sphere": {"center": [0.0, 0.1, 0.0], "radius": 0.05}}
    other = {"sphere": {"center": [0.3, 0.1, 0.0], "radius": 0.05}}
    bodies = [
        {"material": "gelatin", "shape": ball},
        {"name": "lime", "material": "gelatin", "shape": other, "look": {"color": "#80c040"}},
    ]
    found = Scene(title="two", method="mpm", duration=1.0, grid={"cell": 0.02}, body=bodies)
    plain, lime = found.materials
    assert (plain.name, lime.name, lime.base) == ("gelatin", "gelatin of lime", "gelatin")
    assert lime.parameters == plain.parameters
    assert lime.look == Appearance(**{**named_materials()["gelatin"]["look"], "color": "#80c040"})
    assert [found.material_index(each.material, each.look) for each in found.body] == [0, 1]
    again = Scene(**found.resolved())
    assert [each.look for each in again.materials] == [plain.look, lime.look]


def test_a_body_of_water_with_a_look_is_still_water() -> None:
    ball = {"sphere": {"center": [0.0, 0.1, 0.0], "radius": 0.05}}
    body = {"material": "water", "shape": ball, "look": {"color": "#203040"}}
    tables = {"title": "ink", "method": "sand-water", "duration": 1.0, "grid": {"cell": 0.02}, "body": [body]}
    found = Scene(**tables, mixture={"drag_coefficient": 100.0})
    (ink,) = found.materials
    assert found.species_of(ink.base or ink.name) == "water"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"softness": 0.4}, {"subsurface": 0.4}),
        ({"gloss": 0.5}, {"roughness": 0.4}),
        ({"opacity": 0.7}, {"transparency": 0.5}),
        ({"texture": "grains"}, {"grain": 1.0, "variation": 0.45}),
        ({"texture": "smooth"}, {"grain": 0.0}),
    ],
)
def test_looks_of_older_runs_are_read(old: dict, new: dict) -> None:
    assert Appearance(**old) == Appearance(**new)


def test_the_ground_looks_like_its_obstacle_or_the_backdrop() -> None:
    ground = {"shape": {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}}}
    plain = scene({"panda": SOLID}, **ground)
    painted = scene({"panda": SOLID}, **ground, look={"color": "#102030"})
    up = np.array([0.0, 1.0, 0.0])
    assert ground_finish(plain, ground_obstacle(plain, up)).color == GROUND
    assert ground_finish(painted, ground_obstacle(painted, up)).color == srgb(16, 32, 48)
    staged = Scene(**{**plain.resolved(), "backdrop": {"color": "#405060", "ground": "#203040"}})
    assert ground_finish(staged, ground_obstacle(staged, up)).color == srgb(32, 48, 64)
    assert background(staged) == srgb(64, 80, 96)
