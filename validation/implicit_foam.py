"""Herschel-Bulkley flow inside implicit steps: steady shear by its return map, and a column of cream that slumps."""

import time
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Check, Outcome, Surroundings, deviation, relative
from reports.drawing import COLOURS, OURS, THEIRS, panels, save

from spume import Simulation, load_scene
from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from validation.flow_curve import FINE, FLOWS, RATES, STRAIN, closed_form

Array = NDArray[np.float64]

LONGEST, SHEAR = 4e-3, 0.03
"""Longest step [s] of the sheared point, and largest shear of a step: principal axes turn in a step, which lowers the
stress by an error of second order in the shear."""
STEPS = (4e-3, 2e-3, 1e-3)
"""Implicit time steps [s] of the column."""
TIMES = np.linspace(0.0, 0.6, 25)
SAME = 0.05
"""Relative difference of the shortest steps from explicit ones, the bound of tests/foam/test_implicit_foam.py [1]."""
HALF = 0.5
"""Deviation of the observed order from one, the order of backward Euler: nearer to it than to none or to two [1]."""


def steady_stress(parameters: HerschelBulkleyParameters, rate: float) -> float:
    """Shear stress [Pa] in steady simple shear, by the functions that the particle step of ADMM uses: the trial strain
    of f b fᵀ, the return map in principal space, and the stress."""
    (branch,), packed = HERSCHEL_BULKLEY.branches, HERSCHEL_BULKLEY.pack(parameters)
    history = tuple(field.initial for field in HERSCHEL_BULKLEY.fields)
    dt = min(LONGEST, SHEAR / rate)
    f = np.eye(3)
    f[0, 1] = rate * dt
    b, stress, change = np.eye(3), 0.0, 1.0
    while change > 1e-6:
        squares, V = np.linalg.eigh(f @ b @ f.T)
        strain, _ = branch.return_map(packed, history, tuple(0.5 * np.log(squares)), dt)
        tau, _ = branch.principal_stress(packed, history, strain)
        b = (V * np.exp(2.0 * np.array(strain))) @ V.T
        before, stress = stress, float(((V * np.array(tau)) @ V.T)[0, 1])
        change = abs(stress - before) / stress
    return stress


def slump(step: float | None) -> tuple[Array, Array, float]:
    """Heights and widths [m] of the column at TIMES by implicit steps, or by explicit ones (None), and the processor
    time [s]. The height is that of 98 % of the points."""
    own = ["time.integrator=explicit"] if step is None else [f"time.max_dt={step}"]
    sim = Simulation(load_scene("slumping-cream-implicit", own))
    sim.advance(1e-3)  # compiles
    started, found = time.process_time(), []
    for moment in TIMES:
        if moment > sim.time:
            sim.advance(moment - sim.time)
        x = sim.particles.x
        found.append((np.percentile(x[:, 1], 98), np.ptp(x[:, 0])))
    heights, widths = np.array(found).T
    return heights, widths, time.process_time() - started


def run(around: Surroundings) -> Outcome:
    """Both parts."""
    outcome = Outcome()
    figure, (left, right) = panels(2)
    around.say("steady shear")
    for (label, (sigma, eta, h)), colour in zip(FLOWS.items(), COLOURS):
        theory = closed_form(RATES, sigma, eta, h)
        parameters = HerschelBulkleyParameters(
            density=100.0, bulk_modulus=1e5, shear_modulus=theory.max() / STRAIN, yield_stress=sigma, viscosity=eta,
            flow_index=h,
        )  # fmt: skip
        found = np.array([steady_stress(parameters, rate) for rate in RATES])
        outcome.checks.append(deviation(f"shear stress, {label}", float(np.abs(found / theory - 1.0).max()), 0.01))
        left.loglog(FINE, closed_form(FINE, sigma, eta, h), **THEIRS)
        left.loglog(RATES, found, **(OURS | {"color": colour}), label=label)
    left.set(xlabel="shear rate [1/s]", ylabel="shear stress [Pa]")
    left.legend(frameon=False, fontsize=8)
    around.say("explicit steps")
    height, width, seconds = slump(None)
    right.plot(TIMES, height, **THEIRS, label="explicit")
    taken = [f"{seconds:.1f} s with explicit steps"]
    errors: dict[str, list[float]] = {"sinking": [], "spreading": []}
    for step, colour in zip(STEPS, COLOURS):
        around.say(f"implicit steps of {step:g} s")
        ours, wide, seconds = slump(step)
        right.plot(TIMES, ours, color=colour, label=f"implicit, {1e3 * step:g} ms")
        for quantity, found, explicit in (("sinking", -ours, -height), ("spreading", wide, width)):
            moved, expected = (float(each[-1] - each[0]) for each in (found, explicit))
            errors[quantity].append(abs(moved - expected))
            if step == STEPS[-1]:
                name = f"{quantity} in 0.6 s, steps of {1e3 * step:g} ms"
                outcome.checks.append(relative(name, moved, expected, SAME, "m"))
        taken.append(f"{seconds:.1f} s with implicit ones of {1e3 * step:g} ms")
    for quantity, each in errors.items():
        for k, (coarse, fine) in enumerate(pairwise(each)):
            order, steps = float(np.log2(coarse / fine)), f"{1e3 * STEPS[k]:g} and {1e3 * STEPS[k + 1]:g} ms"
            outcome.checks.append(
                Check(
                    f"order of the error of the {quantity}, steps of {steps}", f"{order:.2f}", "1",
                    f"{order - 1.0:+.2f}", f"±{HALF:g}", abs(order - 1.0) <= HALF,
                )
            )  # fmt: skip
    right.set(xlabel="time [s]", ylabel="height of the column [m]")
    right.legend(frameon=False, fontsize=8)
    outcome.notes.append(f"Processor time of the 0.6 s: {', '.join(taken)}.")
    caption = "Steady shear stress by the return map of implicit steps, and the height of a column of cream."
    outcome.figures.append((save(figure, around.pictures, "implicit-foam"), caption))
    return outcome


CASE = Case(
    "implicit-foam",
    "Foam by implicit and explicit steps",
    "Herschel-Bulkley flow is part of the particle step of implicit integration. A point sheared in steps of up to "
    "4 ms, and by up to 0.03 in a step, must have the stress of the closed form, and a column of shaving cream "
    "(`slumping-cream-implicit`) must slump as it does by explicit steps, with an error of first order.",
    run,
)
