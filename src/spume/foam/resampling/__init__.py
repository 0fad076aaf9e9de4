"""Resampling of the points under large deformation: [Yue15] section 6, "Avoid a void"."""

from spume.foam.resampling.procedure import ResamplingReport, ResamplingSettings, avoid_a_void

__all__ = ["ResamplingReport", "ResamplingSettings", "avoid_a_void"]
