"""Dart throwing: random points with a least distance, added until no place is free or there are enough of them.

Three callers fill a shape (`geometry.filling`), the voids between existing points (`foam.resampling`) and the periodic
unit square (`dryfoam.network.seeds`). They differ in the cells at which darts are thrown (`cells.py`) and in their
domain, a few compiled functions (`Domain` in `throwing.py`).
"""

from spume.geometry.darts.cells import DartCells, cells_at, periodic_cells
from spume.geometry.darts.links import NO_LINKS, Links
from spume.geometry.darts.throwing import Domain, Thrower

__all__ = ["NO_LINKS", "DartCells", "Domain", "Links", "Thrower", "cells_at", "periodic_cells"]
