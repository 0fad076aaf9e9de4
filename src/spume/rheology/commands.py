"""The commands for materials: rheometer, fit and check-law."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from spume.csv_files import write_csv
from spume.errors import CacheError, SceneError
from spume.options import FrequencyUnit, Json, Preset
from spume.terminal import say, tell, visible
from spume.whole_files import whole_file

if TYPE_CHECKING:
    from spume.rheology.fit import Fit
    from spume.rheology.fit_viscoelastic import ViscoelasticFit
    from spume.rheology.measured import Measured
    from spume.rheology.rheometer import Curve, Measurement
    from spume.rheology.robust import Loss

Plot = Annotated[Path | None, Parameter(help="Plot the curve to this file (.png, .pdf, .svg).")]

ROWS = 25
"""Approximate number of lines of a table on the screen; --csv and --json give all."""


def register(app: App) -> None:
    """Add these commands to the command line."""
    app.command(rheometer)
    app.command(fit)
    app.command(check_law)


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
        str | None,
        Parameter(help="Storage and loss modulus at these angular frequencies [rad/s] (2π times hertz), instead."),
    ] = None,
    creep: Annotated[float | None, Parameter(help="Creep under this shear stress [Pa], instead.")] = None,
    triaxial: Annotated[
        float | None, Parameter(help="Triaxial compression at this confining pressure [Pa], instead.")
    ] = None,
    shear_box: Annotated[float | None, Parameter(help="Shear box under this normal stress [Pa], instead.")] = None,
    undrained: Annotated[
        bool, Parameter(negative="", help="Keep the volume in --triaxial, and report the pore pressure.")
    ] = False,
    strain: Annotated[
        float | None, Parameter(help="Largest strain of --triaxial (default: 0.1) or --shear-box (0.3).")
    ] = None,
    scene: Annotated[str | None, Parameter(help="Look for the material in this scene first.")] = None,
    preset: Preset = None,
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
    if undrained and triaxial is None:
        raise SceneError("--undrained: it belongs to --triaxial, which is missing")
    if strain is not None and triaxial is None and shear_box is None:
        raise SceneError(f"--strain {strain:g}: it belongs to --triaxial or --shear-box, which are missing")
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
        drainage: Literal["undrained", "drained"] = "undrained" if undrained else "drained"
        curve = soil.triaxial(chosen, triaxial, 0.1 if strain is None else strain, drainage)
        title = f"{drainage} triaxial compression at {triaxial:g} Pa"
    elif shear_box is not None:
        curve = soil.shear_box(chosen, shear_box, 0.3 if strain is None else strain)
        title = f"shear box under {shear_box:g} Pa"
    else:
        numbers = _parse_numbers("--rates", rates or "0.01,0.1,1,10,100")
        curve, title = instrument.flow_curve(chosen, numbers), "flow curve"
    if csv_file:
        records = curve.records()
        with _argument("--csv"):
            write_csv(csv_file, {_column_name(key): [record[key] for record in records] for key in records[0]})
    if plot:
        from spume.rheology.plots import plot_curve

        plot_curve(curve, f"{material}: {title}", plot)
    if as_json:
        say(json.dumps(curve.records(), indent=2))
    else:
        _print_curve(curve, f"{material}: {title}")
    for note in curve.notes:
        (tell if as_json else say)(f"note: {note}")


def fit(
    file: Annotated[
        Path,
        Parameter(
            help="CSV file or rheometer export with the columns rate and stress (or viscosity); frequency [Hz] or "
            "angular_frequency [rad/s], storage_modulus and loss_modulus; or time and relaxation_modulus."
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
    unit: FrequencyUnit = None,
    loss: Annotated[
        Literal["robust", "linear"],
        Parameter(help="'robust' excludes bad measurements and limits the weight of doubtful ones; 'linear' uses all."),
    ] = "robust",
    name: Annotated[str | None, Parameter(help="Name of the material (default: the name of the file).")] = None,
    parts: Annotated[
        int | None,
        Parameter(help="Number of relaxation times of a viscoelastic material (default: chosen by the fit)."),
    ] = None,
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

    Columns without a unit are in SI units; a frequency must name its unit. The fit is robust against outliers, and
    says which measurements count less and why; the uncertainties are 95 % confidence limits from its covariance. The
    curve does not determine the density or the bulk modulus: give them, give a base to take them from, or fill them in
    later. The bulk modulus K of a viscoelastic material gives λE = K − 2/3 μE.

    A viscoelastic material gets as many relaxation times as the data tell apart, by Schwarz's criterion; what one more
    or one less would do is printed.
    """
    from spume.rheology.measured import FlowCurve, read_measured

    called = name or file.stem
    found_in_file = read_measured(file, columns=columns, interval=interval, unit=unit)
    if found_in_file.kind == "creep curve":
        raise SceneError(f"'{file}' is a creep curve: 'spume calibrate' fits the material of a scene to it")
    if found_in_file.kind != "flow curve":
        if shear_modulus is not None:
            raise SceneError(
                f"--shear-modulus {shear_modulus:g}: the {found_in_file.kind} determines it; leave this option out"
            )
        _fit_viscoelastic(found_in_file, file, called, base, density, bulk_modulus, out, plot, as_json, loss, parts)
        return
    if parts is not None:
        raise SceneError(f"--parts {parts}: a flow curve has no relaxation times; leave this option out")
    from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY
    from spume.rheology.choosing import fitted_entry, material_block
    from spume.rheology.fit import fit_flow_curve

    measured = FlowCurve(found_in_file.columns["rate"], found_in_file.columns["stress"], found_in_file.lines)
    found = fit_flow_curve(measured, loss)
    given = {"density": density, "bulk_modulus": bulk_modulus, "shear_modulus": shear_modulus}
    entry = fitted_entry(called, HERSCHEL_BULKLEY, found, base, given)
    block = material_block(called, HERSCHEL_BULKLEY, entry, found, given)
    if plot:
        import numpy as np

        from spume.rheology.plots import plot_fit

        smooth = np.geomspace(measured.rates.min(), measured.rates.max(), 200)
        tau0, consistency, index = found.shear
        plot_fit(measured, smooth, tau0 + consistency * smooth**index, called, plot)
    factor = found.solution.coverage_factor
    in_shear = [f"{value:.4g} ± {factor * error:.2g}" for value, error in zip(found.shear, found.shear_errors)]
    heading = "in simple shear: yield stress {} Pa, consistency {} Pa s^n, flow index {}".format(*in_shear)
    record = {
        **_estimates_record(found, called, entry, found_in_file, loss),
        "simple_shear": found.shear._asdict(),
        "simple_shear_standard_errors": found.shear_errors._asdict(),
    }
    _report_fit(found, found_in_file, file, loss, record, heading, block, out, as_json)


@contextmanager
def _argument(option: str) -> Iterator[None]:
    """A file that cannot be written is the mistake of the option that names it."""
    try:
        yield
    except CacheError as error:
        raise SceneError(f"{option}: {error}") from None


def _report_fit(
    found: "Fit | ViscoelasticFit", measured: "Measured", file: Path, loss: "Loss", record: dict[str, Any],
    heading: str, block: str, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Write the material to `out` and print it below what was measured and `heading`, or print `record` as JSON."""
    if out is not None:
        with _argument("--out"), whole_file(out, make_folder=False) as partial:
            partial.write_text(block + "\n", encoding="utf-8")
    if as_json:
        say(json.dumps(record, indent=2, ensure_ascii=False))
        return
    _say_measurements(measured, file, found, loss)
    say(f"# {heading}")
    for note in found.notes:
        say(f"# note: {note}")
    say(block)


def _say_measurements(measured: "Measured", file: Path, found: "Fit | ViscoelasticFit", loss: "Loss") -> None:
    """Print what was read, the scatter, and which measurements count less and why."""
    solution = found.solution
    say(f"# {file}: {measured.kind} of {len(measured.lines)} measurements, scatter {100 * solution.scale:.2g} %")
    listed = (f"{key} [{unit}]" if unit else f"{key} (no unit: SI)" for key, unit in measured.units.items())
    say(f"# columns: {', '.join(listed)}")
    say(f"# ±: 95 % confidence limits from the covariance of the {loss} fit, with Student's t")
    for sentence, places in (
        ("excluded, too far from the fit of the others to be one of them", solution.outliers),
        ("counted with less weight, more than three times the scatter from the fit", solution.doubtful),
    ):
        if places:
            say(f"# {sentence}: {', '.join(_part_of(measured, found, i) for i in places)}")
    if solution.outliers:
        say("# --loss linear uses all measurements with the same weight")


def _part_of(measured: "Measured", found: "Fit | ViscoelasticFit", i: int) -> str:
    """A measurement with its deviation, and its weight unless that is 0 or 1."""
    off, weight = found.solution.deviations[i], found.solution.weights[i]
    counted = f", weight {weight:.2g}" if 0.0 < weight < 1.0 else ""
    return f"line {measured.lines[i]} (off by {100 * off:.2g} %, {off / found.solution.scale:.2g} times{counted})"


def _fit_viscoelastic(
    measured: "Measured", file: Path, name: str, base: str | None, density: float | None,
    bulk_modulus: float | None, out: Path | None, plot: Path | None, as_json: bool, loss: "Loss", parts: int | None,
) -> None:  # fmt: skip
    from spume.materials.viscoelastic import VISCOELASTIC
    from spume.rheology.choosing import fitted_entry, material_block
    from spume.rheology.fit_viscoelastic import fit_viscoelastic, verdict

    found = fit_viscoelastic(measured, loss, parts)
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
    if plot:
        from spume.rheology.plots import plot_viscoelastic_fit

        plot_viscoelastic_fit(measured, found, name, plot)
    factor = found.solution.coverage_factor
    times = [(part.relaxation_time.value, part.relaxation_time.error) for part in found.parts]
    (time, error), *further = times
    heading = f"relaxation time {time:.4g} ± {factor * error:.2g} s, 1/time = {1.0 / time:.4g} rad/s"
    if further:
        heading = "relaxation times " + ", ".join(f"{time:.4g} ± {factor * error:.2g}" for time, error in times) + " s"
    heading = "\n# ".join((heading, *verdict(found)))
    record = {
        **_estimates_record(found, name, entry, measured, loss),
        "relaxation_time": time,
        "relaxation_time_standard_error": error,
        "relaxation_times": [value for value, _ in times],
        "relaxation_time_standard_errors": [each for _, each in times],
        "numbers_of_parts": [asdict(candidate) for candidate in found.candidates],
    }
    _report_fit(found, measured, file, loss, record, heading, block, out, as_json)


def check_law(
    file: Annotated[Path, Parameter(help="A Python file with laws; its code is run.")],
    /,
    *,
    scene: Annotated[str | None, Parameter(help="Use the materials of this scene that have the law.")] = None,
    preset: Preset = None,
    changes: Annotated[
        list[str] | None,
        Parameter(name="--set", negative="", help="Set a parameter: shear_modulus=2e3. Repeatable."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check the mechanics of the laws in a file, as the package checks its own: the stress is the derivative of the
    energy, rotations turn it, flow dissipates, volume and wave speed are those of the motion and of the stiffness, and
    the history is the declared one.

    Without a scene, parameters without a default get typical values for their units.
    """
    from spume.rheology.own_laws import check_laws

    reports = check_laws(file, scene, preset, changes or ())
    if as_json:
        keys = ("material", "parameters", "passed", "misses")
        records = [{"law": each.law.name} | {key: getattr(each, key) for key in keys} for each in reports]
        say(json.dumps(records, indent=2, ensure_ascii=False))
        return int(any(each.misses for each in reports))
    for each in reports:
        values = ", ".join(f"{key} {value}" for key, value in each.parameters.items())
        say(f"{each.law.name} ({each.material}: {values})")
        for sentence in each.misses:
            say(f"    miss: {sentence}")
        say(f"    kept: {', '.join(each.passed) or 'nothing could be checked'}")
    return int(any(each.misses for each in reports))


def _parse_numbers(option: str, text: str) -> Any:
    import numpy as np

    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise SceneError(f"{option} {text}: it should be numbers separated by commas, as in 0.1,1,10") from None


def _column_name(key: str) -> str:
    """Name of a column with its unit, as `spume fit` reads it."""
    unit = re.search(r"\[.*\]", HEADINGS[key])
    return f"{FILE_NAMES.get(key, key)} {unit[0]}" if unit else key


FILE_NAMES = {"frequency": "angular_frequency"}
HEADINGS = {
    "rate": "rate\n[1/s]",
    "time": "time\n[s]",
    "frequency": "angular frequency\n[rad/s]",
    "shear_stress": "shear stress\n[Pa]",
    "normal_stress_difference": "first normal stress\ndifference [Pa]",
    "small_strain_theory": "small-strain\ntheory [Pa]",
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
    "pore_pressure": "pore pressure\n[Pa]",
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


def _estimates_record(
    found: "Fit | ViscoelasticFit", name: str, entry: Mapping[str, Any], measured: "Measured", loss: "Loss"
) -> dict[str, Any]:
    from spume.materials.table import parameter_units

    factor = found.solution.coverage_factor
    return {
        "name": name,
        "material": dict(entry),
        "standard_errors": {key: estimate.error for key, estimate in found.estimates.items()},
        "limits_95": {
            key: [estimate.value - factor * estimate.error, estimate.value + factor * estimate.error]
            for key, estimate in found.estimates.items()
        },
        "units": {key: unit for key, unit in parameter_units(entry["law"]).items() if key in entry},
        "loss": loss,
        "uncertainties": f"covariance of the {loss} fit",
        "scatter": found.solution.scale,
        "columns": {key: unit or "SI" for key, unit in measured.units.items()},
        "outlier_lines": [measured.lines[i] for i in found.solution.outliers],
        "weights": {str(line): round(float(weight), 4) for line, weight in zip(measured.lines, found.solution.weights)},
        "notes": list(found.notes),
    }
