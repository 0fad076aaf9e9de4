"""The longest stable step for forces from a reference, by a bound.

The fit splits the motion u of the neighbours of a point into an affine part G and a rest, and

    |G|² ≤ Σ w |u_ij|² / λ_min(A),

so the energy of the motion is at most that of springs between the points with the stiffness w (k_i + k_j), where k is
the larger of the two parts'; and its damping at most that of dashpots w (g_i + g_j):

    k = max(V M |F⁻¹|²/λ_min(A), c),    g = max(V (4/3 η + ζ) |F⁻¹|²/λ_min(A), ν)

with the modulus M of pressure waves, to which the stress adds. By Gershgorin's theorem the largest eigenvalues of K/m
and C/m are at most 2/m_i Σ_j w (k_i + k_j) and the same of g. They are reached only if all neighbours move against
their point, which has no affine part: in lattices, random and flowing points the largest eigenvalues were 2.5 to 8
times smaller. Half of the bound is used. Symplectic Euler with forces that are damped by the last velocities is stable
if Δt² K + 2 Δt C < 4 m for all eigenvectors; the smallest Δt of a point fulfils that.

In a lattice the default Courant number is below the bound; in ragged neighbourhoods, where λ_min(A) is small, it is
not.
"""

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import load, load_sym
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigenvalues_sym
from spume.numerics.tensor3 import gram, transpose
from spume.points.deformation import FITTED
from spume.ranks.ranks import ALONE, Ranks

STRESS = 2.0
"""Part of the largest principal stress by which the modulus grows [1]: 1 for Hencky's law in compression."""


@compiled(parallel=True)
def find_sharpness(divisor, quality, sharpness):
    """Write 1/λ_min(A) [1/m²] of each point, zero without a fit."""
    for p in prange(quality.size):
        sharpness[p] = eigenvalues_sym(load_sym(divisor, p))[0] if quality[p] == FITTED else 0.0


@compiled(parallel=True)
def find_bounds(F, stress, quality, sharpness, volume, modulus, viscosity, stiffness, resistance, spring, dashpot):
    """Write k and g of each point. modulus: M [Pa]; viscosity: 4/3 η + ζ [Pa s]; stiffness, resistance: c [N/m] and
    ν [N s/m]."""
    for p in prange(quality.size):
        k = g = 0.0
        if quality[p] == FITTED:
            tau = eigenvalues_sym(load_sym(stress, p))
            largest = max(abs(tau[0]), abs(tau[2]))
            least = eigenvalues_sym(gram(transpose(load(F, p))))[2]  # of Fᵀ F: |F⁻¹|⁻²
            scale = volume[p] * sharpness[p] / least
            k, g = scale * (modulus[p] + STRESS * largest), scale * viscosity[p]
        spring[p], dashpot[p] = max(k, stiffness[p]), max(g, resistance[p])


@compiled(parallel=True)
def find_rates(start, neighbour, weight, spring, dashpot, mass, square, rate):
    """Write half of the bounds of the eigenvalues of K/m [1/s²] and C/m [1/s] at each point. spring, dashpot: also of
    ghosts."""
    n = spring.size
    for i in prange(mass.size):
        total = ks = gs = 0.0
        for entry in range(start[i], start[i + 1]):
            j = neighbour[entry]
            if j == n:
                break  # padding from here on
            w = weight[entry]
            total += w
            ks += w * spring[j]
            gs += w * dashpot[j]
        square[i] = (total * spring[i] + ks) / mass[i]
        rate[i] = (total * dashpot[i] + gs) / mass[i]


def longest_step(square: NDArray[np.float64], rate: NDArray[np.float64], ranks: Ranks = ALONE) -> float:
    """Smallest Δt [s] with Δt² square + 2 Δt rate = 4 on any rank; infinite if nothing limits it."""
    limit = rate + np.sqrt(rate * rate + 4.0 * square)
    fastest = ranks.largest(float(limit.max(initial=0.0)))
    return 4.0 / fastest if fastest > 0.0 else math.inf
