"""Plots of rheometer curves and of fits, with Matplotlib (extra `look`)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.extras import require
from spume.rheology.fit_viscoelastic import ViscoelasticFit
from spume.rheology.measured import FlowCurve, Measured
from spume.rheology.rheometer import Curve, Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "rate": "shear rate [1/s]",
    "time": "time [s]",
    "frequency": "angular frequency [rad/s]",
    "axial_strain": "axial strain",
    "shear_strain": "shear strain",
}
ORDINATES = {
    "time": "shear strain",
    "frequency": "modulus [Pa]",
    "axial_strain": "stress [Pa]",
    "shear_strain": "stress [Pa]",
}
LEFT_OUT = ("volumetric_strain",)
"""Columns with another scale than the others."""


def plot_curve(curve: Curve | Measurement, title: str, file: Path) -> None:
    """Plot a curve of the rheometer, with the theory."""
    figure, axes = _figure("plotting of rheometer curves")
    if isinstance(curve, Measurement):
        _plot_measurement(curve, axes)
        abscissa = next(iter(curve.columns))
        if abscissa == "frequency":
            axes.set_yscale("log")
        logarithmic = abscissa == "frequency" or (abscissa == "time" and _spans_decades(curve.columns["time"]))
        _finish(figure, axes, LABELS[abscissa], title, file, logarithmic, ORDINATES[abscissa])
        return
    marker = "o-" if curve.abscissa == "rate" else "-"
    axes.plot(curve.values, curve.shear_stress, marker, label="law")
    if curve.small_strain_theory is not None:
        axes.plot(curve.values, curve.small_strain_theory, "k--", linewidth=1, label="small-strain theory")
    logarithmic = curve.abscissa == "rate" or _spans_decades(curve.values)
    _finish(figure, axes, LABELS[curve.abscissa], title, file, logarithmic)


def _plot_measurement(measured: Measurement, axes: "Axes") -> None:
    (_, values), *others = measured.columns.items()
    for name, column in others:
        if name in LEFT_OUT:
            continue
        theory = "theory" in name or name.startswith("failure")
        style = {"linestyle": "--", "linewidth": 1} if theory else {"marker": "o" if len(values) < 30 else ""}
        axes.plot(values, column, label=name.replace("_", " "), **style)


def plot_fit(
    measured: FlowCurve, rates: NDArray[np.float64], fitted: NDArray[np.float64], title: str, file: Path
) -> None:
    """Plot a measured flow curve and the fitted one."""
    figure, axes = _figure("plotting of fits")
    axes.plot(measured.rates, measured.stresses, "o", label="measured")
    axes.plot(rates, fitted, "-", label="fit")
    axes.set_yscale("log")
    _finish(figure, axes, LABELS["rate"], title, file, logarithmic=True)


def plot_viscoelastic_fit(measured: Measured, fit: ViscoelasticFit, title: str, file: Path) -> None:
    """Plot a measured frequency sweep or relaxation curve and the fitted one."""
    figure, axes = _figure("plotting of fits")
    (abscissa, values), *others = measured.columns.items()
    smooth = np.geomspace(values[values > 0.0].min(), values.max(), 200)
    for (name, column), fitted in zip(others, fit.model(measured.kind, smooth)):
        (drawn,) = axes.plot(values, column, "o", label=f"{name}, measured")
        axes.plot(smooth, fitted, "-", color=drawn.get_color(), label=f"{name}, fit")
    axes.set_yscale("log")
    _finish(figure, axes, LABELS[abscissa], title, file, logarithmic=True, ordinate="modulus [Pa]")


def _spans_decades(times: NDArray[np.float64]) -> bool:
    """Whether times are evenly spaced in their logarithm: most of them are then far below the last."""
    return bool(np.median(times) < 0.1 * times[-1])


def _figure(purpose: str) -> tuple[Any, Any]:
    figure = require("matplotlib.figure", purpose).Figure(figsize=(6.4, 4.4), layout="constrained")
    return figure, figure.add_subplot()


def _finish(
    figure: "Figure",
    axes: "Axes",
    label: str,
    title: str,
    file: Path,
    logarithmic: bool,
    ordinate: str = "shear stress [Pa]",
) -> None:
    if logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel(ordinate)
    axes.set_title(title, parse_math=False)
    axes.grid(alpha=0.3)
    axes.legend()
    try:
        figure.savefig(file, dpi=150)
    except (OSError, ValueError) as error:
        raise SceneError(f"--plot {file}: the picture cannot be written: {error}") from None
