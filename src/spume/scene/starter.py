"""A commented scene to start from: `spume new NAME`."""

from pathlib import Path

from spume.errors import SceneError

STARTER = """\
# A scene of spume. Run it:     spume run {name}.toml --preset draft
# Look at it:                   spume render out/{name}
# All keys, with their units:   spume schema continuum-foam   (or the scene reference of the documentation)

title = "A dollop falls on a ledge and slides off"
method = "continuum-foam"      # mpm, continuum-foam, sand-water, point-based, dry-foam
duration = 1.0                 # [s]; all units are SI
frame_rate = 30                # frames per second

[grid]
cell = 0.006                   # [m]; halve it for finer detail, at about 16 times the cost

[[body]]                       # each [[body]] is filled with points of its material
name = "dollop"
material = "shaving cream"     # spume materials lists the names
velocity = [0.0, -0.5, 0.0]    # [m/s]
shape = {{ sphere = {{ center = [0.0, 0.16, 0.0], radius = 0.035 }} }}

[[obstacle]]                   # the ground
name = "ground"
contact = "stick"              # stick, slip or separate
shape = {{ half_space = {{ point = [0.0, 0.0, 0.0], normal = [0.0, 1.0, 0.0] }} }}

[[obstacle]]
name = "ledge"
contact = "separate"           # may lift off, and slides with friction
friction = 0.3                 # coefficient of Coulomb friction
shape = {{ box = {{ center = [-0.03, 0.07, 0.0], size = [0.06, 0.02, 0.12] }} }}

# A material of your own: change what a named one has, and use it in a body.
# [material."stiff cream"]
# base = "shaving cream"
# yield_stress = 60.0          # [Pa]

[preset.draft]                 # spume run {name}.toml --preset draft
grid.cell = 0.01

[preset.fine]
grid.cell = 0.003
"""


def write_starter(target: Path) -> Path:
    """Write the scene to `target`, whose suffix may be left out. An existing file is not touched."""
    file = target if target.suffix == ".toml" else target.with_name(f"{target.name}.toml")
    try:
        with open(file, "x", encoding="utf-8") as opened:
            opened.write(STARTER.format(name=file.stem))
    except FileExistsError:
        raise SceneError(f"'{file}' exists already: give another name") from None
    except OSError as error:
        raise SceneError(f"'{file}' cannot be written: {error.strerror}") from None
    return file
