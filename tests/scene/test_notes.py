"""What a scene says about keys that have no effect."""

import pytest

from spume import Scene

TABLES = {
    "title": "notes",
    "duration": 1.0,
    "dimension": 2,
    "grid": {"cell": 0.01},
    "material": {"cream": {"base": "shaving cream", "tear_threshold": 3.0}},
    "body": [{"material": "cream", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.1}}}],
}


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
