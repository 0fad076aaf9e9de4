"""How a material looks is data: of the table's entry, of a scene's own, or a neutral default."""

import pytest

from spume.errors import SceneError
from spume.look.appearance import OBSTACLE, OTHERS, material_appearances, obstacle_appearance, srgb
from spume.materials.look import Look
from spume.materials.table import complete_look, named_materials
from spume.scene.common import Scene

SOLID = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e4, "poisson_ratio": 0.3}


def scene(material: dict, name: str = "panda", **obstacle) -> Scene:
    ball = {"sphere": {"center": [0.0, 0.1, 0.0], "radius": 0.05}}
    tables = {"title": "look", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.02}, "material": material}
    return Scene(**tables, body=[{"material": name, "shape": ball}], obstacle=[{"shape": ball, **obstacle}])


@pytest.mark.parametrize("name", named_materials())
def test_every_named_material_says_its_colour(name: str) -> None:
    assert Look.model_validate(named_materials()[name]["look"]).color is not None


def test_a_name_alone_gives_no_look() -> None:
    """A panda is no pan."""
    assert material_appearances(scene({"panda": SOLID}, name="panda")) == [OTHERS[0]]
    assert obstacle_appearance(scene({"panda": SOLID}, name="panda").obstacle[0]) == OBSTACLE


def test_a_scene_changes_the_look_key_by_key() -> None:
    changed = scene({"panda": {"base": "gelatin", "look": {"roughness": 0.9}}}).materials[0].look
    assert changed == Look(**{**named_materials()["gelatin"]["look"], "roughness": 0.9})
    (drawn,) = material_appearances(scene({"panda": {**SOLID, "look": {"color": "#ff0080"}}}))
    assert drawn.color == srgb(255, 0, 128)
    assert drawn.roughness == OTHERS[0].roughness
    painted = scene({"panda": SOLID}, look={"color": "#102030"}).obstacle[0]
    assert obstacle_appearance(painted).color == srgb(16, 32, 48)


def test_a_resolved_scene_keeps_its_looks() -> None:
    first = scene({"panda": {"base": "gelatin", "look": {"roughness": 0.9}}}, look={"color": "#102030"})
    again = Scene(**first.resolved())
    assert again.materials[0].look == first.materials[0].look
    assert again.obstacle[0].look == first.obstacle[0].look


def test_a_written_out_material_looks_like_the_named_one() -> None:
    """Runs written before materials had looks hold their parameters only."""
    assert complete_look("gelatin", {"gelatin": SOLID}) == Look(**named_materials()["gelatin"]["look"])


@pytest.mark.parametrize("look", [{"color": "red"}, {"color": "#12345"}, {"roughness": 2.0}, {"colour": "#102030"}])
def test_a_wrong_look_is_one_sentence_that_names_the_key(look: dict) -> None:
    with pytest.raises(SceneError, match=rf"material\.panda\.look\.{next(iter(look))}"):
        scene({"panda": {**SOLID, "look": look}})
