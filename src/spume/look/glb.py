"""Binary glTF files (GLB) in memory: a header, a JSON text that describes the scene, and a block of numbers [glTF 2.0].

trimesh writes neither animations nor the extensions for transmission and refraction.
"""

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.geometry.mesh_files.mesh_file import Texture

POINTS, TRIANGLES = 0, 4
"""glTF's modes of primitives."""
CODES = {"f": ("<f4", 5126), "i": ("<u4", 5125), "u": ("<u4", 5125)}
"""Stored type and glTF's code for each kind of NumPy's types."""
FRACTIONS = np.dtype(np.uint16), 5123
"""16-bit integers stand for fractions of 65535."""
SIZES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


@dataclass
class Glb:
    """A glTF file being assembled."""

    tables: dict[str, list[Any]] = field(default_factory=dict)
    block: bytearray = field(default_factory=bytearray)
    extensions: set[str] = field(default_factory=set)

    def add(self, table: str, entry: dict[str, Any]) -> int:
        """Append an entry to a table such as "nodes"; returns its index."""
        entries = self.tables.setdefault(table, [])
        entries.append(entry)
        return len(entries) - 1

    def accessor(self, values: NDArray[Any], bounds: bool = False) -> int:
        """Append numbers, shape (n,) or (n, k); returns the index of their accessor."""
        is_fraction = values.dtype == FRACTIONS[0]
        kind, code = ("<u2", FRACTIONS[1]) if is_fraction else CODES[values.dtype.kind]
        rows = np.ascontiguousarray(values, dtype=kind)
        flat = rows.reshape(len(rows), -1)
        view = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.block), "byteLength": rows.nbytes})
        self.block += rows.tobytes()
        entry = {"bufferView": view, "componentType": code, "count": len(rows), "type": SIZES[flat.shape[1]]}
        if is_fraction:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        return self.add("accessors", entry)

    def texture(self, texture: Texture) -> int:
        """Append a picture; returns the index of its texture."""
        view = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.block), "byteLength": len(texture.data)})
        self.block += texture.data + b"\0" * (-len(texture.data) % 4)
        kind = "image/png" if texture.suffix == ".png" else "image/jpeg"
        source = self.add("images", {"name": texture.name, "bufferView": view, "mimeType": kind})
        return self.add("textures", {"source": source})

    def data(self, roots: list[int], title: str | None = None) -> bytes:
        """The whole file, with a scene of the nodes `roots`."""
        scene = {"nodes": roots} | ({} if title is None else {"name": title})
        about = {"asset": {"version": "2.0", "generator": "spume"}, "scene": 0, "scenes": [scene]}
        about["buffers"] = [{"byteLength": len(self.block)}]
        if self.extensions:
            about["extensionsUsed"] = sorted(self.extensions)
        text = json.dumps(about | self.tables, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        binary = bytes(self.block) + b"\0" * (-len(self.block) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
