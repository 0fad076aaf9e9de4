"""The table of named materials: complete, checked, sourced."""

import pytest

from spume.materials.table import complete_entry, named_materials
from spume.rheology.small_strain import to_shear
from spume.scene.material import resolve_materials

# [Yue15] Table I: density kg/m³, κ kPa, μ kPa, σY Pa, η Pa s^h, h, σT, ηp s
TABLE_I = {
    "shaving cream": (77.7, 109, 0.29, 31.9, 27.2, 0.22, 217.5, 0.35),
    "s'more interior": (50, 109, 0.08, 10, 16, 0.43, 15, 0.25),
    "s'more exterior": (50, 109, 50, 1000, 0.1, 1, 0.3, 0.5),
    "pie": (275, 109, 1.6, 120, 5, 0.27, 10, 0.3),
    "whipped cream": (275, 109, 1.6, 120, 5, 0.27, 10, 0.3),
    "oobleck": (1000, 109, 11.2, 0.1, 10, 2.8, 1, 0.3),
    "viscoplastic": (1000, 109, 11.2, 0.1, 10, 1, 1, 0.3),
}
KEYS = ("density", "bulk_modulus", "shear_modulus", "yield_stress", "viscosity", "flow_index", "tear_threshold",
        "recovery_time")  # fmt: skip


@pytest.mark.parametrize("name", TABLE_I)
def test_foams_are_those_of_the_paper(name: str):
    entry = complete_entry(name, {})
    density, kappa, mu, *rest = TABLE_I[name]
    expected = (density, 1e3 * kappa, 1e3 * mu, *rest)
    assert tuple(entry[key] for key in KEYS) == pytest.approx(expected, rel=1e-12)
    assert entry["law"] == "herschel-bulkley"


# measured in simple shear: τ0 Pa, K Pa s^n, n
MEASURED = {
    "carbopol": (9.5, 7.0, 1.0),
    "mustard": (27.65, 4.94, 0.85),
    "sweet bean paste": (33.46, 10.85, 0.75),
    "thousand island dressing": (13.48, 1.49, 0.82),
    "tonkatsu sauce": (1.60, 4.02, 0.55),
    "lotion": (1.46, 9.76, 0.42),
}


@pytest.mark.parametrize("name", MEASURED)
def test_measured_materials_flow_in_shear_as_measured(name: str):
    """The entries are written with four digits."""
    material = resolve_materials({}, [("body.0.material", name)])[0][name]
    assert to_shear(material.parameters) == pytest.approx(MEASURED[name], rel=1e-3)


@pytest.mark.parametrize("name", named_materials())
def test_every_entry_is_a_valid_material_with_a_description_and_a_source(name: str):
    materials, problems = resolve_materials({}, [("body.0.material", name)])
    assert not problems
    assert name in materials
    entry = named_materials()[name]
    assert entry["description"].strip()
    assert entry["source"].strip()
