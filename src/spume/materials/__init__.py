"""Constitutive laws, by name."""

from spume.materials.corotated_plastic import COROTATED_PLASTIC
from spume.materials.drucker_prager import DRUCKER_PRAGER
from spume.materials.hencky import HENCKY
from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY
from spume.materials.law import Law, Parameters
from spume.materials.neo_hookean import NEO_HOOKEAN
from spume.materials.viscoelastic import VISCOELASTIC
from spume.materials.von_mises import VON_MISES
from spume.materials.water import WATER

SUPPLIED = (
    NEO_HOOKEAN,
    HENCKY,
    HERSCHEL_BULKLEY,
    VON_MISES,
    VISCOELASTIC,
    DRUCKER_PRAGER,
    WATER,
    COROTATED_PLASTIC,
)
LAWS: dict[str, Law] = {law.name: law for law in SUPPLIED}

__all__ = ["LAWS", "Law", "Parameters"]
