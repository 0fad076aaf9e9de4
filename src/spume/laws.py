"""Everything needed to write a constitutive law.

See the tutorial "A law of your own" in the documentation, and any file of `spume.materials` as an example.
"""

from spume.fields import IDENTITY, SYMMETRIC_IDENTITY, Field
from spume.materials.law import Branch, Law, Parameters
from spume.materials.neo_hookean import DEFORMATION
from spume.materials.registry import load_law_file, register_law
from spume.numerics import tensor3
from spume.numerics.jit import compiled

__all__ = [
    "DEFORMATION",
    "IDENTITY",
    "SYMMETRIC_IDENTITY",
    "Branch",
    "Field",
    "Law",
    "Parameters",
    "compiled",
    "load_law_file",
    "register_law",
    "tensor3",
]
