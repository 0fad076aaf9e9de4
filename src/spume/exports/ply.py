"""PLY and OBJ: a file for each population of each frame.

PLY is binary and contains every field, OBJ is text and contains only the geometry.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.exports.contents import Contents, Piece
from spume.frames.quantities import SYMMETRIC
from spume.srgb import to_srgb
from spume.whole_files import whole_file

TYPES = {"f": "float", "d": "double", "i": "int", "B": "uchar", "b": "char", "h": "short", "H": "ushort", "I": "uint"}
"""PLY's names of NumPy's types."""


def columns(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A field as columns of scalars, with the names other programs expect."""
    if values.ndim == 1:
        return {name: values}
    flat = values.reshape(len(values), int(np.prod(values.shape[1:])))
    if name == "v":
        names: list[str] = ["vx", "vy", "vz"]
    elif values.shape[1:] == (6,):
        names = [f"{name}_{part}" for part in SYMMETRIC]
    elif values.ndim == 3:
        names = [f"{name}_{a}{b}" for a in "xyz"[: values.shape[1]] for b in "xyz"[: values.shape[2]]]
    else:
        names = [f"{name}_{part}" for part in "xyz"[: flat.shape[1]]]
    return {part: flat[:, k] for k, part in enumerate(names)}


def write_ply(contents: Contents, piece: Piece, file: Path, number: int) -> None:
    """Write one piece of a frame."""
    table = {"x": piece.x[:, 0], "y": piece.x[:, 1], "z": piece.x[:, 2]}
    if piece.normals is not None:
        table |= {f"n{axis}": piece.normals[:, k] for k, axis in enumerate("xyz")}
    for name, values in piece.fields.items():
        table |= columns(name, values)
    if piece.colors is not None and contents.has_paint:
        table |= dict(zip(("red", "green", "blue"), to_srgb(piece.colors).T))
    comment = f"spume {contents.name} frame {number} time {contents.time(number):.9g} s, SI units"
    with whole_file(file) as partial:
        partial.write_bytes(_ply(table, piece.triangles, _segments(piece), comment))


def _segments(piece: Piece) -> NDArray[np.int32] | None:
    """The points that each piece of the lines joins, shape (n, 2); None for points and meshes."""
    if piece.lines is None:
        return None
    first = np.delete(np.arange(len(piece.x)), piece.lines[1:] - 1)
    return np.stack([first, first + 1], axis=1).astype(np.int32)


def _ply(
    table: dict[str, NDArray[Any]],
    faces: NDArray[np.int32] | None,
    segments: NDArray[np.int32] | None,
    comment: str,
) -> bytes:
    narrow = {name: _storable(values) for name, values in table.items()}
    layout = np.dtype([(name, values.dtype.newbyteorder("<")) for name, values in narrow.items()])
    rows = np.empty(len(narrow["x"]), layout)
    for name, values in narrow.items():
        rows[name] = values
    header = ["ply", "format binary_little_endian 1.0", f"comment {comment}", f"element vertex {len(rows)}"]
    header += [f"property {TYPES[values.dtype.char]} {name}" for name, values in narrow.items()]
    body = rows.tobytes()
    if faces is not None:
        header += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
        listed = np.empty(len(faces), np.dtype([("count", "u1"), ("index", "<i4", 3)]))
        listed["count"], listed["index"] = 3, faces
        body += listed.tobytes()
    if segments is not None:
        header += [f"element edge {len(segments)}", "property int vertex1", "property int vertex2"]
        body += segments.astype("<i4").tobytes()
    return "\n".join([*header, "end_header", ""]).encode() + body


def _storable(values: NDArray[Any]) -> NDArray[Any]:
    """The values in a type that PLY supports; 64-bit integers become doubles."""
    return values if values.dtype.char in TYPES else values.astype(np.float64)


def write_obj(contents: Contents, piece: Piece, file: Path, number: int) -> None:
    """Write one piece of a frame."""
    comment = f"# spume {contents.name} frame {number} time {contents.time(number):.9g} s, metres"
    lines = [comment, _lines("v {} {} {}", piece.x)]
    if piece.lines is not None:
        for begin, end in zip(piece.lines[:-1].tolist(), piece.lines[1:].tolist(), strict=True):
            lines.append("l " + " ".join(str(k + 1) for k in range(begin, end)))
    elif piece.triangles is None or piece.normals is None:
        lines.append(_lines("p {}", np.arange(1, len(piece.x) + 1)[:, None]))
    else:
        lines.append(_lines("vn {} {} {}", piece.normals))
        lines.append(_lines("f {}//{} {}//{} {}//{}", np.repeat(piece.triangles + 1, 2, axis=1)))
    with whole_file(file) as partial:
        partial.write_text("\n".join(line for line in lines if line) + "\n")


def _lines(pattern: str, rows: NDArray[Any]) -> str:
    """A line for each row, with enough digits to restore the numbers exactly."""
    return "\n".join(pattern.format(*row) for row in rows.tolist())
