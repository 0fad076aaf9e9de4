"""Constitutive laws, by name."""

from spume.materials.law import Law, Parameters
from spume.materials.registry import LAWS, register_law

__all__ = ["LAWS", "Law", "Parameters", "register_law"]
