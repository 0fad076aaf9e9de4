"""OBJ files with their materials (MTL)."""

from pathlib import Path
from typing import Any

import numpy as np

from spume.geometry.mesh_files.mesh_file import Floats, MeshFile, MeshMaterial, Texture, is_picture

LARGEST_EXPONENT = 1000.0
"""Of Phong's model in MTL files: roughness is 1 − √(Ns / 1000), as Blender converts it."""


def read_obj(path: Path) -> MeshFile:
    """The triangles of an OBJ file; polygons with more corners become fans."""
    places: list[list[float]] = []
    textures: list[list[float]] = []
    normals: list[list[float]] = []
    corners: list[list[int]] = []
    found: dict[str, MeshMaterial] = {}
    used: list[str] = []
    index = -1
    chosen: list[int] = []
    missing: list[str] = []
    for words in _lines(path):
        kind, values = words[0], words[1:]
        if kind == "v":
            places.append([float(each) for each in values[:6]])
        elif kind == "vt":
            textures.append([float(each) for each in (*values[:2], "0")[:2]])
        elif kind == "vn":
            normals.append([float(each) for each in values[:3]])
        elif kind == "f":
            counts = len(places), len(textures), len(normals)
            polygon = [_corner(word, counts) for word in values]
            for k in range(1, len(polygon) - 1):
                corners += [polygon[0], polygon[k], polygon[k + 1]]
                chosen.append(index)
        elif kind == "mtllib":
            found |= _library(path.parent, " ".join(values), missing)
        elif kind == "usemtl":
            name = " ".join(values)
            if name not in used:
                used.append(name)
            index = used.index(name)
    table = np.array(corners, dtype=np.int64).reshape(-1, 3, 3)
    where, at, along = table[..., 0], table[..., 1], table[..., 2]
    first = np.array([place[:3] for place in places], dtype=np.float64).reshape(-1, 3)
    tinted = bool(places) and all(len(place) == 6 for place in places)
    materials = tuple(found.get(name, MeshMaterial(name)) for name in used)
    # faces before the first usemtl have no material of their own
    plain = bool(materials) and -1 in chosen
    return MeshFile(
        first,
        where,
        _picked(textures, at, 2),
        _unit(_picked(normals, along, 3)),
        np.array([place[3:] for place in places]) if tinted else None,
        (*materials, MeshMaterial("none")) if plain else materials,
        np.array([each % (len(used) + 1) for each in chosen]) if materials else None,
        tuple(missing),
    )


def _lines(path: Path) -> Any:
    """The words of each line that says something; a line that ends in a backslash goes on in the next one."""
    text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ").replace("\\\r\n", " ")
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words


def _corner(word: str, counts: tuple[int, int, int]) -> list[int]:
    """Indices of vertex, texture coordinate and normal, from 0; −1 for what is not given."""
    parts = [*word.split("/"), "", ""][:3]
    numbers = [int(part) if part else 0 for part in parts]
    return [number - 1 if number >= 0 else count + number for number, count in zip(numbers, counts)]


def _picked(rows: list[list[float]], index: Any, size: int) -> Floats | None:
    """The rows at each corner; None unless every corner has one."""
    if index.size == 0 or not rows or index.min() < 0:
        return None
    table: Floats = np.array(rows, dtype=np.float64).reshape(-1, size)
    return np.asarray(table[index])


def _unit(normals: Floats | None) -> Floats | None:
    """The normals with length one; None if one of them has no direction."""
    if normals is None:
        return None
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return normals / length if np.isfinite(length).all() and (length > 0).all() else None


def _library(folder: Path, name: str, missing: list[str]) -> dict[str, MeshMaterial]:
    """The materials of an MTL file by name."""
    file = folder / name
    try:
        listed = list(_lines(file))
    except (OSError, ValueError):
        missing.append(name)
        return {}
    found: dict[str, MeshMaterial] = {}
    current = MeshMaterial("")
    for words in listed:
        key, values = words[0], words[1:]
        if key == "newmtl":
            current = MeshMaterial(" ".join(values))
        elif key == "Kd" and len(values) >= 3:
            red, green, blue = (min(max(float(each), 0.0), 1.0) for each in values[:3])
            current = current._replace(color=(red, green, blue))
        elif key == "Ns" and current.roughness is None:
            shine = min(max(float(values[0]), 0.0), LARGEST_EXPONENT)
            current = current._replace(roughness=1.0 - (shine / LARGEST_EXPONENT) ** 0.5)
        elif key == "Pr":
            current = current._replace(roughness=_share(values[0]))
        elif key == "Pm":
            current = current._replace(metallic=_share(values[0]))
        elif key == "d":
            current = current._replace(transparency=1.0 - _share(values[-1]))
        elif key == "Tr":
            current = current._replace(transparency=_share(values[-1]))
        elif key == "map_Kd" and values:
            # options stand before the name, which may contain spaces itself
            current = current._replace(texture=_texture(file.parent, _name_of_picture(values), missing))
        found[current.name] = current
    return found


def _share(word: str) -> float:
    return min(max(float(word), 0.0), 1.0)


OPTIONS = {"-blendu": 1, "-blendv": 1, "-boost": 1, "-mm": 2, "-texres": 1, "-clamp": 1, "-bm": 1, "-imfchan": 1}


def _name_of_picture(words: list[str]) -> str:
    """The file name of a texture map, behind its options."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-o", "-s", "-t"):
            while len(rest) > 1 and _is_number(rest[0]):
                rest.pop(0)
        else:
            del rest[: OPTIONS.get(option, 1)]
    return " ".join(rest)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _texture(folder: Path, name: str, missing: list[str]) -> Texture | None:
    try:
        data = (folder / name.replace("\\", "/")).read_bytes()
    except (OSError, ValueError):
        data = b""
    if is_picture(data):
        return Texture(Path(name.replace("\\", "/")).stem, data)
    missing.append(name)
    return None
