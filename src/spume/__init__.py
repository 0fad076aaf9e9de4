"""Foams and the materials around them."""

from spume.version import __version__

__all__ = ["__version__"]
