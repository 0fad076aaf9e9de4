"""Two-dimensional dry foam [DryFoam]: films as circular arcs, equilibrium, topology changes, coarsening, shear."""

from typing import TYPE_CHECKING

from spume.dryfoam.foam import Foam
from spume.lazy import lazy_names

if TYPE_CHECKING:
    from spume.dryfoam.picture import draw, save_film, save_pages, save_picture, save_statistics, save_stress_strain

_PICTURES = ("draw", "save_film", "save_pages", "save_picture", "save_statistics", "save_stress_strain")

__all__ = ["Foam", "draw", "save_film", "save_pages", "save_picture", "save_statistics", "save_stress_strain"]
__getattr__ = lazy_names(__name__, dict.fromkeys(_PICTURES, "spume.dryfoam.picture"))
