"""Resampling of the points under large deformation: [Yue15] section 6, "Avoid a void"."""

from spume.foam.resampling.kept_bodies import KeptBodies
from spume.foam.resampling.procedure import Criterion, ResamplingReport, ResamplingSettings, avoid_a_void
from spume.foam.resampling.territory import SEEN, arrange, enter, leave

__all__ = [
    "SEEN",
    "Criterion",
    "KeptBodies",
    "ResamplingReport",
    "ResamplingSettings",
    "arrange",
    "avoid_a_void",
    "enter",
    "leave",
]
