"""The commands that run a scene many times: sweep and calibrate."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from spume.options import Changes, Cluster, FrequencyUnit, Json, Preset, SceneName
from spume.sweeps.plan import PicturesOf
from spume.terminal import say, tell

if TYPE_CHECKING:
    from spume.sweeps.sweep import Sweep

PICTURES = Parameter(
    help="A contact sheet of the last frames and a film of all runs side by side, only the sheet, none."
)
AtOnce = Annotated[int | None, Parameter(help="Number of simultaneous runs (default: as cores and memory allow).")]


def register(app: App) -> None:
    """Add these commands to the command line."""
    app.command(sweep)
    app.command(calibrate)


def sweep(
    scene: SceneName,
    /,
    *,
    vary: Annotated[
        list[str],
        Parameter(
            negative="", help="Parameter and values: path.to.key=a,b,c or path.to.key=low:high[:log|:int]. Repeatable."
        ),
    ],
    out: Annotated[Path, Parameter(help="Folder for all runs and the table of results.")],
    sample: Annotated[
        Literal["grid", "random", "latin"],
        Parameter(help="All combinations of the values, random samples, or a Latin hypercube."),
    ] = "grid",
    count: Annotated[int | None, Parameter(help="Number of runs for random and latin samples.")] = None,
    seed: Annotated[int, Parameter(help="Seed for random and latin samples.")] = 0,
    measure: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="Column of the table: a measurement of the scene, or a diagnostic such as volume or "
            "speed_max:max (default: all measurements of the scene).",
        ),
    ] = None,
    function: Annotated[
        list[str] | None,
        Parameter(negative="", help="FILE.py:NAME, a function of a run that returns a number or a dict of numbers."),
    ] = None,
    changes: Changes = None,
    preset: Preset = None,
    processes: AtOnce = None,
    cluster: Cluster = None,
    pictures: Annotated[PicturesOf, PICTURES] = "film",
    overwrite: Annotated[bool, Parameter(negative="", help="Replace an existing sweep in the folder.")] = False,
) -> int:
    """Run a scene for many values of its parameters and collect parameters and measurements in one table.

    The same command again, or 'spume resume DIR', continues the runs that are not complete and makes the table.
    """
    from spume.sweeps.sweep import sweep as make_sweep
    from spume.sweeps.table import check_function_of_file

    for text in function or ():
        check_function_of_file(text)
    made = make_sweep(
        scene, vary, out, sample=sample, count=count, seed=seed, measure=[*(measure or ()), *(function or ())],
        preset=preset,
        changes=changes or (), processes=processes, cluster=cluster, pictures=pictures, overwrite=overwrite,
    )  # fmt: skip
    return report_sweep(made)


def report_sweep(made: "Sweep") -> int:
    """Print what a sweep has made and return the exit code."""
    complete = sum(status == "complete" for status in made.table["status"])
    tell(f"{complete} of {len(made)} runs complete; {', '.join(str(file) for file in made.files)}", sys.stdout)
    return 0 if complete == len(made) else 3


def calibrate(
    scene: SceneName,
    /,
    *,
    target: Annotated[
        Path,
        Parameter(
            help="CSV file of the measurement, with the columns time [s] and measurements of the scene; or measure, "
            "value and optionally error; or a rheometer's curve (flow, frequency sweep, relaxation, creep)."
        ),
    ],
    fit: Annotated[
        list[str],
        Parameter(
            negative="",
            help="Parameter and bounds: path.to.key=low:high[:log]; the scene gives the initial value. Repeatable.",
        ),
    ],
    out: Annotated[Path, Parameter(help="Folder for all runs and the result.")],
    material: Annotated[
        str | None, Parameter(help="Material of a rheometer's curve (default: the only material of the scene).")
    ] = None,
    columns: Annotated[
        str | None, Parameter(help="Contents of the columns of a rheometer's file without a header: 'rate,stress,-'.")
    ] = None,
    interval: Annotated[
        str | None, Parameter(help="Number of the interval of a rheometer's file, or 'all', if it has several.")
    ] = None,
    unit: FrequencyUnit = None,
    changes: Changes = None,
    preset: Preset = None,
    evaluations: Annotated[int, Parameter(help="Maximum number of evaluations of the scene.")] = 60,
    processes: AtOnce = None,
    cluster: Cluster = None,
    as_json: Json = False,
) -> int:
    """Find the parameters with which a simulation reproduces a measurement, with their uncertainties.

    The same command again continues where it stopped and reuses the runs already made.
    """
    import json

    from spume.sweeps.calibration import calibrate as find

    found = find(
        scene, target, fit, out, material=material, columns=columns, interval=interval, unit=unit,
        preset=preset, changes=changes or (), evaluations=evaluations, processes=processes, cluster=cluster,
    )  # fmt: skip
    if as_json:
        say(json.dumps(found.record(), indent=2, ensure_ascii=False))
    else:
        for line in found.lines():
            say(line)
    return 0 if found.converged else 3
