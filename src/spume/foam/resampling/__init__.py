"""Resampling of the points under large deformation: [Yue15] section 6, "Avoid a void"."""

from spume.foam.resampling.kept_bodies import KeptBodies
from spume.foam.resampling.procedure import Criterion, ResamplingReport, ResamplingSettings, avoid_a_void

__all__ = ["Criterion", "KeptBodies", "ResamplingReport", "ResamplingSettings", "avoid_a_void"]
