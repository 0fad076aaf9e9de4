"""Everything needed to write a constitutive law.

See the tutorial "A law of your own" in the documentation, and any file of `spume.materials` as an example. The modules
`hencky`, `principal` and `granular` contain the formulas that the elastoplastic laws share.
"""

from spume.fields import IDENTITY, SYMMETRIC_IDENTITY, Field
from spume.materials import granular, hencky, principal
from spume.materials.law import Branch, Law, Parameters
from spume.materials.neo_hookean import DEFORMATION
from spume.materials.registry import load_law_file, register_law
from spume.materials.traits import Failure, Fluid, Granular, Tearing, Traits
from spume.numerics import tensor3
from spume.numerics.jit import compiled

__all__ = [
    "DEFORMATION",
    "IDENTITY",
    "SYMMETRIC_IDENTITY",
    "Branch",
    "Failure",
    "Field",
    "Fluid",
    "Granular",
    "Law",
    "Parameters",
    "Tearing",
    "Traits",
    "compiled",
    "granular",
    "hencky",
    "load_law_file",
    "principal",
    "register_law",
    "tensor3",
]
