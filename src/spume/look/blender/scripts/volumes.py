"""Runs inside Blender: writes OpenVDB files with Blender's own module.

job.json: files, for each of them its name and its grids: their name, kind ("fog", "vector" or "polygons"), spacing [m],
and for the first two kinds the index of the first value. arrays.npz has the values as KEY/GRID, or vertices and
triangles as KEY/GRID/x and KEY/GRID/triangles, of which a level set is made.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # Python does not add it by itself when it is told to be safe
import own_libraries

own_libraries.find()
import openvdb  # noqa: E402


def main(folder):
    job = json.loads((folder / "job.json").read_text())
    arrays = np.load(folder / "arrays.npz")
    for file in job["files"]:
        grids = [grid(about, f"{file['key']}/{about['name']}", arrays) for about in file["grids"]]
        openvdb.write(file["out"], grids=grids)
    (folder / "report.json").write_text(json.dumps({"files": len(job["files"]), "version": openvdb.LIBRARY_VERSION}))


def grid(about, key, arrays):
    transform = openvdb.createLinearTransform(voxelSize=about["spacing"])
    if about["kind"] == "polygons":
        made = openvdb.FloatGrid.createLevelSetFromPolygons(
            arrays[f"{key}/x"], triangles=arrays[f"{key}/triangles"], transform=transform, halfWidth=3.0
        )
        made.name = about["name"]
        return made
    values = arrays[key]
    if about["kind"] == "vector":
        made = openvdb.Vec3SGrid()
        made.copyFromArray(np.ascontiguousarray(values, np.float32), ijk=tuple(about["first"]))
    else:
        made = openvdb.FloatGrid(about["background"])
        made.copyFromArray(np.ascontiguousarray(values, np.float32), ijk=tuple(about["first"]), tolerance=0.0)
    made.name = about["name"]
    made.transform = transform
    if about["kind"] == "fog":
        made.gridClass = openvdb.GridClass.FOG_VOLUME
    return made


main(Path(sys.argv[-1]))
