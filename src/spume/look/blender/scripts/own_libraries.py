"""Makes the Python packages that come with Blender, such as pxr and openvdb, importable in the module `bpy`, too."""

import sys
from pathlib import Path

import bpy


def find():
    """Add the folder of Blender's own packages to the search path, if it is not there."""
    for place in Path(bpy.utils.resource_path("LOCAL")).glob("python/lib/python3*/site-packages"):
        if str(place) not in sys.path:
            sys.path.append(str(place))
