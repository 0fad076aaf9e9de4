"""Materials chosen on the command line, and fitted materials written as scene tables."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spume.errors import SceneError
from spume.materials.law import Law
from spume.materials.table import Material, complete_entry, parameter_units
from spume.rheology.fit import Fit
from spume.rheology.fit_viscoelastic import ViscoelasticFit
from spume.scene.builtin import find_scene
from spume.scene.extending import read_scene
from spume.scene.loading import anchor_files, load_laws_of
from spume.scene.material import MaterialTable, resolve_materials
from spume.scene.overrides import Presets, apply_preset, parse_override
from spume.scene.problems import SceneProblems, dotted

AnyFit = Fit | ViscoelasticFit


def choose_material(
    name: str, changes: Iterable[str] = (), scene: str | None = None, preset: Presets = None
) -> Material:
    """Return the material `name` of the table or of a scene, with changes such as "viscosity=30"."""
    entry = complete_entry(name, scene_materials(scene, preset) if scene else {})
    for text in changes:
        path, value = parse_override(text)
        if len(path) != 1:
            raise SceneError(f"--set {text}: it should name a parameter of the material, as in viscosity=30")
        entry[str(path[0])] = value
    return _build(name, entry)


def fitted_entry(
    name: str, law: Law, fit: AnyFit, base: str | None, given: Mapping[str, float | None]
) -> dict[str, Any]:
    """Law and parameters of a fitted material. Parameters that were not measured are `given` or taken from `base`, and
    otherwise absent from the entry."""
    entry: dict[str, Any] = complete_entry(base, {}) if base else {"law": law.name}
    if entry["law"] != law.name:
        raise SceneError(f"--base '{base}' has the law {entry['law']}: it should have the law {law.name}")
    entry |= {key: value for key, value in given.items() if value is not None}
    entry |= {key: float(f"{estimate.value:.6g}") for key, estimate in fit.estimates.items()}
    entry.pop("further_parts", None)
    if isinstance(fit, ViscoelasticFit) and fit.further_parts:
        entry["further_parts"] = fit.further_parts
    _build(name, dict.fromkeys(given, 1.0) | entry)
    return {"law": entry["law"]} | {key: entry[key] for key in (*given, *fit.estimates, *entry) if key in entry}


def material_block(name: str, law: Law, entry: Mapping[str, Any], fit: AnyFit, told: Iterable[str]) -> str:
    """[material] table of a scene, with uncertainties as comments; keys of `told` that are missing appear as comments
    to be filled in."""
    lines = [f"[{dotted(('material', name))}]", f"law = {json.dumps(entry['law'])}"]
    for key in told:
        if key not in entry:
            meaning = law.parameters.model_fields[key].description
            lines.append(f"# {key} =   to be filled in: {meaning}")
    units = parameter_units(law.name)
    for key, value in entry.items():
        unit = units.get(key, "")
        if key == "law":
            continue
        if key in fit.estimates:
            limit = fit.solution.coverage_factor * fit.estimates[key].error
            lines.append(f"{key} = {float(value)!r}  # ± {limit:.2g} {unit}".rstrip() + " (95 %)")
        elif key == "further_parts" and isinstance(fit, ViscoelasticFit):
            lines += ["further_parts = [", *_part_lines(fit), "]"]
        elif isinstance(value, bool | str | list | tuple):
            lines.append(f"{key} = {json.dumps(value)}")
        else:
            lines.append(f"{key} = {float(value)!r}" + (f"  # {unit}" if unit else ""))
    return "\n".join(lines)


def _part_lines(fit: ViscoelasticFit) -> list[str]:
    factor = fit.solution.coverage_factor
    lines = []
    for part, values in zip(fit.parts[1:], fit.further_parts):
        table = ", ".join(f"{key} = {value!r}" for key, value in values.items())
        limits = f"± {factor * part.shear_modulus.error:.2g} Pa, ± {factor * part.deviatoric_viscosity.error:.2g} Pa s"
        lines.append(f"    {{ {table} }},  # {part.relaxation_time.value:.4g} s; {limits} (95 %)")
    return lines


def _build(name: str, entry: Mapping[str, Any]) -> Material:
    materials, problems = resolve_materials({name: MaterialTable.model_construct(**entry)}, [])
    if problems:
        raise SceneProblems(problems)
    return materials[name]


def scene_materials(scene: str, preset: Presets) -> dict[str, dict[str, Any]]:
    """The [material] tables of a scene, whose own laws are loaded."""
    file = find_scene(scene)
    data = anchor_files(apply_preset(read_scene(file), preset, scene), file.parent)
    load_laws_of(data)
    tables = data.get("material", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise SceneError(f'{scene}: material should contain tables such as [material."my foam"]')
    return tables
