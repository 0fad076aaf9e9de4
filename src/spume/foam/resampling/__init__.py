"""Resampling of the points under large deformation: [Yue15] section 6, "Avoid a void"."""

from spume.foam.resampling.active import MARGIN, active_places
from spume.foam.resampling.kept_bodies import KeptBodies
from spume.foam.resampling.procedure import Criterion, ResamplingReport, ResamplingSettings, avoid_a_void

__all__ = [
    "MARGIN",
    "Criterion",
    "KeptBodies",
    "ResamplingReport",
    "ResamplingSettings",
    "active_places",
    "avoid_a_void",
]
