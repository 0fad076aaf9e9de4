"""Constitutive laws, by name."""

from typing import TYPE_CHECKING

from spume.lazy import lazy_names

if TYPE_CHECKING:
    from spume.materials.law import Law, Parameters
    from spume.materials.registry import LAWS, register_law

__all__ = ["LAWS", "Law", "Parameters", "register_law"]
# The laws need Numba, which a scene that is only read does not.
__getattr__ = lazy_names(
    __name__,
    dict.fromkeys(("Law", "Parameters"), "spume.materials.law")
    | dict.fromkeys(("LAWS", "register_law"), "spume.materials.registry"),
)
