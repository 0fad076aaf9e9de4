"""The commands as functions: run, resume, render, film, surface, export."""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from spume.errors import SceneError
from spume.exports.contents import FieldNames
from spume.exports.exporting import export_run
from spume.exports.formats import Layout, What
from spume.frames.reader import Frame, Run, open_run
from spume.frames.selection import chosen_frames
from spume.look.pictures.drawing import PictureOptions
from spume.look.surface.files import Parts, SkinReport, surface_frames
from spume.look.surface.skin import Quality
from spume.methods import Progress
from spume.runs.folder import RunFolder
from spume.runs.loop import Outcome, resume_run, start_run
from spume.runs.manifest import Manifest
from spume.runs.progress import Display, Silent, display_for
from spume.scene.loading import SceneLike, load_scene
from spume.scene.overrides import Changes, Presets

OnFrame = Callable[[Frame], object]
OnProgress = Callable[[Progress], object]
RunLike = Run | str | Path
FrameNumbers = slice | int | None
"""A slice such as slice(None, None, 10), or one number; None for all frames."""
Show = Literal["auto", "none"]
"""Whether progress is printed on the error stream."""


def run(
    scene: SceneLike,
    out: str | Path | None = None,
    *,
    preset: Presets = None,
    changes: Changes = (),
    on_frame: OnFrame | None = None,
    on_progress: OnProgress | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    progress: Show = "auto",
) -> Run:
    """Run a scene, write its frames to the folder `out` and return the run.

    - scene: a built-in name, a TOML file, a dict of tables or a Scene; `preset` and `changes` as for `load_scene`.
    - out: folder for the frames; default: out/NAME.
    - on_frame: called with each frame as soon as it is on disk. An exception it raises ends the run and is passed on.
    - on_progress: called every few steps with the time, points and steps so far.
    - threads: number of threads; default: all cores.
    - overwrite: whether to replace an existing run in the folder.
    - progress: "none" prints nothing.

    Ctrl-C stops after the current step; `complete` of the returned run is then False, and `resume` continues it.
    """
    loaded = load_scene(scene, changes, preset)
    name = Path(scene).stem if isinstance(scene, str | Path) else None
    folder = Path(out) if out is not None else Path("out") / (name or "scene")
    display = Callbacks(_display(progress), folder, on_frame, on_progress)
    outcome = start_run(loaded, folder, name=name, overwrite=overwrite, threads=threads, display=display)
    return _opened(outcome)


def resume(
    folder: str | Path,
    *,
    on_frame: OnFrame | None = None,
    on_progress: OnProgress | None = None,
    threads: int | None = None,
    progress: Show = "auto",
    trust: bool = False,
) -> Run:
    """Continue the run in `folder`, which may have been stopped or killed, and return it. See `run`.

    - trust: whether to execute the files of laws that the run names, even if they are not files you have run before.
    """
    display = Callbacks(_display(progress), Path(folder), on_frame, on_progress)
    return _opened(resume_run(folder, threads=threads, display=display, trust=trust))


def _opened(outcome: Outcome) -> Run:
    if outcome.frames == 0:
        raise KeyboardInterrupt("stopped before the first frame: nothing is on disk yet")
    return open_run(outcome.folder)


def _display(progress: Show) -> Display:
    return display_for() if progress == "auto" else Silent()


class Callbacks:
    """A display that forwards to another one and calls the user's functions."""

    def __init__(
        self, inner: Display, folder: Path, on_frame: OnFrame | None = None, on_progress: OnProgress | None = None
    ) -> None:
        self._inner, self._folder = inner, RunFolder(folder)
        self._on_frame, self._on_progress = on_frame, on_progress

    def begin(self, first: int, last: int, start: float, duration: float) -> None:
        """Frame 0 has been written when the steps begin."""
        self._inner.begin(first, last, start, duration)
        if first == 0 and start == 0.0:
            self._tell(0)

    def compiling(self, kernel: str) -> None:
        """A kernel is about to be compiled."""
        self._inner.compiling(kernel)

    def step(self, progress: Progress) -> None:
        """A step is done."""
        self._inner.step(progress)
        if self._on_progress is not None:
            self._on_progress(progress)

    def frame(self, number: int) -> None:
        """A frame is on disk."""
        self._inner.frame(number)
        self._tell(number)

    def _tell(self, number: int) -> None:
        if self._on_frame is not None:
            manifest = Manifest.read_header(self._folder.manifest)
            self._on_frame(Frame(self._folder.frame(number), manifest.declarations()))

    def note(self, text: str) -> None:
        """A sentence for the user."""
        self._inner.note(text)

    def end(self) -> None:
        """The run is over."""
        self._inner.end()


@dataclass(frozen=True)
class Pictures:
    """The files that `render` made."""

    stills: list[Path]
    sheet: Path | None
    """contact sheet; None for a single picture"""
    film: Path | None

    def _repr_html_(self) -> str:
        """A notebook plays the film, or shows the first picture."""
        if self.film is not None:
            return Film(self.film)._repr_html_()
        data = base64.b64encode(self.stills[0].read_bytes()).decode() if self.stills else ""
        return f"<img style='max-width:100%' src='data:image/png;base64,{data}'>" if data else escape(repr(self))


@dataclass(frozen=True)
class Film:
    """A film that plays in notebooks, from within the page."""

    file: Path

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.file.read_bytes()).decode()
        return f"<video controls loop style='max-width:100%' src='data:video/mp4;base64,{data}'></video>"


def film(run: RunLike, *more: RunLike, **options: Any) -> Film:
    """Draw frames of a run, or of several side by side, and return their film; options as for `render`."""
    made = render(run, *more, **options)
    if made.film is None:
        raise SceneError(f"{len(made.stills)} pictures make no film: it needs two frames, and stills_only left out")
    return Film(made.film)


def render(
    run: RunLike,
    *more: RunLike,
    frames: FrameNumbers = None,
    labels: Iterable[str] | None = None,
    out: str | Path | None = None,
    stills_only: bool = False,
    processes: int | None = None,
    cluster: str | None = None,
    again: bool = False,
    **options: Any,
) -> Pictures:
    """Draw frames of a run, or of several runs side by side, and make a contact sheet and a film of them.

    - frames: a slice such as slice(None, None, 10), or one number; default: all frames.
    - labels: titles of runs side by side; default: the names of their folders.
    - out: folder for the pictures; default: beside the frames.
    - cluster: address of a Dask scheduler whose workers draw the pictures.
    - options: fields of `spume.PictureOptions`: width, height, show, quality, color, limits, engine, camera, samples.
    """
    from spume.look.pictures.stills import pictures_of

    runs = [_run(each) for each in (run, *more)]
    longest = max(runs, key=len)
    numbers = chosen_frames(frames, len(longest))
    made = pictures_of(
        runs, None if labels is None else list(labels), numbers, PictureOptions(**options),
        None if out is None else Path(out), stills_only, processes, again, cluster,
    )  # fmt: skip
    return Pictures(*made)


def surface(
    run: RunLike,
    *,
    frames: FrameNumbers = None,
    quality: Quality = "fine",
    parts: Parts = "all",
    out: str | Path | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    again: bool = False,
) -> list[SkinReport]:
    """Make a closed mesh around the points of each frame, and report on each: its volume, and that of its points.

    - quality: "preview" is coarser and about three times faster.
    - parts: "all" for one mesh, "material" for one of each material.
    - out: folder for the meshes; default: beside the frames, where `render` and `export` find them.
    """
    opened = _run(run)
    return surface_frames(
        opened, chosen_frames(frames, len(opened)), quality=quality, parts=parts,
        out=None if out is None else Path(out), processes=processes, cluster=cluster, again=again,
    )  # fmt: skip


def export(
    run: RunLike,
    to: str,
    *,
    what: What | None = None,
    fields: FieldNames = None,
    layout: Layout | None = None,
    frames: FrameNumbers = None,
    out: str | Path | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    again: bool = False,
) -> list[Path]:
    """Write frames of a run for other programs, and return the files.

    - to: the format: "usd", "vtkhdf", "ply", "obj", "alembic", "gltf", "blend", "blender-cache", "vdb" or
      "csv".
    - what: "points" or "surface"; default: what suits the format.
    - fields: names of the fields to write; default: all that the format supports.
    - layout: of USD: "single", "payload", "clips", or "auto".
    - out: the file, or the folder for formats with several files; default: in the folder "export" of the run.

    Files that are up to date are not written again, unless `again` is true.
    """
    opened = _run(run)
    made = export_run(
        opened, chosen_frames(frames, len(opened)), to, what=what, fields=fields, layout=layout,
        out=None if out is None else Path(out), processes=processes, cluster=cluster, again=again,
    )  # fmt: skip
    return made.files


def _run(run: RunLike) -> Run:
    return run if isinstance(run, Run) else open_run(run)
