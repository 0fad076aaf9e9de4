"""VTKHDF: a file with all frames as time steps, for ParaView and VTK (format 2.2, PolyData).

A run of several populations has a file for each.
Each array concatenates the points of all frames; `Steps` gives the offset of each frame.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.exports.contents import Contents, Piece
from spume.exports.forgiving_file import ForgivingFile
from spume.extras import require
from spume.whole_files import whole_file
from spume.work import each_frame

KINDS = ("Vertices", "Lines", "Polygons", "Strips")
"""VTK's kinds of cells, in the order in which `Steps` counts them."""
CHUNK = 1 << 16


def write_vtkhdf(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file`, or to one for each population; returns whether that was needed."""
    h5py = require("h5py", "writing VTKHDF")
    recipe = contents.recipe("vtkhdf")
    files = contents.population_files(file)
    if not again and all(_recipe(h5py, each) == recipe for each in files):
        return False
    with ExitStack() as stack:
        opened = [stack.enter_context(ForgivingFile(stack.enter_context(whole_file(each)))) for each in files]
        with ExitStack() as hdfs:
            writers = []
            for each in opened:
                hdf = hdfs.enter_context(h5py.File(each, "w"))
                hdf.attrs["spume"] = recipe
                writers.append(_Writer(h5py, hdf.create_group("VTKHDF")))

            def add(number: int) -> None:
                _add(writers, contents, number)
                for writer in writers:
                    writer.root.file.flush()
                _raise_failure(opened)

            each_frame(add, contents.numbers, "export")
            for writer in writers:
                writer.finish()
        _raise_failure(opened)
    return True


def _add(writers: list["_Writer"], contents: Contents, number: int) -> None:
    for writer, piece in zip(writers, contents.pieces(number)):
        writer.add(piece, contents.time(number))


def _raise_failure(opened: list[ForgivingFile]) -> None:
    """Raise the first error that writing to one of the files met."""
    for file in opened:
        if file.error:
            raise file.error


def _recipe(h5py: Any, file: Path) -> str | None:
    try:
        with h5py.File(file, "r") as hdf:
            return str(hdf.attrs.get("spume"))
    except OSError:
        return None


class _Writer:
    """Appends frames to the group VTKHDF."""

    def __init__(self, h5py: Any, root: Any) -> None:
        self.h5py, self.root = h5py, root
        root.attrs["Version"] = np.array([2, 2], np.int64)
        root.attrs.create("Type", b"PolyData", dtype=h5py.string_dtype("ascii", 8))
        self.steps = root.create_group("Steps")
        self.point_data = root.create_group("PointData")
        self.point_data_offsets = self.steps.create_group("PointDataOffsets")
        self.times: list[float] = []
        self.points = 0
        self.cells, self.ids = 0, 0

    def add(self, piece: Piece, time: float) -> None:
        """Append a frame."""
        if piece.lines is not None:
            along = {name: values[piece.lines[:-1]] for name, values in piece.fields.items()}
            self._add(piece.x, piece.fields, "Lines", np.arange(len(piece.x)), piece.lines)
            self._add_cell_data(along)
        elif piece.triangles is None or piece.normals is None:
            # One cell that holds all points draws them in ParaView at no cost.
            self._add(piece.x, piece.fields, "Vertices", np.arange(len(piece.x)), np.array([0, len(piece.x)]))
        else:
            fields = {"Normals": piece.normals, **piece.fields}
            offsets = 3 * np.arange(len(piece.triangles) + 1)
            self._add(piece.x, fields, "Polygons", piece.triangles.ravel(), offsets)
        self.times.append(time)

    def _add(
        self,
        x: NDArray[Any],
        fields: dict[str, NDArray[Any]],
        kind: str,
        connectivity: NDArray[Any],
        offsets: NDArray[Any],
    ) -> None:
        where = KINDS.index(kind)
        self._append(self.steps, "PointOffsets", [self.points])
        self._append(self.steps, "PartOffsets", [len(self.times)])
        self._append(self.steps, "NumberOfParts", [1])
        self._append(self.steps, "CellOffsets", [[self.cells if k == where else 0 for k in range(4)]])
        self._append(self.steps, "ConnectivityIdOffsets", [[self.ids if k == where else 0 for k in range(4)]])
        self._append(self.root, "NumberOfPoints", [len(x)])
        self._append(self.root, "Points", x)
        for name in KINDS:
            group = self.root.require_group(name)
            is_used = name == kind
            self._append(group, "NumberOfCells", [len(offsets) - 1 if is_used else 0])
            self._append(group, "NumberOfConnectivityIds", [len(connectivity) if is_used else 0])
            self._append(group, "Offsets", offsets.astype(np.int64) if is_used else np.zeros(1, np.int64))
            self._append(group, "Connectivity", (connectivity if is_used else np.zeros(0)).astype(np.int64))
        for name, values in fields.items():
            wide = _full_tensor(values)
            self._append(self.point_data_offsets, name, [self.points])
            self._append(self.point_data, name, wide.reshape(len(wide), -1) if wide.ndim > 2 else wide)
        self.points += len(x)
        self.cells += len(offsets) - 1
        self.ids += len(connectivity)

    def _add_cell_data(self, fields: dict[str, NDArray[Any]]) -> None:
        """Cell values of the last frame added."""
        data, offsets = self.root.require_group("CellData"), self.steps.require_group("CellDataOffsets")
        for name, values in fields.items():
            self._append(offsets, name, [self.cells - len(values)])
            self._append(data, name, values)

    def _append(self, group: Any, name: str, rows: Any) -> None:
        values = np.asarray(rows)
        if name not in group:
            shape = values.shape[1:]
            kind = np.int64 if values.dtype.kind == "i" and isinstance(rows, list) else values.dtype
            chunk = (min(CHUNK, max(1, len(values))), *shape)
            group.create_dataset(name, (0, *shape), kind, maxshape=(None, *shape), chunks=chunk)
        data = group[name]
        start = len(data)
        data.resize(start + len(values), axis=0)
        data[start:] = values

    def finish(self) -> None:
        """Write the values known only at the end."""
        self.steps.attrs["NSteps"] = np.int64(len(self.times))
        self.steps.create_dataset("Values", data=np.array(self.times))


def _full_tensor(values: NDArray[Any]) -> NDArray[Any]:
    """Symmetric tensors in VTK's order of six: xx, yy, zz, xy, yz, xz."""
    return values[:, [0, 1, 2, 3, 5, 4]] if values.ndim == 2 and values.shape[1] == 6 else values
