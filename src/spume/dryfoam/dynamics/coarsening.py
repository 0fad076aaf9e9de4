"""Coarsening: gas diffuses through the films, small cells vanish.

Each film of length ℓ lets K Δp ℓ through, so dA_i/dt = -K Σ (p_i - p_j) ℓ. In equilibrium Δp ℓ = 2θT, the films of a
cell turn by 2π - nπ/3 in all, and this is von Neumann's law dA/dt = (π/3) K T (n - 6), for the cells on the edge of a
free foam as well. With T = 2γ it is eq. (4) of [DryFoam], whose κ is K. The rates are constant while the topology
lasts, so a step is exact up to the time of the next event, however long it is.

No gas goes through walls. Around a cell with n films, m parts of walls and c corners of a box there are n - m vertices
of 120°, 2m angles of 90° between film and wall and the corners of 90°; the films turn by what is left of 2π, and
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
from spume.dryfoam.network.half_edges import Floats, Integers, Network, compact, validate
from spume.dryfoam.network.topology import remove_cell
from spume.dryfoam.network.walls import contacts_of_cells, corners_of_cells, normals
from spume.errors import RunFailed
from spume.numerics.jit import compiled

Scheme = Literal["adaptive", "unit"]
STATIC = 1e-7
"""Rates over K T below which a foam has come to rest: von Neumann's law gives none between zero and π/6."""
MOST_ITERATIONS = 40
"""Newton steps of the whole foam after which a step of coarsening is given up and a shorter one tried; 5 to 15 do."""


@dataclass(frozen=True)
class Coarsening:
    """How time steps are taken."""

    diffusion: float
    """K: area of gas through a film per time, length and pressure difference [m²/(N s)]."""
    event_tolerance: float = 0.005
    """Events (T1, T2) are located in time within this times ⟨A⟩/(K T); events closer together happen at once."""
    scheme: Scheme = "adaptive"
    """adaptive: steps to the next event; unit: steps of one second by von Neumann's law, [DryFoam] eq. (14)."""
    vanish_area: float = 0.01
    """A cell of the unit scheme goes when its target is below this times ⟨A⟩ (T_area of [DryFoam] eq. (16))."""


def diffusion_rates(network: Network, diffusion: float, tension: float, without: Integers | None = None) -> Floats:
    """Growth of each cell's area by diffusion through its films [m²/s], shape (F,), films of cells `without` closed."""
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
    """(π/3) K T (n + 2m + 3c/2 - 6) for each cell of n films, m parts of walls and c corners [m²/s], shape (F,)."""
    turned = network.sides() + 2 * contacts_of_cells(network) + 1.5 * corners_of_cells(network)
    return np.asarray(np.pi / 3.0 * diffusion * tension * (turned - 6.0), dtype=np.float64)


def share_area(network: Network, index: int) -> None:
    """Gives the target area of cell `index` to its neighbours, by the length of the films between; through the films of
    the free edge it leaves the foam."""
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
    """The network of the single cell `survivor`, without films: a circle about the cell's centre of area, or all of the
    room between the walls."""
    n, none = network, np.zeros(0, dtype=np.int64)
    return Network(
        positions=cell_centroids(n)[[survivor]], half_angles=np.zeros(0), origin=none, next=none.copy(),
        previous=none.copy(), cell=none.copy(), shift=np.zeros((0, 2), dtype=np.int64),
        pressures=n.pressures[[survivor]].copy(), targets=n.targets[[survivor]].copy(),
        labels=n.labels[[survivor]].copy(), lattice=n.lattice, walls=n.walls,
    )  # fmt: skip


def remove_cells(
    network: Network, dying: Integers, gas: Literal["shared", "lost"] = "shared", checks: Checks = "none"
) -> tuple[Network, Events]:
    """The network without the cells `dying`, and what it took.

    A cell whose removal the rest of the foam does not allow stays, with at least a hundredth of the mean area as its
    target, and is counted as stuck.
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
    """One step of an equilibrated foam, at most `until` [s] long: (new network in equilibrium, what happened)."""
    window = rule.event_tolerance * float(network.targets.mean()) / (rule.diffusion * tension)
    rates = diffusion_rates(network, rule.diffusion, tension)
    if np.max(np.abs(rates)) < STATIC * rule.diffusion * tension:
        if not math.isfinite(until):
            raise RunFailed(f"no gas moves between the {network.cells} cells: they keep their areas for ever")
        return network.copy(), Events(duration=until)
    shrinking = rates < 0
    life = np.full(network.cells, np.inf)
    life[shrinking] = -network.targets[shrinking] / rates[shrinking]
    if network.is_lone and life[0] <= until:
        raise RunFailed(f"the last bubble vanishes {life[0]:.3g} s from here")
    dt = min(until, max(window, 0.5 * float(life.min()), 0.0))
    retries = 0
    while True:
        # a cell that would last little longer goes as well: next to nothing of it would be left
        dying = np.flatnonzero(life <= 1.3 * min(dt, window)) if network.cells > 1 else np.zeros(0, dtype=np.int64)
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
def shrink_small_cells(
    first, areas, targets, small, busy, normals, positions, half_angles, origin, next_, cell, shift, lattice, pressures
):
    """First guess for cells below `small` [m²]: each scaled about its middle to its target, pressure with its radius.

    For three-sided cells this is the equilibrium itself to first order, since the films around them do not notice
    (decoration theorem of Weaire), which saves Newton steps. A cell on one wall is scaled about a point of the wall;
    one on two walls is left alone.
    """
    for f in range(len(first)):
        ratio = targets[f] / areas[f]
        if areas[f] > small or abs(ratio - 1.0) < 0.02:
            continue
        h, sides, mx, my, x, y, around, free = first[f], 0, 0.0, 0.0, 0.0, 0.0, 0.0, True
        walls, nx, ny, wx, wy = 0, 0.0, 0.0, 0.0, 0.0  # normal of the cell's wall, a vertex on it
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
            dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
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
        while True:  # the offset of each vertex from the first, before any of them moves
            v = origin[h]
            dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
            if sides > 0:  # this vertex still stands, the first one of the loop is moved last
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
    shrink_small_cells(
        n.first_half_edges(), cell_areas(n), n.targets, 0.3 * float(n.targets.mean()),
        np.zeros(n.vertices, dtype=np.bool_), normals(n), n.positions, n.half_angles, n.origin, n.next, n.cell, n.shift,
        n.lattice, n.pressures,
    )  # fmt: skip
    films = np.arange(n.films)
    bend_to_pressure(
        films, n.positions, n.half_angles, n.origin, n.cell, n.shift, n.lattice, n.pressures, tension, n.wall
    )


def _attempt(
    network: Network, dying: Integers, dt: float, tension: float, rule: Coarsening, options: Options
) -> tuple[Network, Events]:
    n = network.copy()
    n.targets += dt * diffusion_rates(n, rule.diffusion, tension, without=dying)
    events = Events()
    if len(dying):
        n, events = remove_cells(n, dying, checks=options.checks)
    events.duration = dt
    if n.is_closed:  # rounding only: the rates sum to zero
        n.targets *= n.box_area() / n.targets.sum()
    if np.any(n.targets <= 0):
        raise RunFailed("a cell's area would become negative")
    _guess(n, tension)
    hasty = replace(options, iterations=min(options.iterations, MOST_ITERATIONS))
    events.read(equilibrate(n, tension, hasty))
    return n, events


def unit_step(network: Network, tension: float, rule: Coarsening, options: Options) -> tuple[Network, Events]:
    """One step of [DryFoam]: eq. (14) for every cell, cells below the area threshold removed, then equilibrium."""
    n = network.copy()
    rates = von_neumann_rates(n, rule.diffusion, tension)
    n.targets += rates
    least = rule.vanish_area * float(np.abs(n.targets).mean())
    dying = np.flatnonzero(n.targets <= least)
    n.targets[dying] = np.maximum(n.targets[dying], 0.0)
    if len(dying) >= n.cells:
        raise RunFailed("all bubbles would vanish in this unit step: give a smaller diffusion constant")
    n, events = remove_cells(n, dying, checks=options.checks)
    if n.is_closed:
        n.targets *= n.box_area() / n.targets.sum()
    events.duration = 1.0
    events.read(equilibrate(n, tension, options))
    return n, events
