"""Two-dimensional dry foam [DryFoam]: films as circular arcs, equilibrium, topology changes, coarsening, shear."""

from spume.dryfoam.foam import Foam

__all__ = ["Foam"]
