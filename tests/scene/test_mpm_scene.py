"""What a scene of the material point method tells the engine."""

import numpy as np
import pytest

from spume import Scene, SceneError, load_scene

BALL = {"material": "soft rubber", "shape": {"sphere": {"center": [0, 0, 0], "radius": 0.1}}}


def make(**tables):
    return Scene(**{"title": "t", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.02}, "body": [BALL], **tables})


def test_gravity_is_down_unless_told():
    assert make().gravity_at(0.3).tolist() == [0.0, -9.81, 0.0]
    disc = {"material": "gelatin", "shape": {"circle": {"center": [0, 0], "radius": 0.1}}}
    assert make(dimension=2, body=[disc]).gravity_at(0.3).tolist() == [0.0, -9.81]


def test_gravity_between_keyframes_is_linear_and_constant_beyond_them():
    scene = make(gravity={"times": [1.0, 3.0], "values": [[0, 0, 0], [2, -4, 0]]})
    for time, expected in ((0.0, [0, 0, 0]), (1.5, [0.5, -1, 0]), (2.0, [1, -2, 0]), (9.0, [2, -4, 0])):
        np.testing.assert_allclose(scene.gravity_at(time), expected, rtol=1e-15)


def test_a_material_of_the_scene_may_change_one_of_the_table_under_its_own_name():
    scene = make(material={"soft rubber": {"base": "soft rubber", "density": 500.0}})
    (material,) = scene.materials
    assert material.name == "soft rubber"
    assert material.parameters.density == 500.0
    assert material.parameters.shear_modulus == 4.0e4


def test_bases_may_be_chained():
    tables = {"light": {"base": "soft rubber", "density": 500.0}, "stiff": {"base": "light", "shear_modulus": 1e5}}
    scene = make(material=tables, body=[{**BALL, "material": "stiff"}])
    parameters = scene.materials[0].parameters
    assert (parameters.density, parameters.shear_modulus, parameters.bulk_modulus) == (500.0, 1e5, 2e5)


def test_materials_are_those_in_use_each_once_in_the_order_of_the_file():
    own = {"unused": {"base": "gelatin"}, "a": {"base": "gelatin"}}
    bodies = [{**BALL, "material": name} for name in ("soft rubber", "a", "soft rubber")]
    scene = make(material=own, body=bodies)
    assert [material.name for material in scene.materials] == ["soft rubber", "a"]
    assert scene.material_index("a") == 1


def test_a_resolved_scene_has_the_parameters_written_out():
    resolved = make().resolved()
    assert resolved["material"]["soft rubber"]["law"] == "neo-hookean"
    assert resolved["material"]["soft rubber"]["density"] == 1000.0


@pytest.mark.parametrize(
    ("transfer", "blend"),
    [({}, 0.0), ({"scheme": "flip"}, 0.95), ({"scheme": "flip", "flip": 1.0}, 1.0), ({"scheme": "pic"}, 0.0)],
)
def test_the_blend_of_flip_follows_the_scheme(transfer, blend):
    assert make(transfer=transfer).transfer.blend == blend


def test_the_transfer_is_affine_unless_said_otherwise():
    assert make().transfer.scheme == "apic"


def test_a_preview_has_cells_of_twice_the_size_and_says_so():
    coarse, sentence = make().coarser()
    assert coarse.grid.cell == 0.04
    assert "0.04 m instead of 0.02 m" in sentence
    assert coarse.duration == make().duration


def test_a_preview_of_a_body_that_would_vanish_is_refused():
    small = {**BALL, "shape": {"sphere": {"center": [0, 0, 0], "radius": 0.0065}}}
    with pytest.raises(SceneError, match="it would be empty"):
        make(body=[small]).coarser()


def test_a_scene_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        make().duration = 3.0


def test_scenes_of_equal_tables_are_equal():
    assert make() == make()
    assert make() != make(duration=2.0)


@pytest.mark.parametrize(
    ("scheme", "remedy"), [("pic", "drop"), ("flip", "lower transfer.flip"), ("aflip", "raise transfer.damping_rate")]
)
def test_round_trips_with_other_schemes_are_refused_with_a_remedy(scheme, remedy):
    changes = {"transfer.scheme": scheme, "damping.rpic_iterations": 1}
    with pytest.raises(SceneError, match=f"damping is given with transfer scheme '{scheme}': .*{remedy}.* 'apic'"):
        load_scene("ball-bounce", changes)
