"""A sweep: many runs of a scene with different parameters, and one table of their results."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spume.consent import accepted
from spume.errors import CacheError, MissingExtra, SceneError
from spume.extras import require
from spume.frames.reader import Run, open_run
from spume.runs.storage import folder_inside
from spume.scene.common import Scene
from spume.scene.loading import SceneLike, load_laws_of, load_scene
from spume.scene.overrides import Changes, Presets
from spume.sweeps.execution import execute, suitable_processes
from spume.sweeps.jobs import Job, JobResult, state_of
from spume.sweeps.plan import FILE, STOP, PicturesOf, Plan, PlannedRun, read_plan, same_runs
from spume.sweeps.samples import Sampling, draw_samples, variations
from spume.sweeps.table import Measure, Table, is_function_of_file, load_function, make_table, whole_path, write_table
from spume.terminal import tell

if TYPE_CHECKING:
    import pandas

Show = Literal["auto", "none"]


class Sweep:
    """The runs of a sweep and the table of their parameters and measurements."""

    def __init__(self, folder: Path, plan: Plan, table: Table, files: Sequence[Path]) -> None:
        self.folder = folder
        self.plan = plan
        self.table = table
        """Columns by name: run, the varied keys, status, frames, the measurements, seconds."""
        self.files = list(files)
        """Tables, plots and pictures that were made."""

    @property
    def complete(self) -> bool:
        """Whether all runs reached their ends."""
        return all(status == "complete" for status in self.table["status"])

    def __len__(self) -> int:
        return len(self.plan.runs)

    def __getitem__(self, number: int) -> Run:
        """The run with this number."""
        return open_run(self.folder / self.plan.runs[number].folder)

    def to_pandas(self) -> "pandas.DataFrame":
        """The table as a DataFrame. Needs pandas."""
        require("pandas", "a table of the runs")
        import pandas

        return pandas.DataFrame(self.table).set_index("run")

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return f"Sweep('{self.folder}', {len(self)} runs over {', '.join(self.plan.keys)}, {state})"


def sweep(
    scene: SceneLike,
    vary: Mapping[str, Any] | Sequence[str],
    out: str | Path,
    *,
    sample: Sampling = "grid",
    count: int | None = None,
    seed: int = 0,
    measure: Sequence[Measure] | Measure = (),
    preset: Presets = None,
    changes: Changes = (),
    processes: int | None = None,
    cluster: str | None = None,
    pictures: PicturesOf = "none",
    overwrite: bool = False,
    progress: Show = "auto",
) -> Sweep:
    """Run a scene with many values of its parameters, each run in a folder of its own, and return all of them.

    - vary: values by key, {"grid.cell": [0.004, 0.002], "material.foam.yield_stress": "10:40:log"}, or texts as on the
      command line. A range needs sample="random" or "latin" and a `count` of runs.
    - measure: names of measurements of the scene, diagnostics such as "volume:max", functions of a run, or the name of
      such a function, "FILE.py:NAME", which `resume_sweep` can load again; all measurements of the scene if absent.
    - processes: runs at once; as many as cores and memory allow unless given. Each uses its share of the cores.
    - cluster: address of a Dask scheduler whose workers make the runs; they must see `out` under the same path.
    - pictures: "sheet" draws the last frames of all runs, "film" also shows them side by side.

    A second call with the same folder and runs continues the runs that are not complete. A run that fails is listed in
    the table with the reason.
    """
    loaded = load_scene(scene, changes, preset)
    name = Path(scene).stem if isinstance(scene, str | Path) else "scene"
    samples = draw_samples(variations(vary), sample, count, seed)
    measures = [measure] if isinstance(measure, str) or callable(measure) else list(measure)
    runs = [PlannedRun(k, values, _varied(loaded, values)) for k, values in enumerate(samples)]
    texts = [each for each in measures if isinstance(each, str)]
    of_files = [each for each in texts if is_function_of_file(each)]
    functions = [load_function(each) for each in of_files]  # an error in them is found before anything runs
    functions += [each for each in measures if not isinstance(each, str)]
    named = [each for each in texts if not is_function_of_file(each)]
    if not measures:
        named = [table.name for table in getattr(loaded, "measure", ())]
    plan = Plan(name, runs, named, [whole_path(each) for each in of_files], pictures)
    folder = Path(out)
    _prepare(folder, plan, overwrite)
    plan.write(folder)
    return _go_on(folder, plan, [*named, *functions], processes, cluster, progress)


def resume_sweep(
    folder: str | Path,
    *,
    measure: Sequence[Measure] = (),
    processes: int | None = None,
    cluster: str | None = None,
    pictures: PicturesOf | None = None,
    progress: Show = "auto",
    trust: bool = False,
) -> Sweep:
    """Continue the runs of a sweep that are not complete, and make its table, plots and pictures.

    It measures and draws what the sweep was begun with; `measure` adds to that, and `pictures` replaces it. Functions
    that were not given as "FILE.py:NAME" have to be given again. See `sweep` for `processes` and `cluster`.

    - trust: whether to execute the files of functions and laws that the sweep names, even if they are not files you
      have run before.
    """
    place = Path(folder)
    plan = read_plan(place)
    plan = replace(plan, pictures=plan.pictures if pictures is None else pictures)
    added = [load_function(each) if isinstance(each, str) and is_function_of_file(each) else each for each in measure]
    functions = [load_function(each, trust) for each in plan.functions]
    for planned in plan.runs:
        load_laws_of(planned.scene, trust)
    return _go_on(place, plan, [*plan.measures, *functions, *added], processes, cluster, progress)


def _varied(scene: Scene, values: dict[str, Any]) -> dict[str, Any]:
    """Resolved tables of the scene with the values of a run; errors name the values."""
    try:
        return scene.changed(values).resolved()
    except SceneError as error:
        listed = ", ".join(f"{key}={value}" for key, value in values.items())
        raise SceneError(f"{listed}: {error}") from None


def _prepare(folder: Path, plan: Plan, overwrite: bool) -> None:
    if overwrite and (folder / FILE).exists():
        present = read_plan(folder)
        _refuse_links(folder, present)
        for planned in present.runs:
            shutil.rmtree(folder / planned.folder, ignore_errors=True)
    elif (folder / FILE).exists() and not same_runs(read_plan(folder), plan):
        raise CacheError(
            f"'{folder}' holds a sweep with other runs: choose another folder, or replace it with --overwrite"
        )
    elif not (folder / FILE).exists() and folder.is_dir() and any(folder.iterdir()):
        raise CacheError(f"'{folder}' holds other files: choose an empty folder for the sweep")


def _refuse_links(folder: Path, plan: Plan) -> None:
    for planned in plan.runs:
        folder_inside(folder, *Path(planned.folder).parts)


def _go_on(
    folder: Path,
    plan: Plan,
    measures: list[Measure],
    processes: int | None,
    cluster: str | None,
    progress: Show,
) -> Sweep:
    _refuse_links(folder, plan)

    def note(text: str) -> None:
        if progress == "auto":
            tell(text)

    left = [planned for planned in plan.runs if state_of(folder / planned.folder)[0] != "complete"]
    failures: dict[str, str] = {}
    seconds: dict[str, float] = {}
    if left:
        jobs, frames, at_once = _jobs(folder.resolve(), plan, left, processes, cluster)
        where = f"on {cluster}" if cluster else f"{at_once} at once"
        note(f"{len(left)} of {len(plan.runs)} runs to make, {where}")
        places = {job.folder: planned.folder for job, planned in zip(jobs, left)}
        done = len(plan.runs) - len(left)

        def on_done(job: Job, result: JobResult) -> None:
            nonlocal done
            done += result.status != "interrupted"
            seconds[places[job.folder]] = round(result.seconds, 3)
            if result.status == "failed":
                failures[places[job.folder]] = result.sentence
                note(f"{places[job.folder]} failed: {result.sentence}")
            else:
                note(f"{places[job.folder]} {result.status}, {done} of {len(plan.runs)} runs")

        try:
            execute(jobs, frames, note, at_once, cluster, on_done)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped; to continue: spume resume {folder}") from None
    table = make_table(folder, plan, measures, failures, seconds)
    for number, status in zip(table["run"], table["status"]):
        if status.startswith("not measured"):
            note(f"{plan.runs[number].folder} {status}")
    files = write_table(folder, table)
    made = Sweep(folder, plan, table, files)
    try:
        made.files += _pictures(made, plan.pictures, cluster)
    except MissingExtra as error:
        note(f"no plots and pictures: {error}")
    return made


def _jobs(
    folder: Path, plan: Plan, left: Sequence[PlannedRun], processes: int | None, cluster: str | None
) -> tuple[list[Job], int, int]:
    """The jobs, the number of their frames, and how many run at once on this machine."""
    scenes = [Scene(**planned.scene) for planned in left]
    at_once, threads = (1, None) if cluster else suitable_processes(scenes, processes)
    stop, trusted = str(folder / STOP), accepted()
    jobs = [
        Job(str(folder / each.folder), f"{plan.name} {each.number}", each.scene, stop, threads, trusted)
        for each in left
    ]
    return jobs, sum(scene.frame_count + 1 for scene in scenes), at_once


def _pictures(made: Sweep, pictures: PicturesOf, cluster: str | None) -> list[Path]:
    from spume.sweeps.pictures import contact_sheet_of, film_of, plot_table

    files = plot_table(made.folder, made.plan.keys, made.table)
    if pictures != "none":
        files += contact_sheet_of(made.folder, made.plan)
    if pictures == "film":
        files += film_of(made.folder, made.plan, cluster)
    return files
