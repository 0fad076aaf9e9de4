"""Coarsening: gas diffuses through the films, small cells vanish.

Gas flows through a film of length ℓ at the rate K Δp ℓ, so dA_i/dt = -K Σ (p_i - p_j) ℓ. In equilibrium Δp ℓ = 2θT, and
the films of a cell turn by a total of 2π - nπ/3, which gives von Neumann's law dA/dt = (π/3) K T (n - 6), also for
cells on the edge of a free foam. With T = 2γ it is eq. (4) of [DryFoam], whose κ is K. The rates are constant while the
topology is unchanged, so a step of any length is exact up to the time of the next event.

No gas flows through walls. Around a cell with n films, m parts of walls and c corners of a box there are n - m vertices
of 120°, 2m angles of 90° between film and wall, and c corners of 90°; the films turn by the remainder of 2π, so
dA/dt = (π/3) K T (n + 2m + 3c/2 - 6).
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from spume.dryfoam.equilibrium.newton import bend_to_pressure
from spume.dryfoam.equilibrium.report import Checks, Events, Options, exchanges
from spume.dryfoam.equilibrium.search import equilibrate
from spume.dryfoam.network.geometry import (
    cell_areas,
    cell_centroids,
    film_lengths,
    half_edge_vector,
    pressure_differences,
)
from spume.dryfoam.network.half_edges import Floats, Integers, Network, compact, empty_network, validate
from spume.dryfoam.network.topology import remove_cell
from spume.dryfoam.network.walls import contacts_of_cells, corners_of_cells, normals
from spume.errors import RunFailed
from spume.numerics.jit import compiled

Scheme = Literal["adaptive", "unit"]
STATIC = 1e-7
"""Rates over K T below which a foam is at rest: von Neumann's law allows none between zero and π/6."""
UNIT_AREA = 0.01
"""Area over ⟨A⟩ below which all cells are removed in the unit scheme, unless T_area is given."""
MOST_ITERATIONS = 40
"""Newton steps of the whole foam after which a step of coarsening is tried again with a shorter time; 5 to 15 are
usually enough."""


@dataclass(frozen=True)
class Coarsening:
    """Settings of the time steps."""

    diffusion: float
    """K: area of gas diffusing through a film per time, length and pressure difference [m²/(N s)]."""
    event_tolerance: float = 0.005
    """Accuracy of the times of events (T1, T2), over ⟨A⟩/(K T); events closer together are simultaneous."""
    scheme: Scheme = "adaptive"
    """adaptive: steps to the next event; unit: steps of one second by von Neumann's law, [DryFoam] eq. (14)."""


def below_t_area(network: Network, options: Options) -> Integers:
    """Three-sided cells with a target of at most T_area, [DryFoam] eq. (3)."""
    if options.t_area is None:
        return np.zeros(0, dtype=np.int64)
    n = network
    return np.flatnonzero((n.sides() == 3) & (n.targets <= options.t_area * float(n.targets.mean())))


def diffusion_rates(network: Network, diffusion: float, tension: float, without: Integers | None = None) -> Floats:
    """Growth rate of each cell's area by diffusion through its films [m²/s], shape (F,), except films of the cells
    `without`."""
    n = network
    if n.is_lone:
        return np.array([0.0 if n.is_closed else -2.0 * np.pi * diffusion * tension])
    flow = diffusion * pressure_differences(n) * film_lengths(n)
    if without is not None and len(without):
        closed = np.isin(n.cell, without)
        flow[closed[0::2] | closed[1::2]] = 0.0
    rates = np.zeros(n.cells + 1)
    np.add.at(rates, n.cell[0::2], -flow)
    np.add.at(rates, n.cell[1::2], flow)
    return rates[:-1]


def von_neumann_rates(network: Network, diffusion: float, tension: float) -> Floats:
    """(π/3) K T (n + 2m + 3c/2 - 6) [m²/s] for each cell with n films, m parts of walls and c corners, shape (F,)."""
    turned = network.sides() + 2 * contacts_of_cells(network) + 1.5 * corners_of_cells(network)
    return np.asarray(np.pi / 3.0 * diffusion * tension * (turned - 6.0), dtype=np.float64)


def share_area(network: Network, index: int) -> None:
    """Distribute the target area of cell `index` to its neighbours in proportion to the lengths of the films between
    them; the share of films on the free edge leaves the foam."""
    n = network
    films = np.flatnonzero(n.cell == index)
    lengths = film_lengths(n, films >> 1)
    others = n.cell[films ^ 1]
    lengths = np.where(others == index, 0.0, lengths)
    share = n.targets[index] * lengths / lengths.sum()
    inside = others >= 0
    np.add.at(n.targets, others[inside], share[inside])
    n.targets[index] = 0.0


def lone_bubble(network: Network, survivor: int) -> Network:
    """Network of the single cell `survivor`, without films: a circle about the cell's centroid, or the whole area
    between the walls."""
    n, own = network, [survivor]
    lone = empty_network(cell_centroids(n)[own], 0, 1, n.lattice)
    return replace(lone, pressures=n.pressures[own], targets=n.targets[own], labels=n.labels[own], walls=n.walls)


def remove_cells(
    network: Network, dying: Integers, gas: Literal["shared", "lost"] = "shared", checks: Checks = "none"
) -> tuple[Network, Events]:
    """Remove the cells `dying`; return the new network and the events.

    A cell that cannot be removed without making the network invalid stays, with a target of at least a hundredth of the
    mean area, and is counted as stuck.
    """
    n, events = network, Events()
    least = 0.01 * float(n.targets.mean())
    labels = n.labels[dying]
    for label in labels:
        index = int(np.flatnonzero(n.labels == label)[0])
        if n.boundary != "periodic" and n.cells - events.vanished == 2:
            alive = [k for k in range(n.cells) if n.targets[k] > 0 and k != index and n.labels[k] >= 0]
            if gas == "shared":
                share_area(n, index)
            events.vanished += 1
            return lone_bubble(n, alive[0]), events
        before = n.targets.copy()
        if gas == "shared":
            share_area(n, index)
        cell, known = n.cell.copy(), n.labels.copy()
        flips = remove_cell(n, index)
        if flips < 0:
            n.targets[:] = before
            n.targets[index] = max(before[index], least)
            events.stuck += 1
        else:
            events.flips += flips
            events.vanished += 1
            if flips:
                events.exchanges += exchanges(cell, known, n)
        if checks == "events":
            validate(compact(n))
    return compact(n), events


def step(network: Network, until: float, tension: float, rule: Coarsening, options: Options) -> tuple[Network, Events]:
    """Take one step of an equilibrated foam, at most `until` [s] long; return the new network in equilibrium and the
    events."""
    window = rule.event_tolerance * float(network.targets.mean()) / (rule.diffusion * tension)
    rates = diffusion_rates(network, rule.diffusion, tension)
    if np.max(np.abs(rates)) < STATIC * rule.diffusion * tension:
        if not math.isfinite(until):
            raise RunFailed(f"no gas moves between the {network.cells} cells: their areas never change")
        return network.copy(), Events(duration=until)
    shrinking = rates < 0
    life = np.full(network.cells, np.inf)
    life[shrinking] = -network.targets[shrinking] / rates[shrinking]
    if network.is_lone and life[0] <= until:
        raise RunFailed(f"the last bubble vanishes {life[0]:.3g} s from here")
    dt = min(until, max(window, 0.5 * float(life.min()), 0.0))
    retries, tiny = 0, below_t_area(network, options)
    while True:
        # also remove cells that would vanish soon after
        dying = np.flatnonzero(life <= 1.3 * min(dt, window)) if network.cells > 1 else np.zeros(0, dtype=np.int64)
        dying = np.union1d(dying, tiny)
        try:
            changed, events = _attempt(network, dying, dt, tension, rule, options)
        except RunFailed:
            if dt < 1e-3 * window:
                raise
            dt *= 0.5
            retries += 1
            continue
        if events.flips and not len(dying) and dt > window:
            dt = max(0.5 * dt, window)
            continue
        events.restarts += retries
        return changed, events


@compiled
def shrink_small_cells(n, first, areas, small, busy, normals):
    """Initial guess for cells below `small` [m²]: scale each about its centre to its target, and its pressure
    accordingly.

    For three-sided cells this is the equilibrium to first order, since it does not affect the films around them
    (decoration theorem of Weaire), which saves Newton steps. A cell on one wall is scaled about a point of the wall; a
    cell on two walls is not changed.
    """
    positions, pressures, targets, origin, next_, cell = n.positions, n.pressures, n.targets, n.origin, n.next, n.cell
    for f in range(len(first)):
        ratio = targets[f] / areas[f]
        if areas[f] > small or abs(ratio - 1.0) < 0.02:
            continue
        h, sides, mx, my, x, y, around, free = first[f], 0, 0.0, 0.0, 0.0, 0.0, 0.0, True
        walls, nx, ny, wx, wy = 0, 0.0, 0.0, 0.0, 0.0  # normal of the cell's wall, and a vertex on it
        while True:
            sides += 1
            mx += x
            my += y
            v = origin[h]
            free = free and not busy[v]
            if normals[v, 0] != 0.0 or normals[v, 1] != 0.0:
                if (nx != 0.0 or ny != 0.0) and (nx != normals[v, 0] or ny != normals[v, 1]):
                    free = False
                nx, ny, wx, wy = normals[v, 0], normals[v, 1], x, y
            j = cell[h ^ 1]
            if j >= 0:
                around += pressures[j]
            elif normals[v, 0] != 0.0 or normals[v, 1] != 0.0:  # a part of the wall
                walls += 1
            dx, dy = half_edge_vector(n, h)
            x += dx
            y += dy
            h = next_[h]
            if h == first[f]:
                break
        if not free or sides > 5:
            continue
        scale = math.sqrt(ratio)
        mx, my, around = mx / sides, my / sides, around / (sides - walls)
        off = (mx - wx) * nx + (my - wy) * ny
        mx, my = mx - off * nx, my - off * ny
        x, y, sides = 0.0, 0.0, 0
        while True:  # the offset of each vertex from the first, before any vertex is moved
            v = origin[h]
            dx, dy = half_edge_vector(n, h)
            if sides > 0:  # not yet moved; the first vertex of the loop is moved last
                positions[v, 0] += (scale - 1.0) * (x - mx)
                positions[v, 1] += (scale - 1.0) * (y - my)
                busy[v] = True
            x += dx
            y += dy
            sides += 1
            h = next_[h]
            if h == first[f]:
                break
        v = origin[h]
        positions[v, 0] -= (scale - 1.0) * mx
        positions[v, 1] -= (scale - 1.0) * my
        busy[v] = True
        pressures[f] = around + (pressures[f] - around) / scale


def _guess(network: Network, tension: float) -> None:
    n = network
    if n.is_lone:
        return
    small, busy = 0.3 * float(n.targets.mean()), np.zeros(n.vertices, dtype=np.bool_)
    shrink_small_cells(n.mesh, n.first_half_edges(), cell_areas(n), small, busy, normals(n))
    bend_to_pressure(n.mesh, np.arange(n.films), tension)


def _attempt(
    network: Network, dying: Integers, dt: float, tension: float, rule: Coarsening, options: Options
) -> tuple[Network, Events]:
    n = network.copy()
    n.targets += dt * diffusion_rates(n, rule.diffusion, tension, without=dying)
    events = Events()
    if len(dying):
        n, events = remove_cells(n, dying, checks=options.checks)
    events.duration = dt
    if n.is_closed:  # corrects rounding only, since the rates sum to zero
        n.targets *= n.box_area() / n.targets.sum()
    if np.any(n.targets <= 0):
        raise RunFailed("a cell's area would become negative")
    _guess(n, tension)
    hasty = replace(options, iterations=min(options.iterations, MOST_ITERATIONS))
    events.read(equilibrate(n, tension, hasty))
    return n, events


def unit_step(network: Network, tension: float, rule: Coarsening, options: Options) -> tuple[Network, Events]:
    """Take one step of [DryFoam]: eq. (14) for every cell, removal of cells below the area threshold, equilibrium."""
    n = network.copy()
    rates = von_neumann_rates(n, rule.diffusion, tension)
    n.targets += rates
    least = 0.0 if options.t_area is not None else UNIT_AREA * float(np.abs(n.targets).mean())
    dying = np.union1d(np.flatnonzero(n.targets <= least), below_t_area(n, options))
    n.targets[dying] = np.maximum(n.targets[dying], 0.0)
    if len(dying) >= n.cells:
        raise RunFailed("all bubbles would vanish in this unit step: give a smaller diffusion constant")
    n, events = remove_cells(n, dying, checks=options.checks)
    if n.is_closed:
        n.targets *= n.box_area() / n.targets.sum()
    events.duration = 1.0
    events.read(equilibrate(n, tension, options))
    return n, events
