"""The commands for materials: rheometer and fit."""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from spume.errors import SceneError
from spume.terminal import say, visible

if TYPE_CHECKING:
    from spume.rheology.fit import Fit
    from spume.rheology.fit_viscoelastic import ViscoelasticFit
    from spume.rheology.measured import Measured
    from spume.rheology.rheometer import Curve, Measurement

Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]
Plot = Annotated[Path | None, Parameter(help="Plot the curve to this file (.png, .pdf, .svg).")]

ROWS = 25
"""Approximate number of lines of a table on the screen; --csv and --json give all."""


def register(app: App) -> None:
    """Add these commands to the command line."""
    app.command(rheometer)
    app.command(fit)


def rheometer(
    material: Annotated[str, Parameter(help="A named material (see 'spume materials') or a material of --scene.")],
    /,
    *,
    rates: Annotated[
        str | None, Parameter(help="Flow curve at these shear rates [1/s] (default: 0.01,0.1,1,10,100).")
    ] = None,
    startup: Annotated[float | None, Parameter(help="Start-up of shear at this rate [1/s], instead.")] = None,
    step_strain: Annotated[float | None, Parameter(help="Relaxation after this sudden shear strain, instead.")] = None,
    frequencies: Annotated[
        str | None, Parameter(help="Storage and loss modulus at these angular frequencies [rad/s], instead.")
    ] = None,
    creep: Annotated[float | None, Parameter(help="Creep under this shear stress [Pa], instead.")] = None,
    triaxial: Annotated[
        float | None, Parameter(help="Triaxial compression at this confining pressure [Pa], instead.")
    ] = None,
    shear_box: Annotated[float | None, Parameter(help="Shear box under this normal stress [Pa], instead.")] = None,
    scene: Annotated[str | None, Parameter(help="Look for the material in this scene first.")] = None,
    preset: Annotated[
        list[str] | None,
        Parameter(negative="", help="One of that scene's presets. Repeatable: they apply in this order."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        Parameter(name="--set", negative="", help="Change a parameter: viscosity=30. Repeatable."),
    ] = None,
    csv_file: Annotated[Path | None, Parameter(name="--csv", help="Write all values to this CSV file.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Measure a material without a grid: flow curve, start-up, relaxation, oscillation and creep in simple shear;
    triaxial compression and shear box.

    If the law has a closed form at small elastic strain, it is printed beside the result: for the flow curve of a
    foam τ = σY/√3 + η 2^(−(1+h)/2) γ̇^h, for viscoelastic materials the standard linear solid, for soils the
    Mohr-Coulomb strength. If the elastic strain τ/μ is not small, the law differs from the closed form by terms of
    order (τ/μ)². In the triaxial test and the shear box compression is positive.
    """
    from spume.rheology import rheometer as instrument
    from spume.rheology import soil
    from spume.rheology.choosing import choose_material

    options = {
        "--rates": rates, "--startup": startup, "--step-strain": step_strain, "--frequencies": frequencies,
        "--creep": creep, "--triaxial": triaxial, "--shear-box": shear_box,
    }  # fmt: skip
    asked = [option for option, value in options.items() if value is not None]
    if len(asked) > 1:
        raise SceneError(f"{' and '.join(asked)} are different measurements: give only one of them")
    chosen = choose_material(material, changes or (), scene, preset)
    curve: Curve | Measurement
    if startup is not None:
        curve, title = instrument.start_up(chosen, startup), f"start-up at {startup:g} 1/s"
    elif step_strain is not None:
        curve, title = instrument.step_strain(chosen, step_strain), f"relaxation after a strain of {step_strain:g}"
    elif frequencies is not None:
        curve = instrument.frequency_sweep(chosen, _parse_numbers("--frequencies", frequencies))
        title = "oscillation of small amplitude"
    elif creep is not None:
        curve, title = instrument.creep(chosen, creep), f"creep under {creep:g} Pa"
    elif triaxial is not None:
        curve, title = soil.triaxial(chosen, triaxial), f"triaxial compression at {triaxial:g} Pa"
    elif shear_box is not None:
        curve, title = soil.shear_box(chosen, shear_box), f"shear box under {shear_box:g} Pa"
    else:
        numbers = _parse_numbers("--rates", rates or "0.01,0.1,1,10,100")
        curve, title = instrument.flow_curve(chosen, numbers), "flow curve"
    if csv_file:
        _write_csv(csv_file, curve.records())
    if plot:
        from spume.rheology.plots import plot_curve

        plot_curve(curve, f"{material}: {title}", plot)
    if as_json:
        say(json.dumps(curve.records(), indent=2))
    else:
        _print_curve(curve, f"{material}: {title}")
    for note in curve.notes:
        say(f"note: {note}", file=sys.stderr if as_json else sys.stdout)


def fit(
    file: Annotated[
        Path,
        Parameter(
            help="CSV file or rheometer export with the columns rate and stress (or viscosity); frequency, "
            "storage_modulus and loss_modulus; or time and relaxation_modulus."
        ),
    ],
    /,
    *,
    columns: Annotated[
        str | None, Parameter(help="Contents of the columns of a file without a header: 'rate,viscosity [mPa s],-'.")
    ] = None,
    interval: Annotated[
        str | None, Parameter(help="Number of the interval to use, or 'all', if the file has several.")
    ] = None,
    name: Annotated[str | None, Parameter(help="Name of the material (default: the name of the file).")] = None,
    base: Annotated[
        str | None, Parameter(help="Named material to take unmeasured parameters from: density, moduli.")
    ] = None,
    density: Annotated[float | None, Parameter(help="Density [kg/m³].")] = None,
    bulk_modulus: Annotated[float | None, Parameter(help="Bulk modulus κ [Pa].")] = None,
    shear_modulus: Annotated[float | None, Parameter(help="Shear modulus μ [Pa]; for flow curves only.")] = None,
    out: Annotated[Path | None, Parameter(help="Also write the material to this file.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Fit a material to a measured curve and print its scene table: Herschel-Bulkley parameters for a flow curve,
    viscoelastic parameters for a frequency sweep or a relaxation curve.

    The fit is robust against outliers; the uncertainties are 95 % confidence limits from its covariance. The curve
    does not determine the density or the bulk modulus: give them, give a base to take them from, or fill them in
    later. The bulk modulus K of a viscoelastic material gives λE = K − 2/3 μE.
    """
    from spume.rheology.measured import FlowCurve, read_measured

    called = name or file.stem
    found_in_file = read_measured(file, columns=columns, interval=interval)
    if found_in_file.kind == "creep curve":
        raise SceneError(f"'{file}' is a creep curve: 'spume calibrate' fits the material of a scene to it")
    if found_in_file.kind != "flow curve":
        if shear_modulus is not None:
            raise SceneError(
                f"--shear-modulus {shear_modulus:g}: the {found_in_file.kind} determines it; leave this option out"
            )
        _fit_viscoelastic(found_in_file, file, called, base, density, bulk_modulus, out, plot, as_json)
        return
    from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY
    from spume.rheology.choosing import fitted_entry, material_block
    from spume.rheology.fit import fit_flow_curve

    measured = FlowCurve(found_in_file.columns["rate"], found_in_file.columns["stress"], found_in_file.lines)
    found = fit_flow_curve(measured)
    given = {"density": density, "bulk_modulus": bulk_modulus, "shear_modulus": shear_modulus}
    entry = fitted_entry(called, HERSCHEL_BULKLEY, found, base, given)
    block = material_block(called, HERSCHEL_BULKLEY, entry, found, given)
    _write_block(out, block)
    if plot:
        import numpy as np

        from spume.rheology.plots import plot_fit

        smooth = np.geomspace(measured.rates.min(), measured.rates.max(), 200)
        tau0, consistency, index = found.shear
        plot_fit(measured, smooth, tau0 + consistency * smooth**index, called, plot)
    outliers = [measured.lines[i] for i in found.outliers]
    if as_json:
        say(json.dumps(_fit_record(found, called, entry, outliers), indent=2, ensure_ascii=False))
        return
    in_shear = [
        f"{value:.4g} ± {found.coverage_factor * error:.2g}" for value, error in zip(found.shear, found.shear_errors)
    ]
    say(f"# {file}: {len(measured.rates)} measurements, scatter {100 * found.scale:.2g} %")
    say("# in simple shear: yield stress {} Pa, consistency {} Pa s^n, flow index {}".format(*in_shear))
    say("# ±: 95 % confidence limits from the covariance of the robust fit, with Student's t")
    if outliers:
        say(f"# excluded, deviation above four times the scatter: lines {', '.join(map(str, outliers))}")
    for note in found.notes:
        say(f"# note: {note}")
    say(block)


def _write_block(out: Path | None, block: str) -> None:
    if out is None:
        return
    try:
        out.write_text(block + "\n", encoding="utf-8")
    except OSError as error:
        raise SceneError(f"--out {out}: it cannot be written: {error.strerror}") from None


def _fit_viscoelastic(
    measured: "Measured", file: Path, name: str, base: str | None, density: float | None,
    bulk_modulus: float | None, out: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    from spume.materials.viscoelastic import VISCOELASTIC
    from spume.rheology.choosing import fitted_entry, material_block
    from spume.rheology.fit_viscoelastic import fit_viscoelastic

    found = fit_viscoelastic(measured)
    lame = None
    if bulk_modulus is not None:
        lame = bulk_modulus - 2.0 / 3.0 * found.estimates["shear_modulus"].value
        if lame < 0.0:
            raise SceneError(
                f"--bulk-modulus {bulk_modulus:g}: it should be at least 2/3 of the shear modulus, "
                f"{bulk_modulus - lame:.4g} Pa"
            )
    given = {
        "density": density, "lame_modulus": lame, "viscous_lame_modulus": None, "volumetric_viscosity": None,
    }  # fmt: skip
    entry = fitted_entry(name, VISCOELASTIC, found, base, given)
    block = material_block(name, VISCOELASTIC, entry, found, given)
    _write_block(out, block)
    if plot:
        from spume.rheology.plots import plot_viscoelastic_fit

        plot_viscoelastic_fit(measured, found, name, plot)
    outliers = [measured.lines[i] for i in found.outliers]
    if as_json:
        say(json.dumps(_viscoelastic_record(found, name, entry, outliers), indent=2, ensure_ascii=False))
        return
    say(f"# {file}: {measured.kind} of {len(measured.lines)} measurements, scatter {100 * found.scale:.2g} %")
    say(f"# relaxation time {found.relaxation_time.value:.4g} s")
    say("# ±: 95 % confidence limits from the covariance of the robust fit, with Student's t")
    if outliers:
        say(f"# excluded, deviation above four times the scatter: lines {', '.join(map(str, outliers))}")
    for note in found.notes:
        say(f"# note: {note}")
    say(block)


def _parse_numbers(option: str, text: str) -> Any:
    import numpy as np

    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise SceneError(f"{option} {text}: it should be numbers separated by commas, as in 0.1,1,10") from None


def _write_csv(file: Path, records: Sequence[dict[str, float]]) -> None:
    try:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(records[0]))
            writer.writeheader()
            writer.writerows(records)
    except OSError as error:
        raise SceneError(f"--csv {file}: it cannot be written: {error.strerror}") from None


HEADINGS = {
    "rate": "rate\n[1/s]",
    "time": "time\n[s]",
    "frequency": "frequency\n[rad/s]",
    "shear_stress": "shear stress\n[Pa]",
    "normal_stress_difference": "first normal stress\ndifference [Pa]",
    "small_strain_theory": "small-strain\ntheory",
    "storage_modulus": "storage modulus\n[Pa]",
    "loss_modulus": "loss modulus\n[Pa]",
    "storage_modulus_theory": "storage modulus,\ntheory [Pa]",
    "loss_modulus_theory": "loss modulus,\ntheory [Pa]",
    "shear_strain": "shear strain\n",
    "axial_strain": "axial strain\n",
    "volumetric_strain": "volumetric strain\n",
    "deviator_stress": "deviator stress\n[Pa]",
    "mean_stress": "mean stress\n[Pa]",
    "normal_stress": "normal stress\n[Pa]",
    "failure_deviator_stress": "deviator stress\nat failure [Pa]",
    "failure_shear_stress": "shear stress\nat failure [Pa]",
}


def _print_curve(curve: "Curve | Measurement", title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    records = curve.records()
    table = Table(title=Text(visible(title)))
    for key in records[0]:
        table.add_column(Text(HEADINGS[key]), justify="right")  # as Text, because the brackets of units are not markup
    stride = -(-len(records) // ROWS)
    for index, record in enumerate(records):
        if index % stride == 0 or index == len(records) - 1:
            table.add_row(*(f"{value:.5g}" for value in record.values()))
    Console().print(table)


def _estimates_record(found: "Fit | ViscoelasticFit", name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "material": dict(entry),
        "standard_errors": {key: estimate.error for key, estimate in found.estimates.items()},
        "limits_95": {
            key: [
                estimate.value - found.coverage_factor * estimate.error,
                estimate.value + found.coverage_factor * estimate.error,
            ]
            for key, estimate in found.estimates.items()
        },
    }


def _viscoelastic_record(
    found: "ViscoelasticFit", name: str, entry: Mapping[str, Any], outliers: Sequence[int]
) -> dict[str, Any]:
    return {
        **_estimates_record(found, name, entry),
        "relaxation_time": found.relaxation_time.value,
        "relaxation_time_standard_error": found.relaxation_time.error,
        "uncertainties": "covariance of the robust fit",
        "scatter": found.scale,
        "outlier_lines": list(outliers),
        "notes": list(found.notes),
    }


def _fit_record(found: "Fit", name: str, entry: Mapping[str, Any], outliers: Sequence[int]) -> dict[str, Any]:
    return {
        **_estimates_record(found, name, entry),
        "simple_shear": found.shear._asdict(),
        "simple_shear_standard_errors": found.shear_errors._asdict(),
        "uncertainties": "covariance of the robust fit",
        "scatter": found.scale,
        "outlier_lines": list(outliers),
        "notes": list(found.notes),
    }
