"""Laws by name: those of the package and those a user adds, from Python or from a file that a scene names."""

from pathlib import Path
from types import ModuleType
from typing import Any

from spume.consent import NotTrusted
from spume.errors import SceneError
from spume.materials.cam_clay import CAM_CLAY
from spume.materials.corotated_plastic import COROTATED_PLASTIC
from spume.materials.derived_branches import with_branches
from spume.materials.drucker_prager import DRUCKER_PRAGER
from spume.materials.granular_flow import GRANULAR_FLOW
from spume.materials.hencky import HENCKY
from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY
from spume.materials.law import Law, Parameters
from spume.materials.loops import ACCESS
from spume.materials.neo_hookean import NEO_HOOKEAN
from spume.materials.viscoelastic import VISCOELASTIC
from spume.materials.von_mises import VON_MISES
from spume.materials.water import WATER
from spume.user_files import run_python_file

BUILT_IN = (
    NEO_HOOKEAN,
    HENCKY,
    HERSCHEL_BULKLEY,
    VON_MISES,
    VISCOELASTIC,
    DRUCKER_PRAGER,
    GRANULAR_FLOW,
    WATER,
    COROTATED_PLASTIC,
    CAM_CLAY,
)
LAWS: dict[str, Law] = {law.name: law for law in BUILT_IN}
"""All known laws."""

_loaded_files: dict[Path, ModuleType] = {}


def register_law(law: Law) -> Law:
    """Make `law` available to scenes under its name.

    A law of the user's replaces an earlier one of the same name, so that a notebook cell can be run again. The names of
    built-in laws are taken. Returns the law as scenes use it: one that declares no branches has one made from its
    functions, if its history allows it.
    """
    if not isinstance(law, Law):
        raise SceneError(f"register_law takes a spume.laws.Law, not {type(law).__name__}")
    if law.name in {known.name for known in BUILT_IN}:
        raise SceneError(f"the law '{law.name}' is built in: give yours another name")
    for field in law.fields:
        if field.shape not in ACCESS:
            raise SceneError(
                f"the field '{field.name}' of the law '{law.name}' has shape {field.shape}: it should be a number (), "
                "a symmetric tensor (6,) or a tensor (3, 3)"
            )
    for function in (law.update, law.stress, law.energy, law.volume_ratio):
        if not hasattr(function, "spume_sources"):
            name = getattr(function, "__name__", function)
            raise SceneError(f"'{name}' of the law '{law.name}' is not compiled: put @compiled before it")
    check_traits(law)
    LAWS[law.name] = with_branches(law)
    return LAWS[law.name]


def check_traits(law: Law) -> None:
    """Raise SceneError if the traits of `law` name something that it does not have."""
    traits, own = law.traits, f"the traits of the law '{law.name}'"
    fields = {field.name: field.shape for field in law.fields}
    for name, shape in traits.fields.items():
        if fields.get(name) != shape:
            found = f"has shape {fields[name]}" if name in fields else "is missing"
            raise SceneError(f"{own} need a field '{name}' of shape {shape}: it {found}")
    if traits.granular is not None and traits.granular.corrects_volume not in law.constants:
        known = ", ".join(law.constants)
        raise SceneError(f"{own} name the constant '{traits.granular.corrects_volume}': it should be one of {known}")
    for name in () if traits.tearing is None else traits.tearing.parameters:
        if name not in law.parameters.model_fields:
            known = ", ".join(law.parameters.model_fields)
            raise SceneError(f"{own} name the parameter '{name}': it should be one of {known}")
    if traits.fluid is not None and (traits.granular is not None or traits.tearing is not None):
        raise SceneError(f"{own} make it a fluid and a solid: drop one of them")
    viscous = law.branches[1:] if traits.viscosity is not None else ()
    if traits.viscosity is not None and law.branches and not (len(viscous) == 1 and viscous[0].return_map is not None):
        raise SceneError(f"{own} have a viscosity: the second and last branch should be its stress, with a return map")


def load_law_file(path: str | Path, trust: bool = True) -> tuple[Law, ...]:
    """Run a Python file and register the laws it defines at its top level. A file is run once in a process.

    This runs the code of the file: load laws only from files you trust. Without `trust`, a file is run only if it is
    one that you have run before.
    """
    file = Path(path).resolve()
    if file not in _loaded_files:
        try:
            _loaded_files[file] = run_python_file(file, trust)
        except NotTrusted:
            raise
        except SceneError as error:
            raise SceneError(f"laws: {error}") from error
    found = tuple(value for value in vars(_loaded_files[file]).values() if isinstance(value, Law))
    own = tuple(law for law in found if law not in BUILT_IN)
    if not own:
        raise SceneError(f"'{path}' defines no law: it should have a spume.laws.Law at its top level")
    return tuple(register_law(law) for law in own)


def law_file_is_loaded(path: str | Path) -> bool:
    """Whether the laws of a file are available."""
    return Path(path).resolve() in _loaded_files


def unavailable_law(name: str) -> Law:
    """Stands for a law whose file has not been loaded: a run that used it can be looked at, but not continued."""

    def refuse(*_: Any) -> Any:
        raise SceneError(f"the law '{name}' is not available: load its file with spume.load_laws first")

    return Law(name, Parameters, (), (), refuse, refuse, refuse, refuse, refuse, refuse)
