"""The parameters of every law: named materials, units, bounds, and what is said of wrong ones."""

from typing import Any, Literal, get_args, get_origin

import numpy as np
from law_cases import every_law, materials_of

from spume.materials import Law, Parameters


@every_law
def test_has_a_named_material(law: Law):
    assert materials_of(law), f"give a material of the law '{law.name}' in materials/table.toml"


@every_law
def test_packs_as_many_numbers_as_it_names(law: Law):
    for _, parameters in materials_of(law):
        packed = law.pack(parameters)
        assert len(packed) == len(law.of(parameters).constants)
        assert np.all(np.isfinite(packed))


@every_law
def test_every_parameter_and_field_says_its_unit(law: Law):
    for name, field in law.parameters.model_fields.items():
        assert field.description, name
        assert field.description.rstrip().endswith("]"), f"{name}: the description should end with the unit"
    for declared in law.fields:
        assert declared.unit
        assert declared.description


def broken(law: Law, parameters: Parameters) -> list[tuple[str, Any]]:
    """Pairs of a key and a value it must refuse."""
    wrong: list[tuple[str, Any]] = []
    for name, field in law.parameters.model_fields.items():
        values: tuple[Any, ...] = (float("nan"), float("inf"), float("-inf"), "soft", [1.0], True)
        if get_origin(field.annotation) is tuple:
            values = (float("nan"), "soft", [float("nan")], ["soft"], [True], True)
        wrong += [(name, value) for value in values if not (field.annotation is bool and value is True)]
        for rule in field.metadata:
            limits = {"gt": (0, -1), "ge": (-1e-9, -1), "lt": (0, 1), "le": (1e-9, 1)}
            for kind, (at, beyond) in limits.items():
                if (bound := getattr(rule, kind, None)) is not None:
                    wrong += [(name, float(bound + at)), (name, float(bound + beyond))]
    return wrong


@every_law
def test_every_number_is_bounded(law: Law):
    """No parameter of a law may be just any number: each declares where it ends."""
    for name, field in law.parameters.model_fields.items():
        if field.annotation is bool or get_origin(field.annotation) is Literal:
            continue
        if get_origin(field.annotation) is tuple:  # each entry is bounded, or a table of bounded numbers
            entry = get_args(field.annotation)[0]
            inner = entry.model_fields.values() if hasattr(entry, "model_fields") else [entry]
            rules = [each.metadata if hasattr(each, "metadata") else get_args(each)[1:] for each in inner]
            rules = [[limit for rule in own for limit in getattr(rule, "metadata", [rule])] for own in rules]
            assert all(any(hasattr(rule, kind) for rule in own for kind in ("gt", "ge")) for own in rules), name
            continue
        bounds = [rule for rule in field.metadata if any(hasattr(rule, kind) for kind in ("gt", "ge", "lt", "le"))]
        assert bounds, f"{name} accepts any number"


@every_law
def test_invalid_parameters_are_rejected_with_a_sentence(law: Law):
    """As a scene meets them: the sentence names the material, the key and what was found."""
    from spume.scene.material import MaterialTable, resolve_materials

    _, parameters = materials_of(law)[0]
    good = {"law": law.name, **parameters.model_dump(exclude_none=True)}
    for key, value in broken(law, parameters):
        table = MaterialTable.model_construct(**(good | {key: value}))
        materials, problems = resolve_materials({"mine": table}, [])
        assert not materials, (key, value)
        assert len(problems) == 1, [str(problem) for problem in problems]
        assert problems[0].path.removesuffix(".0") == f"material.mine.{key}"
        assert "should be" in problems[0].sentence


@every_law
def test_missing_and_unknown_parameters_are_rejected(law: Law):
    from spume.scene.material import MaterialTable, resolve_materials

    _, parameters = materials_of(law)[0]
    good = {"law": law.name, **parameters.model_dump(exclude_none=True)}
    required = [name for name, field in law.parameters.model_fields.items() if field.is_required()]
    for name in required:
        table = {key: value for key, value in good.items() if key != name}
        _, problems = resolve_materials({"mine": MaterialTable.model_validate(table)}, [])
        assert [(p.path, p.sentence.split(":")[0]) for p in problems] == [(f"material.mine.{name}", "is missing")]
    _, problems = resolve_materials({"mine": MaterialTable.model_validate(good | {"colour": 1.0})}, [])
    assert [p.path for p in problems] == ["material.mine.colour"]
