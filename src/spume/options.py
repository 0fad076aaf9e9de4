"""Arguments that several commands take, with their help."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
SceneName = Annotated[str, Parameter(help="A built-in scene ('spume scenes' lists them) or a TOML file.")]
Folder = Annotated[Path, Parameter(help="The folder of a run.")]
RunOut = Annotated[Path | None, Parameter(help="Folder for the frames (default: out/NAME).")]
Overwrite = Annotated[bool, Parameter(negative="", help="Replace an existing run in the folder.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]
Changes = Annotated[
    list[str] | None,
    Parameter(name="--set", negative="", help="Change a value of the scene: path.to.key=value. Repeatable."),
]
Looks = Annotated[
    list[str] | None,
    Parameter(
        name="--set", negative="",
        help="Show the run with another camera, backdrop or look, such as camera.fov=25. Repeatable.",
    ),
]  # fmt: skip
Preset = Annotated[
    list[str] | None,
    Parameter(negative="", help="One of the scene's presets. Repeatable: they apply in this order."),
]
Trust = Annotated[
    bool,
    Parameter(
        negative="",
        help="Execute the Python files that it names (laws, functions), even if you have not run them before.",
    ),
]
Threads = Annotated[int | None, Parameter(help="Number of threads (default: all cores).")]
Ranks = Annotated[
    int | None,
    Parameter(help="Share the points among so many processes, started by mpiexec; --threads is then that of each."),
]
Frames = Annotated[str | None, Parameter(help="Use only these frames: a number or a slice start:stop:step.")]
Processes = Annotated[int | None, Parameter(help="Number of processes (default: chosen for this machine).")]
Cluster = Annotated[
    str | None,
    Parameter(help="Use the workers of the Dask scheduler at this address, such as tcp://host:8786; they share DIR."),
]
Skin = Annotated[
    Literal["embedded", "reconstructed"],
    Parameter(
        help="Show bodies with surface = 'embedded' by their mesh, or by a skin around their points that follows tears."
    ),
]
FrequencyUnit = Annotated[str | None, Parameter(help="Unit of a column 'frequency' that names none: Hz or rad/s.")]
Again = Annotated[bool, Parameter(negative="", help="Redo everything, not only what is missing.")]
Host = Annotated[str, Parameter(help="Address to serve on; the default allows this machine only.")]
Port = Annotated[int, Parameter(help="Port to serve on.")]
