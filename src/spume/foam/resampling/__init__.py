"""Resampling of the points under large deformation: [Yue15] section 6, "Avoid a void"."""

from spume.foam.resampling.procedure import Criterion, ResamplingReport, ResamplingSettings, avoid_a_void

__all__ = ["Criterion", "ResamplingReport", "ResamplingSettings", "avoid_a_void"]
