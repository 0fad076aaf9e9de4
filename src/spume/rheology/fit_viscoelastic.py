"""Parameters of the viscoelastic law from a measured frequency sweep or relaxation curve: a Prony series.

The parameters are μE ≥ 0 and, of each part that relaxes, μk and the relaxation time τk. Residuals of storage and loss
modulus are relative to |G*| at each frequency, those of a relaxation modulus relative to the modulus. Loss, exclusion
of measurements and uncertainties are those of `robust`.

The number of parts is chosen by Schwarz's criterion, R ln(S/R) + k ln R for R residuals, k parameters and the sum S of
the losses of the residuals with a scale common to all numbers. Another part is accepted if it lowers the criterion by
STRONG or more ([Kass95]: strong evidence): with R = 30 the sum has to fall by a third, which noise alone does in one of
a hundred curves. Parts that the data cannot tell apart are never accepted.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from spume.errors import SceneError
from spume.materials.viscoelastic_parameters import MOST_BRANCHES
from spume.rheology.measured import Measured
from spume.rheology.robust import SMALLEST_SCALE, TUNING, Estimate, Loss, Solution, solve

Array = NDArray[np.float64]

FEWEST = {"frequency sweep": 3, "relaxation curve": 5}
"""Smallest number of measurements with one part: three parameters, and at least two degrees of freedom."""
FURTHER = {"frequency sweep": 1, "relaxation curve": 2}
"""Further measurements for each further part, which has two parameters."""
STARTS = 25
"""Number of initial relaxation times, over the range of the measurement; for given times the moduli are linear."""
BEST_STARTS = 4
"""Starts with several parts that are followed."""
STRONG = 6.0
"""Fall of the criterion that another part needs."""
BEYOND = 16.0
"""Limits of the logarithms of moduli and, beyond the measured range, of times."""
CLOSEST, SMALLEST = 1.5, 1e-3
"""Least ratio of two relaxation times, and least modulus of a part relative to the largest."""


@dataclass(frozen=True)
class Part:
    """A part that relaxes."""

    shear_modulus: Estimate
    """μk [Pa]"""
    relaxation_time: Estimate
    """τk [s]"""
    deviatoric_viscosity: Estimate
    """νd = 2 μk τk [Pa s]"""


@dataclass(frozen=True)
class Candidate:
    """A number of parts that was tried."""

    parts: int
    scatter: float
    """standard deviation of the residuals of the measurements in use [1]"""
    criterion: float
    """Schwarz's criterion [1]"""
    distinct: bool
    """whether its parts differ"""


@dataclass(frozen=True)
class ViscoelasticFit:
    """A Prony series fitted to a measured curve."""

    estimates: dict[str, Estimate]
    """shear_modulus [Pa], and viscous_shear_modulus [Pa] and deviatoric_viscosity [Pa s] of the first part"""
    parts: tuple[Part, ...]
    """in the order of their relaxation times"""
    solution: Solution
    """scatter, weights and exclusions of the measurements"""
    notes: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()
    """all numbers of parts that were tried"""

    @property
    def relaxation_time(self) -> Estimate:
        """Shortest τ [s]."""
        return self.parts[0].relaxation_time

    @property
    def further_parts(self) -> list[dict[str, float]]:
        """The parts after the first as parameters of the law. The viscosity of the volume, which shear does not show,
        is that of the shape."""
        return [
            {
                "shear_modulus": float(f"{part.shear_modulus.value:.6g}"),
                "deviatoric_viscosity": float(f"{part.deviatoric_viscosity.value:.6g}"),
                "volumetric_viscosity": float(f"{part.deviatoric_viscosity.value:.6g}"),
            }
            for part in self.parts[1:]
        ]

    def model(self, kind: str, values: Array) -> tuple[Array, ...]:
        """Fitted moduli [Pa] at frequencies [rad/s] or times [s]."""
        found = self.estimates["shear_modulus"].value * _elastic(kind, values)
        for part in self.parts:
            found = found + part.shear_modulus.value * _viscous(kind, values, part.relaxation_time.value)
        return tuple(found)


def _elastic(kind: str, values: Array) -> Array:
    """Derivative of the moduli (storage and loss, or relaxation) with respect to μE, shape (quantities, n)."""
    if kind == "relaxation curve":
        return np.ones((1, len(values)))
    return np.stack([np.ones(len(values)), np.zeros(len(values))])


def _viscous(kind: str, values: Array, tau: float) -> Array:
    """Derivative with respect to the modulus of a part."""
    if kind == "relaxation curve":
        return np.exp(-values / tau)[None]
    x = values * tau
    return np.stack([x * x, x]) / (1.0 + x * x)


class _Problem:
    """Relative residuals of x = (μE/unit, log μ1/unit, log τ1, log μ2/unit, …)."""

    def __init__(self, measured: Measured, parts: int) -> None:
        (_, self.places), *others = measured.columns.items()
        self.kind, self.data = measured.kind, np.stack([column for _, column in others])
        self.parts = parts
        self.fewest = FEWEST[measured.kind] + FURTHER[measured.kind] * (parts - 1)
        self.magnitude = np.linalg.norm(self.data, axis=0)
        self.unit = float(np.median(self.magnitude))
        self.bounds = self._bounds()

    def _bounds(self) -> tuple[list[float], list[float]]:
        """Several parts may not run off to where the data show nothing of them."""
        if self.parts == 1:
            return [0.0, -np.inf, -np.inf], [np.inf] * 3
        times = np.log(self.times())
        low, high = [-BEYOND, float(times.min()) - BEYOND], [BEYOND, float(times.max()) + BEYOND]
        return [0.0, *low * self.parts], [np.inf, *high * self.parts]

    def residuals(self, x: Array) -> Array:
        model = x[0] * _elastic(self.kind, self.places)
        for log_mu, log_tau in x[1:].reshape(-1, 2):
            model = model + math.exp(log_mu) * _viscous(self.kind, self.places, math.exp(log_tau))
        return np.asarray((self.unit * model - self.data) / self.magnitude)

    def jacobian(self, x: Array) -> Array:
        columns = [_elastic(self.kind, self.places)]
        for log_mu, log_tau in x[1:].reshape(-1, 2):
            mu = math.exp(log_mu)
            later = _viscous(self.kind, self.places, math.exp(log_tau + 1e-6))
            earlier = _viscous(self.kind, self.places, math.exp(log_tau - 1e-6))
            columns += [mu * _viscous(self.kind, self.places, math.exp(log_tau)), mu * (later - earlier) / 2e-6]
        return np.stack([self.unit * column / self.magnitude for column in columns], axis=-1)

    def times(self) -> Array:
        """Initial relaxation times."""
        positive = self.places[self.places > 0.0]
        times = np.geomspace(positive.min(), positive.max(), STARTS)
        return 1.0 / times if self.kind == "frequency sweep" else times

    def linear(self, times: Array) -> tuple[float, Array]:
        """Misfit and x with the best moduli for given relaxation times."""
        weights = self.unit / self.magnitude
        columns = [_elastic(self.kind, self.places), *(_viscous(self.kind, self.places, tau) for tau in times)]
        mu, misfit = nnls(
            np.stack([(column * weights).ravel() for column in columns], axis=1), (self.data / self.magnitude).ravel()
        )
        pairs = np.stack([np.log(np.maximum(mu[1:], 1e-6)), np.log(times)], axis=1)
        return float(misfit), np.concatenate([mu[:1], pairs.ravel()])

    def starts(self, before: Array | None) -> list[Array]:
        """Initial guesses: the times of a fit `before` with one part less and another, or times evenly apart."""
        if before is None:
            return [self.linear(np.array([tau]))[1] for tau in self.times()]
        known = np.exp(before[2::2])
        tried = [np.append(known, tau) for tau in self.times()]
        first, last = np.log(self.times()[[0, -1]])
        for margin in (0.5, 1.0):
            edges = np.linspace(first, last, self.parts + 1)
            tried.append(np.exp(edges[:-1] + margin * 0.5 * np.diff(edges)))
        found = sorted((self.linear(times) for times in tried), key=lambda pair: pair[0])
        return [x for _, x in found[:BEST_STARTS]]


def fit_viscoelastic(measured: Measured, loss: Loss = "robust", parts: int | None = None) -> ViscoelasticFit:
    """Fit a Prony series to a measured frequency sweep or relaxation curve, with a number of `parts` that is chosen
    unless it is given."""
    if parts is not None and not 1 <= parts <= MOST_BRANCHES:
        raise SceneError(f"{parts} relaxing parts: there should be 1 to {MOST_BRANCHES}")
    problems, found = [], list[Solution]()
    best = math.inf
    for number in range(1, (parts or MOST_BRANCHES) + 1):
        problem = _Problem(measured, number)
        if (count := len(np.unique(problem.places))) < problem.fewest:
            if number > 1 and parts is None:
                break
            what = "frequencies" if measured.kind == "frequency sweep" else "times"
            raise SceneError(
                f"{count} different {what} are too few for {_NUMBERS[2 * number + 1]} parameters and their "
                f"uncertainties: at least {problem.fewest} are needed"
            )
        found.append(solve(problem, problem.starts(found[-1].x if found else None), loss))
        problems.append(problem)
        # further parts are tried while the last two of them improved the fit by as much as they may by chance
        if number > 2 and found[-1].scale > 0.97 * best:
            break
        best = min(best, found[-2].scale if number > 1 else math.inf)
    candidates = _compared(problems, found)
    chosen = len(found) - 1 if parts is not None else _choice(candidates)
    return _result(problems[chosen], found[chosen], candidates)


_NUMBERS = {3: "three", 5: "five", 7: "seven", 9: "nine"} | {k: str(k) for k in range(11, 2 * MOST_BRANCHES + 2)}


def _compared(problems: list[_Problem], found: list[Solution]) -> tuple[Candidate, ...]:
    """The criterion of each number of parts, with the scale of the best fit."""
    c = TUNING * max(min(solution.scale for solution in found), SMALLEST_SCALE)
    compared = []
    for problem, solution in zip(problems, found):
        r = problem.residuals(solution.x)
        losses = 2.0 * c * c * (np.sqrt(1.0 + (r / c) ** 2) - 1.0)
        mean = max(float(losses.sum()) / r.size, SMALLEST_SCALE**2)
        criterion = r.size * math.log(mean) + len(solution.x) * math.log(r.size)
        order = np.sort(solution.x[2::2])
        apart = np.all(np.diff(order) > math.log(CLOSEST))
        present = np.ptp(solution.x[1::2]) < -math.log(SMALLEST)
        compared.append(Candidate(problem.parts, solution.scale, criterion, bool(apart and present)))
    return tuple(compared)


def _choice(candidates: tuple[Candidate, ...]) -> int:
    """Index of the smallest number of parts that no larger one beats clearly."""
    chosen = 0
    for k, candidate in enumerate(candidates):
        if candidate.distinct and candidate.criterion <= candidates[chosen].criterion - STRONG * (k - chosen):
            chosen = k
    return chosen


def _result(problem: _Problem, found: Solution, candidates: tuple[Candidate, ...]) -> ViscoelasticFit:
    x, covariance = found.x, found.covariance
    errors = np.sqrt(np.diag(covariance))
    parts = []
    for k in 1 + 2 * np.argsort(x[2::2]):
        mu, tau = problem.unit * math.exp(x[k]), math.exp(x[k + 1])
        # νd = 2 μ τ: its relative variance is that of log μ + log τ
        both = math.sqrt(max(covariance[k : k + 2, k : k + 2].sum(), 0.0))
        viscosity = Estimate(2.0 * mu * tau, 2.0 * mu * tau * both)
        parts.append(Part(Estimate(mu, mu * float(errors[k])), Estimate(tau, tau * float(errors[k + 1])), viscosity))
    estimates = {
        "shear_modulus": Estimate(problem.unit * float(x[0]), problem.unit * float(errors[0])),
        "viscous_shear_modulus": parts[0].shear_modulus,
        "deviatoric_viscosity": parts[0].deviatoric_viscosity,
    }
    notes = _notes(problem, estimates, parts, found)
    return ViscoelasticFit(estimates, tuple(parts), found, notes, candidates)


def _notes(problem: _Problem, estimates: dict[str, Estimate], parts: list[Part], found: Solution) -> tuple[str, ...]:
    notes = []
    elastic = estimates["shear_modulus"]
    if elastic.value <= 2.0 * elastic.error:
        longer = "lower frequencies" if problem.kind == "frequency sweep" else "longer times"
        notes.append(f"the long-time modulus cannot be distinguished from zero: measure at {longer}")
    positive = problem.places[problem.places > 0.0]
    times = [part.relaxation_time for part in parts]
    clocks = [1.0 / time.value if problem.kind == "frequency sweep" else time.value for time in times]
    outside = [time.value for time, clock in zip(times, clocks) if not positive.min() <= clock <= positive.max()]
    if outside:
        which = "the relaxation time is" if len(parts) == 1 else f"{', '.join(f'{t:.3g}' for t in outside)} s are"
        notes.append(f"{which} outside the range of the measurement: it and the viscosity are uncertain")
    loose = [time.value for time in times if found.coverage_factor * time.error > time.value]
    if loose and len(parts) > 1:
        listed = ", ".join(f"{time:.3g}" for time in loose)
        notes.append(f"relaxation times that are known to no better than a factor of two: {listed} s")
    if found.scale > 0.1:
        what = "a single relaxation time fits" if len(parts) == 1 else f"{len(parts)} relaxation times fit"
        notes.append(f"{what} these data to no better than 10 %: check --plot before trusting the fit")
    return tuple(notes)


def verdict(fit: ViscoelasticFit) -> list[str]:
    """Sentences about the number of parts: what speaks for it."""
    known = {candidate.parts: candidate for candidate in fit.candidates}
    own = known[len(fit.parts)]
    sentences = []
    for other in (own.parts - 1, own.parts + 1):
        if other not in known:
            continue
        difference = known[other].criterion - own.criterion
        said = f"scatter {100 * known[other].scatter:.2g} %, Schwarz's criterion {difference:+.3g}"
        if not known[other].distinct:
            said += ", parts that the data cannot tell apart"
        sentences.append(f"{other} part{'s' if other > 1 else ''} instead of {own.parts}: {said}")
    return sentences
