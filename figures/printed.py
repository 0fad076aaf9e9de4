"""Parameters that the papers print beside those of the built-in scenes.

`figures/printed/PAPER.toml` has a table for every scene: keys of the scene and the numbers printed, and under `why`
the reason for each difference, by the key, its last part, or a word in it. `factor` and `factor_of` convert the
paper's units; `digits` is how many digits it prints.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spume import load_scene
from spume.scene.extending import library_entries

FOLDER = Path(__file__).parent / "printed"
DIGITS = 3
SHARED = {"factor", "factor_of", "digits", "why"}
"""Keys of a file that are not scenes."""


@dataclass(frozen=True)
class Row:
    """A parameter of a scene."""

    scene: str
    key: str
    printed: float
    """in the paper's units"""
    converted: float
    """the same in SI units"""
    used: float | None
    """by the scene at the paper's size; None: it is found automatically"""
    same: bool
    why: str
    """reason for a difference; empty if there is none or none is given"""


def papers() -> list[str]:
    """Papers, in the spelling of the folders of the library, that print parameters."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def rows(paper: str) -> Iterator[Row]:
    """The parameters of all scenes of a paper."""
    file = tomllib.loads((FOLDER / f"{paper}.toml").read_text(encoding="utf-8"))
    presets = {entry["name"]: entry["presets"] for entry in library_entries()}
    for name, table in file.items():
        if name in SHARED:
            continue
        scene = load_scene(name, preset="paper" if "paper" in presets[name] else None).resolved()
        for key, printed in table.items():
            if key == "why":
                continue
            last = key.rpartition(".")[2]
            factor = file["factor"] if last in file.get("factor_of", ()) else 1.0
            used = value(scene, key)
            same = used is not None and _same(used / factor, printed, file.get("digits", DIGITS))
            why = "" if same else _why(key, table.get("why", {}), file.get("why", {}))
            yield Row(name, key, printed, printed * factor, used, same, why)


def value(scene: Mapping[str, Any], key: str) -> float | None:
    """The value of a scene at a key such as `grid.cell` or `material.NAME.density`; None if it is automatic. The
    moduli μ and λ follow from Young's modulus and Poisson's ratio where a material has these."""
    place: Any = scene
    first, _, last = key.rpartition(".")
    for part in first.split(".") if first else ():
        place = place[part]
    if last not in place and "youngs_modulus" in place:
        young, ratio = place["youngs_modulus"], place["poisson_ratio"]
        shear = young / (2.0 * (1.0 + ratio))
        return float({"shear_modulus": shear, "lame_modulus": 2.0 * shear * ratio / (1.0 - 2.0 * ratio)}[last])
    found = place.get(last)
    return float(found) if isinstance(found, int | float) else None


def _same(used: float, printed: float, digits: int) -> bool:
    """Whether two numbers agree within one unit of the last printed digit."""
    if used == printed:
        return True
    unit = 10.0 ** (math.floor(math.log10(abs(printed))) - digits + 1)
    return abs(used - printed) <= unit * (1.0 + 1e-9)


def _why(key: str, own: Mapping[str, str], shared: Mapping[str, str]) -> str:
    for reasons in (own, shared):
        for name, text in reasons.items():
            if name == key or name in key.rpartition(".")[2]:
                return text
    return ""


def page() -> str:
    """The page with the parameters of all papers."""
    lines = ["# Printed parameters", "", "What the papers print, and what the built-in scenes use at the paper's size."]
    lines += ["Written by `make figures`; do not edit.", ""]
    for paper in papers():
        lines += [f"## {paper.capitalize()}", "", "| scene | key | printed | in SI units | used | why |"]
        lines.append("| --- | --- | --- | --- | --- | --- |")
        for row in rows(paper):
            used = "automatic" if row.used is None else f"{row.used:g}"
            cells = (row.scene, f"`{row.key}`", f"{row.printed:g}", f"{row.converted:g}")
            lines.append(f"| {' | '.join(cells)} | {'as printed' if row.same else used} | {row.why} |")
        lines.append("")
    return "\n".join(lines)
