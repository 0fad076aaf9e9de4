"""What a scene says about keys that have no effect."""

import pytest

from spume import Scene, SceneError, load_scene
from spume.cli import main

TABLES = {
    "title": "notes",
    "duration": 1.0,
    "dimension": 2,
    "grid": {"cell": 0.01},
    "material": {"cream": {"base": "shaving cream", "tear_threshold": 3.0}},
    "body": [{"material": "cream", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.1}}}],
}


RUBBER = [{"material": "rubber", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.1}}}]
RUBBER_MATERIAL = {"rubber": {"law": "hencky", "density": 100.0, "youngs_modulus": 1e5, "poisson_ratio": 0.3}}


def test_a_tear_threshold_has_no_effect_without_tearing():
    (note,) = Scene(method="mpm", **TABLES).notes()
    assert note == "material.cream: method 'mpm' does not use tear_threshold; 'continuum-foam' does"


@pytest.mark.parametrize("change", [{"method": "continuum-foam"}, {"method": "mpm", "material": {}}])
def test_what_has_an_effect_or_was_not_written_is_not_noted(change):
    """The table's own shaving cream has a threshold, which nobody wrote into the scene."""
    body = {"body": [TABLES["body"][0] | {"material": "shaving cream"}]} if "material" in change else {}
    assert Scene(**(TABLES | change | body)).notes() == []


def blob(**changes):
    shape = {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.1}}
    body = {"material": "cream", "surface": "embedded", "shape": shape}
    tables = {"method": "continuum-foam", "dimension": 3, "body": [body], "resampling": {"enabled": False}}
    return Scene(**(TABLES | tables | changes))


def test_an_embedded_mesh_on_a_body_that_can_tear_is_noted():
    (note,) = blob().notes()
    assert note.startswith("body.0.surface is 'embedded', but its material 'cream' can tear")
    assert "'reconstructed'" in note


def test_an_embedded_mesh_on_a_body_that_cannot_tear_is_not_noted():
    assert blob(tearing={"enabled": False}).notes() == []
    assert blob(material={"cream": {"law": "hencky", "density": 100.0, "youngs_modulus": 1e5,
                                    "poisson_ratio": 0.3}}).notes() == []  # fmt: skip


@pytest.mark.parametrize("integrator", ["implicit", "semi-implicit"])
def test_a_solver_of_another_integrator_is_noted_when_the_integrator_is_stated(integrator):
    """A scene that solves implicit steps can be run with explicit ones by a single change."""
    table = integrator.replace("-", "_")
    tables = TABLES | {"method": "mpm", "body": RUBBER, "material": RUBBER_MATERIAL, table: {"iterations": 7}}
    scene = Scene(**(tables | {"time": {"integrator": integrator}}))
    assert scene.notes() == []
    changed = scene.changed({"time.integrator": "explicit"})
    assert changed.notes() == [f"[{table}] has no effect: the integrator is 'explicit', not '{integrator}'"]
    assert changed.resolved()[table]["iterations"] == 7
    with pytest.raises(SceneError, match=f"{table} is given with integrator 'explicit'"):
        Scene(**tables)


def test_the_explicit_twins_differ_by_their_integrator_only():
    for name, twin in (
        ("twisting", "twisting-explicit"),
        ("twisting-elastic", "twisting-elastic-explicit"),
        ("sand-column-implicit", "sand-column-explicit"),
    ):
        implicit, explicit = load_scene(name, preset="draft").resolved(), load_scene(twin, preset="draft").resolved()
        assert explicit["time"].pop("integrator") == "explicit"
        assert implicit["time"].pop("integrator") == "implicit"
        assert implicit | {"title": ""} == explicit | {"title": ""}
        changed = load_scene(name, ["time.integrator=explicit"], preset="draft")
        assert changed.resolved() | {"title": ""} == load_scene(twin, preset="draft").resolved() | {"title": ""}


def test_an_estimate_shows_the_notes(capsys):
    changes = ["time.integrator=explicit", "duration=0.01", "grid.cell=0.05", "implicit.iterations=9"]
    assert main(["estimate", "elastic-balls", *(f"--set={change}" for change in changes)]) == 0
    assert capsys.readouterr().out.count("[implicit] has no effect") == 1
