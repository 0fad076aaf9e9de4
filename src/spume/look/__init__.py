"""Surfaces, pictures, plots and the viewer, all made from runs on disk.

mesh = skin(points, radius)                       # a closed surface around points
enclosed_volume(mesh.vertices, mesh.triangles)    # [m³]
"""

from typing import TYPE_CHECKING

from spume.lazy import lazy_names

if TYPE_CHECKING:
    from spume.look.surface.skin import Skin, enclosed_volume, is_watertight, skin

_HOMES = dict.fromkeys(("Skin", "enclosed_volume", "is_watertight", "skin"), "spume.look.surface.skin")

__all__ = ["Skin", "enclosed_volume", "is_watertight", "skin"]
__getattr__ = lazy_names(__name__, _HOMES)
