"""The command line: parses arguments, calls the library and prints. Results: stdout; progress and errors: stderr."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from spume.children import python_command
from spume.cores import cores, most_threads
from spume.errors import CacheError, SceneError, SpumeError
from spume.exports.commands import register as register_export
from spume.look.commands import register as register_look
from spume.look.commands import report
from spume.options import (
    INTERRUPTED,
    Changes,
    Cluster,
    Folder,
    Json,
    Overwrite,
    Preset,
    Ranks,
    RunOut,
    SceneName,
    Threads,
    Trust,
)
from spume.rheology.commands import register as register_rheology
from spume.sweeps.commands import AtOnce, PicturesOf
from spume.sweeps.commands import register as register_sweeps
from spume.terminal import finish_output, output_error, say, standard_streams, tell
from spume.version import __version__
from spume.whitewater.commands import register as register_whitewater

if TYPE_CHECKING:
    from spume.runs.crew import Crew

WRONG_ARGUMENTS = 2

app = App(name="spume", version=__version__, help="Simulate foams and the materials around them.")


@app.command
def run(
    scene: SceneName,
    /,
    *,
    out: RunOut = None,
    changes: Changes = None,
    preset: Preset = None,
    preview: Annotated[bool, Parameter(negative="", help="Run a quick preview with cells twice as large.")] = False,
    overwrite: Overwrite = False,
    render: Annotated[
        bool,
        Parameter(
            negative="",
            help="Draw pictures and a film during the run, as 'spume render' does after it. One core draws, the others "
            "simulate.",
        ),
    ] = False,
    threads: Threads = None,
    ranks: Ranks = None,
) -> int:
    """Run a scene and write its frames to a folder."""
    from spume.runs.on_ranks import on_ranks

    return on_ranks(
        ranks, threads, lambda team: _run(team, scene, out, changes, preset, preview, overwrite, render, threads)
    )


def _run(
    team: "Crew",
    scene: str,
    out: Path | None,
    changes: list[str] | None,
    preset: list[str] | None,
    preview: bool,
    overwrite: bool,
    render: bool,
    threads: int | None,
) -> int:
    from spume.runs.loop import start_run
    from spume.runs.progress import display_for
    from spume.scene.loading import load_scene

    loaded = load_scene(scene, changes or (), preset)
    name = Path(scene).stem
    if preview:
        loaded, sentence = loaded.coarser()
        name = f"{name}-preview"
        tell(f"preview: {sentence}")
    folder = out or Path("out") / name
    if render and threads is None:
        threads = _threads_beside_drawing()
    with _pictures_of(folder) if render else contextlib.nullcontext():
        outcome = start_run(
            loaded, folder, name=name, overwrite=overwrite, threads=threads, display=display_for(), crew=team
        )
        return report(outcome)


def _threads_beside_drawing() -> int:
    """Threads of a run that leave a core to the process that draws. Threads wait for each other several times a step,
    so one that shares its core delays all."""
    return max(min(cores() - 1, most_threads()), 1)


@contextlib.contextmanager
def _pictures_of(folder: Path) -> Iterator[None]:
    """Draw the frames in a second process as they arrive, and at the end those still missing."""
    from spume.extras import require

    require("imageio_ffmpeg", "making films")
    command = python_command("-m", "spume.look.pictures.following", str(folder), str(time.time()))
    one_thread = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    # closing its input tells it that the run has ended
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=one_thread):
        yield


@app.command
def resume(
    folder: Annotated[Path, Parameter(help="The folder of a run or a sweep.")],
    /,
    *,
    threads: Threads = None,
    processes: AtOnce = None,
    cluster: Cluster = None,
    pictures: Annotated[
        PicturesOf | None, Parameter(help="Pictures of a sweep (default: those with which it was begun).")
    ] = None,
    trust: Trust = False,
    ranks: Ranks = None,
) -> int:
    """Continue a run or a sweep that was stopped, killed or interrupted.

    A sweep completes its runs, then makes its table, plots and pictures as it was begun; --processes, --cluster and
    --pictures are for sweeps only, --threads is for single runs only.
    """
    if (folder / "sweep.json").exists():
        from spume.sweeps.commands import report_sweep
        from spume.sweeps.sweep import resume_sweep

        if threads is not None:
            raise SceneError(f"--threads {threads}: '{folder}' is a sweep, whose runs share the cores; use --processes")
        return report_sweep(resume_sweep(folder, processes=processes, cluster=cluster, pictures=pictures, trust=trust))
    for name, value in (("processes", processes), ("cluster", cluster), ("pictures", pictures)):
        if value is not None:
            raise SceneError(f"--{name} {value}: '{folder}' is not a sweep, which has a file sweep.json")
    from spume.runs.loop import resume_run
    from spume.runs.on_ranks import on_ranks
    from spume.runs.progress import display_for

    def work(team: "Crew") -> int:
        return report(resume_run(folder, threads=threads, display=display_for(), trust=trust, crew=team))

    return on_ranks(ranks, threads, work)


@app.command
def replay(
    folder: Folder,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder for the frames.")],
    overwrite: Overwrite = False,
    threads: Threads = None,
    trust: Trust = False,
    ranks: Ranks = None,
) -> int:
    """Repeat a run from the start, bit for bit, with the changes that were made to it live at the same steps."""
    from spume.runs.loop import replay_run
    from spume.runs.on_ranks import on_ranks
    from spume.runs.progress import display_for

    def work(team: "Crew") -> int:
        again = replay_run(
            folder, out, overwrite=overwrite, threads=threads, display=display_for(), trust=trust, crew=team
        )
        return report(again)

    return on_ranks(ranks, threads, work)


@app.command
def estimate(
    scene: SceneName,
    /,
    *,
    changes: Changes = None,
    preset: Preset = None,
    threads: Threads = None,
    ranks: Annotated[int | None, Parameter(help="Also say what each of so many ranks would have to do.")] = None,
    per_node: Annotated[int | None, Parameter(help="Ranks on each node; otherwise all are on one machine.")] = None,
    as_json: Json = False,
) -> None:
    """Estimate the points, memory, disk space and time a scene needs, without running it.

    The time is that of one process on this machine, whatever the number of ranks.
    """
    from dataclasses import asdict

    from spume.memory import amount, available_memory, free_space, refuse_without_memory
    from spume.methods import method_class
    from spume.runs.calibration import calibrated
    from spume.runs.expected_ranks import expected_ranks, rank_lines
    from spume.runs.loop import use_threads
    from spume.runs.progress import readable_time
    from spume.scene.loading import load_scene

    if per_node is not None and ranks is None:
        raise SceneError("--per-node needs --ranks: it says how many of the ranks are on each node")
    loaded = load_scene(scene, changes or (), preset)
    use_threads(threads)
    cost = method_class(loaded.method).estimate(loaded)
    shared = None if ranks is None else expected_ranks(loaded, cost, ranks, per_node)
    if shared is None:
        refuse_without_memory(cost)
    cost = calibrated(loaded, cost)
    if as_json:
        _print_json(asdict(cost) | ({} if shared is None else {"ranks": shared}))
        return
    available, _ = available_memory()
    say(f"points  {cost.points:,}")
    say(f"memory  {amount(cost.memory)} at the peak; {amount(available)} is available")
    if cost.frames:
        say(f"disk    {amount(cost.disk)} in {cost.frames:,} frames; {amount(free_space(Path()))} is free here")
    if shared is not None:
        for line in rank_lines(shared):
            say(line)
    say(f"steps   {cost.steps:,}")
    say(f"time    {readable_time(cost.seconds)}")
    for note in (*cost.notes, *loaded.notes()):
        say(note)


@app.command
def info(
    folder: Folder,
    /,
    *,
    frame: Annotated[int | None, Parameter(help="Show only this frame, with the range of every field.")] = None,
    csv_file: Annotated[
        Path | None, Parameter(name="--csv", help="Write the values of every frame to this CSV file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the contents of a run: the diagnostics of every frame and the measurements of its scene."""
    from spume.frames.info import describe_frame, describe_run, frame_lines, run_lines
    from spume.frames.reader import open_run

    opened = open_run(folder)
    if frame is not None and not 0 <= frame < len(opened):
        raise SceneError(f"--frame {frame}: '{folder}' has frames 0 to {len(opened) - 1}")
    if csv_file is not None:
        from spume.csv_files import write_csv
        from spume.frames.tables import columns

        write_csv(csv_file, columns(opened))
        say(f"{len(opened)} frames in {csv_file}")
        return
    if as_json:
        _print_json(describe_run(opened) if frame is None else describe_frame(opened, frame))
    else:
        _print_lines(run_lines(opened) if frame is None else frame_lines(opened, frame))


@app.command
def scenes(*, as_json: Json = False) -> None:
    """List the built-in scenes, by the paper they are from."""
    from itertools import groupby

    from spume.scene.builtin import PAPERS
    from spume.scene.extending import library_entries

    entries = library_entries()
    if as_json:
        _print_json(entries)
        return
    width = max((len(entry["name"]) for entry in entries), default=0)
    for paper, members in groupby(entries, key=lambda entry: str(entry["paper"])):
        say(PAPERS[paper])
        for entry in members:
            presets = f"  (presets: {', '.join(entry['presets'])})" if entry["presets"] else ""
            say(f"  {entry['name']:{width}}  {entry['title']}{presets}")


@app.command
def materials(
    *names: Annotated[str, Parameter(help="Show only these (default: all).")],
    as_json: Json = False,
) -> None:
    """List the named materials, with their laws, parameters, derived quantities and sources."""
    from spume.materials.table import LOOK, REMARKS, derived_quantities, named_materials, parameter_units
    from spume.suggestions import did_you_mean

    table = named_materials()
    for name in names:
        if name not in table:
            raise SceneError(f"there is no material '{name}': {did_you_mean(name, table)}")
    entries = [{"name": name, **table[name]} for name in dict.fromkeys(names) or table]
    if as_json:
        _print_json(
            [
                {**entry, "units": parameter_units(entry["law"]), "derived": derived_quantities(entry["name"])}
                for entry in entries
            ]
        )
        return
    for entry in entries:
        given = {key: value for key, value in entry.items() if key not in ("name", "law", LOOK, *REMARKS)}
        derived = [
            f"{key} {item['value']:.4g} {item['unit']}" for key, item in derived_quantities(entry["name"]).items()
        ]
        say(f"{entry['name']}: {entry['description']}")
        units = parameter_units(entry["law"])
        listed = (
            f"{key} {_shown(value)} {'' if isinstance(value, list) else units.get(key, '')}".rstrip()
            for key, value in given.items()
        )
        say(f"    {entry['law']}: {', '.join(listed)}")
        say(f"    derived: {', '.join(derived)}")
        say(f"    {entry['source']}")


def _shown(value: object) -> str:
    """A parameter as it is written in a scene."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_shown(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


@app.command
def new(name: Annotated[Path, Parameter(help="Name of the scene file; .toml is added.")], /) -> None:
    """Write a commented scene to start from."""
    from spume.scene.starter import write_starter

    file = write_starter(name)
    say(f"wrote {file}: edit it, then 'spume run {file} --preset draft'")


@app.command
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell to write the script for.")], /
) -> None:
    """Print the script for tab completion in a shell: eval "$(spume completion bash)"."""
    say(app.generate_completion(prog_name="spume", shell=shell))


@app.command
def schema(method: Annotated[str | None, Parameter(help="Name of a method (default: all methods).")] = None, /) -> None:
    """Print the JSON Schema of scene files, with which an editor can complete and check them."""
    from spume.scene.schema import scene_schema

    _print_json(scene_schema(method))


def _print_json(value: object) -> None:
    say(json.dumps(value, indent=2, ensure_ascii=False))


def _print_lines(lines: Sequence[str]) -> None:
    say("\n".join(lines))


register_look(app)
register_rheology(app)
register_export(app)
register_sweeps(app)
register_whitewater(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. A user's mistake is one sentence; only a bug shows a traceback."""
    with standard_streams():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    try:
        command, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False)
        code = command(*bound.args, **bound.kwargs) or 0
        finish_output()
        return code
    except UnusedCliTokensError as error:
        extra = ", ".join(f"'{token}'" for token in error.unused_tokens or ())
        words = " ".join(("spume", *(error.command_chain or ())))
        plural = "s" if len(error.unused_tokens or ()) > 1 else ""
        tell(f"error: '{words}' takes no further argument{plural} {extra}; see '{words} --help'")
        return WRONG_ARGUMENTS
    except CycloptsError as error:
        tell(f"error: {error}")
        return WRONG_ARGUMENTS
    except SpumeError as error:
        tell(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt as error:
        tell(str(error) or "stopped")
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            tell(f"error: '{error.filename}' cannot be used: {error.strerror}")
            return CacheError.exit_code
        if (full := output_error()) is None:
            raise
        tell(f"error: {full}")  # a library wrote the output
        return full.exit_code


if __name__ == "__main__":
    sys.exit(main())
