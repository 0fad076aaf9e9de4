"""The commands that show runs: surface, render, view, plot. They need only the folder of a run."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from spume.errors import SceneError, SpumeError
from spume.options import (
    INTERRUPTED,
    Again,
    Changes,
    Cluster,
    Folder,
    Frames,
    Host,
    Looks,
    Overwrite,
    Port,
    Preset,
    Processes,
    Ranks,
    RunOut,
    SceneName,
    Skin,
    Threads,
)
from spume.terminal import say, tell

if TYPE_CHECKING:
    from spume.runs.crew import Crew
    from spume.runs.loop import Outcome


def register(app: App) -> None:
    """Add these commands to the command line."""
    app.command(surface)
    app.command(render)
    app.command(view)
    app.command(live)
    app.command(plot)


def surface(
    folder: Folder,
    /,
    *,
    frames: Frames = None,
    quality: Annotated[
        Literal["fine", "preview"], Parameter(help="'preview' is coarser and about three times faster.")
    ] = "fine",
    parts: Annotated[
        Literal["all", "material"], Parameter(help="One mesh for all points, or one for each material.")
    ] = "all",
    skin: Skin = "embedded",
    out: Annotated[
        Path | None, Parameter(help="Folder for the meshes (default: DIR/surface, where 'spume render' finds them).")
    ] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    again: Again = False,
) -> int:
    """Make a closed mesh around the points of every frame and compare its volume with theirs."""
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.surface.files import surface_frames

    run = open_run(folder, skin)
    numbers = select_frames(frames, len(run))
    reports = surface_frames(
        run, numbers, quality=quality, parts=parts, out=out, processes=processes, cluster=cluster, again=again
    )
    say("frame  part  vertices  skin [m³]  points [m³]  difference")
    for report in reports:
        state = "" if report.watertight else "  not watertight"
        volumes = f"{report.volume:9.4g}  {report.points_volume:11.4g}  {report.excess:+10.2%}"
        say(f"{report.frame:5d}  {report.part:4}  {report.vertices:8d}  {volumes}{state}")
    say(f"{len(numbers)} frames in {out or run.path / 'surface'}")
    return 0 if all(report.watertight for report in reports) else 1


def render(
    folder: Folder,
    /,
    *,
    frames: Frames = None,
    compare: Annotated[
        list[Path] | None,
        Parameter(consume_multiple=True, negative="", help="Other runs to show beside the first."),
    ] = None,
    labels: Annotated[
        str | None, Parameter(help="Names of the compared runs, separated by commas (default: their folders).")
    ] = None,
    color: Annotated[
        str | None, Parameter(help="Colour by a field such as speed, J, weak or v.x, with a colour bar.")
    ] = None,
    limits: Annotated[
        str | None, Parameter(help="Limits of the colour bar, low:high (default: the range over the run).")
    ] = None,
    show: Annotated[Literal["surface", "points"], Parameter(help="Draw the surface or the points.")] = "surface",
    quality: Annotated[Literal["fine", "preview"], Parameter(help="'preview' is coarser and faster.")] = "fine",
    skin: Skin = "embedded",
    beauty: Annotated[bool, Parameter(negative="", help="Use path tracing: slow, for publication.")] = False,
    renderer: Annotated[
        Literal["auto", "cycles", "mitsuba"],
        Parameter(help="Path tracer for --beauty; 'auto' is Blender's Cycles if installed, else Mitsuba."),
    ] = "auto",
    samples: Annotated[int, Parameter(help="Maximum number of light paths per pixel with --beauty.")] = 48,
    shutter: Annotated[
        float,
        Parameter(help="Part of the time between frames in which the shutter of Cycles is open; 0: no motion blur."),
    ] = 0.5,
    camera: Annotated[
        Literal["scene", "auto"], Parameter(help="The scene's camera, or one that shows the whole run.")
    ] = "scene",
    size: Annotated[str, Parameter(help="Width and height of a picture in pixels.")] = "1280x720",
    looks: Looks = None,
    stills_only: Annotated[bool, Parameter(negative="", help="Make neither a film nor a contact sheet.")] = False,
    out: Annotated[Path | None, Parameter(help="Folder for the pictures (default: DIR/pictures).")] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    again: Again = False,
) -> int:
    """Draw the frames of a run and make a film and a contact sheet. After Ctrl-C the film shows the frames drawn so
    far."""
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.pictures.drawing import PictureOptions
    from spume.look.pictures.stills import Interrupted, pictures_of

    width, height = _numbers(size, "x", "--size", "1280x720", int)
    options = PictureOptions(
        width, height, show, quality, color,
        _numbers(limits, ":", "--limits", "0:2.5", float) if limits else None,
        "beauty" if beauty else "fast", camera, samples, renderer, shutter, skin,
    )  # fmt: skip
    runs = [open_run(path, looks=looks or ()) for path in (folder, *(compare or ()))]
    numbers = select_frames(frames, max(len(each) for each in runs))
    names = None if labels is None else [name.strip() for name in labels.split(",")]
    try:
        made = pictures_of(runs, names, numbers, options, out, stills_only, processes, again, cluster)
    except Interrupted as stopped:
        made = stopped.made
        ended = f"interrupted after {len(made[0])} of {len(numbers)} pictures; the same command draws the rest"
        tell(ended)
    stills, sheet, movie = made
    place = stills[0].parent if stills else out or runs[0].path
    words = [f"{len(stills)} pictures in {place}", *(str(file) for file in (sheet, movie) if file)]
    say(", ".join(words))
    return 0 if len(stills) == len(numbers) else INTERRUPTED


def _numbers(text: str, separator: str, option: str, example: str, kind: Callable[[str], Any]) -> tuple[Any, Any]:
    """Two numbers with a separator between them."""
    try:
        first, second = (kind(part) for part in text.split(separator))
    except ValueError:
        raise SceneError(f"{option} {text}: give two numbers such as {example}") from None
    return first, second


def view(
    folders: Annotated[list[Path], Parameter(help="The folders of one or more runs.")],
    /,
    *,
    export: Annotated[
        Path | None, Parameter(help="Write a page that needs no server to this HTML file and exit.")
    ] = None,
    frames: Frames = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    show: Annotated[
        Literal["both", "points", "surface"], Parameter(help="What --export includes; surfaces make the file larger.")
    ] = "both",
    skin: Skin = "embedded",
    looks: Looks = None,
) -> None:
    """Show runs in the browser: play, scrub, colour by a field. A run in progress is followed."""
    if export is not None:
        from spume.look.viewer.page import write_page
        from spume.terminal import readable_size

        size = write_page(
            folders, export, frames, ("surface", "points") if show == "both" else (show,), skin, looks or ()
        )
        say(f"{export}, {readable_size(size)}")
        return
    if frames is not None:
        raise SpumeError("--frames was given without --export: the viewer shows all frames, only pages select some")
    from spume.look.viewer.server import Viewer

    viewer = Viewer(folders, host, port, skin, looks or ())
    tell(f"{viewer.address} (Ctrl-C to stop)", sys.stdout)
    viewer.run_forever()


def live(
    scene: SceneName,
    /,
    *,
    out: RunOut = None,
    changes: Changes = None,
    preset: Preset = None,
    overwrite: Overwrite = False,
    paused: Annotated[bool, Parameter(negative="", help="Wait before the first step.")] = False,
    threads: Threads = None,
    ranks: Ranks = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
) -> int:
    """Run a scene and show it in the browser at once: pause, step, restart it, adjust gravity, obstacles and materials.
    'spume replay' repeats the run with its adjustments."""
    from spume.look.viewer.live_session import run_live
    from spume.runs.on_ranks import on_ranks
    from spume.runs.progress import display_for
    from spume.scene.loading import load_scene

    def work(team: "Crew") -> int:
        loaded = load_scene(scene, changes or (), preset)
        name = Path(scene).stem
        outcome = run_live(
            loaded, out or Path("out") / name, name=name, host=host, port=port, paused=paused, overwrite=overwrite,
            threads=threads, display=display_for(), crew=team,
        )  # fmt: skip
        return report(outcome)

    return on_ranks(ranks, threads, work)


def report(outcome: "Outcome") -> int:
    """Tell how a run ended and return the exit code, 0 only for a complete run. It does not depend on whether anybody
    hears it: the result is on disk."""
    if outcome.status == "interrupted" and not outcome.frames:
        tell("stopped before the first frame: nothing is on disk yet", sys.stdout)
        return INTERRUPTED
    if outcome.status == "interrupted":
        tell(f"stopped at {outcome.time:.4g} s; to continue: spume resume {outcome.folder}", sys.stdout)
        return INTERRUPTED
    tell(f"{outcome.frames} frames, {outcome.time:g} s, in {outcome.folder}", sys.stdout)
    return 0


def plot(
    folder: Folder,
    /,
    *,
    out: Annotated[Path | None, Parameter(help="Output file, .png, .svg or .pdf (default: DIR/plot.png).")] = None,
    frames: Frames = None,
    everything: Annotated[
        bool, Parameter(name="--all", negative="", help="Also what does not vary, and counts of the method's own work.")
    ] = False,
    energy: Annotated[
        bool, Parameter(negative="", help="Only where the energy came from and went (DIR/energy.png).")
    ] = False,
) -> None:
    """Plot the measurements of a run, its energy, momentum and volume, what else varies, and the time per stage."""
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.plot import plot_energy, plot_run

    run = open_run(folder)
    if energy:
        file = out or run.path / "energy.png"
        say(f"{', '.join(plot_energy(run, file, select_frames(frames, len(run))))} in {file}")
        return
    file = out or run.path / "plot.png"
    panels, more = plot_run(run, file, select_frames(frames, len(run)), everything)
    say(f"{', '.join(panels)} in {file}" + (f"; --all draws {more} more" if more else ""))
