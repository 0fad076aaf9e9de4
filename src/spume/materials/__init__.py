"""Constitutive laws, by name."""

from typing import TYPE_CHECKING

from spume.lazy import lazy_names

if TYPE_CHECKING:
    from spume.materials.law import Law, Parameters
    from spume.materials.registry import BUILT_IN, LAWS, register_law

__all__ = ["BUILT_IN", "LAWS", "Law", "Parameters", "register_law"]
# Laws import Numba, which is not needed to read a scene.
__getattr__ = lazy_names(
    __name__,
    dict.fromkeys(("Law", "Parameters"), "spume.materials.law")
    | dict.fromkeys(("BUILT_IN", "LAWS", "register_law"), "spume.materials.registry"),
)
