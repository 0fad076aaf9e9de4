"""Traits: what code outside `materials/` may ask of a law, so that no code there knows a particular law."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from law_cases import every_law, every_material

from spume.errors import SceneError
from spume.laws import Fluid, Granular, Law, Parameters, Tearing, Traits
from spume.materials import LAWS
from spume.materials.registry import BUILT_IN, check_traits

SOURCE = Path(__file__).parents[2] / "src" / "spume"
LAW_MODULES = {path.stem for path in (SOURCE / "materials").glob("*.py") if " = Law(" in path.read_text("utf-8")}
CLOSED_FORMS = {f"rheology/{name}.py" for name in ("commands", "small_strain", "standard_linear_solid", "theory")}
"""Formulas for one law in the rheometer, and fits of its parameters"""
KNOWING = CLOSED_FORMS | {"laws.py"}
"""Files that may know particular laws: `laws` offers their formulas to those who write their own"""


def known_laws(file: Path) -> Iterator[str]:
    """Modules of particular laws that a file imports, and names with which it compares that of a law."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("law.name"):
            yield from (str(side.value) for side in node.comparators if isinstance(side, ast.Constant))
        for name in found:
            parts = name.split(".")
            if parts[:2] == ["spume", "materials"] and len(parts) > 2 and parts[2] in LAW_MODULES:
                yield parts[2]


def test_only_materials_know_particular_laws():
    assert len(LAW_MODULES) == len(BUILT_IN)
    others = [file for file in SOURCE.rglob("*.py") if file.relative_to(SOURCE).parts[0] != "materials"]
    found = {file.relative_to(SOURCE).as_posix(): set(known_laws(file)) for file in others}
    assert {file: laws for file, laws in found.items() if laws and file not in KNOWING} == {}


def test_knowledge_of_a_law_is_found(tmp_path):
    file = tmp_path / "step.py"
    file.write_text("def f(law):\n    from spume.materials import water\n    return law.name == 'hencky'\n")
    assert set(known_laws(file)) == {"water", "hencky"}


@every_law
def test_traits_name_what_the_law_has(law: Law):
    check_traits(law)


@every_material
def test_functions_of_traits_take_the_parameters_of_the_law(law: Law, parameters: Parameters):
    traits = law.traits
    if traits.fluid is not None:
        K = traits.fluid.bulk_modulus(parameters)
        assert law.wave_speed(parameters) == pytest.approx((K / parameters.density) ** 0.5)
        assert traits.fluid.separates(parameters) in (True, False)
    if traits.granular is not None and traits.granular.cohesion is not None:
        assert traits.granular.cohesion(parameters) >= 0.0
    if traits.viscosity is not None:
        assert traits.viscosity(parameters) >= 0.0
    if traits.advice is not None:
        for failure in ("crushed", "blown up"):
            assert isinstance(traits.advice(parameters, failure, 1.0), str | None)


GRAINS = Granular("gained_volume", "b", "forgiving")


@pytest.mark.parametrize(
    ("law", "traits", "sentence"),
    [
        ("hencky", Traits(granular=GRAINS), "need a field 'gained_volume' of shape .*: it is missing"),
        ("water", Traits(fluid=Fluid("viscous_stress", float, bool)), "need a field 'viscous_stress' .*: it has shape"),
        ("drucker-prager", Traits(granular=replace(GRAINS, corrects_volume="on")), "name the constant 'on'"),
        ("herschel-bulkley", Traits(tearing=Tearing("tear_threshold", "time")), "name the parameter 'time'"),
        ("drucker-prager", Traits(granular=GRAINS, fluid=Fluid("gained_volume", float, bool)), "a fluid and a solid"),
        ("hencky", Traits(viscosity=lambda p: 1.0), "the second and last branch should be its stress"),
    ],
)  # fmt: skip
def test_wrong_traits_are_named(law, traits, sentence):
    with pytest.raises(SceneError, match=sentence):
        check_traits(replace(LAWS[law], name="mine", traits=traits))
