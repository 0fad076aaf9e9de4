"""GLB files, read by their specification."""

import json
import struct
from pathlib import Path

import numpy as np

TYPES = {5126: "<f4", 5125: "<u4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


class Glb:
    """A file of the format, read as the specification says: a header, a JSON chunk and a binary chunk."""

    def __init__(self, file: Path) -> None:
        raw = file.read_bytes()
        magic, version, size = struct.unpack("<4sII", raw[:12])
        assert (magic, version, size) == (b"glTF", 2, len(raw))
        length, kind = struct.unpack("<I4s", raw[12:20])
        assert kind == b"JSON"
        assert length % 4 == 0
        self.about = json.loads(raw[20 : 20 + length])
        self.binary = raw[28 + length :]

    def array(self, index: int) -> np.ndarray:
        accessor = self.about["accessors"][index]
        view = self.about["bufferViews"][accessor["bufferView"]]
        width = WIDTHS[accessor["type"]]
        values = np.frombuffer(
            self.binary, TYPES[accessor["componentType"]], accessor["count"] * width, view["byteOffset"]
        )
        return values.reshape(-1, width)

    def node(self, name: str) -> dict:
        return next(node for node in self.about["nodes"] if node["name"] == name)
