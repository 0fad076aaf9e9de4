"""Restoring a method from what a checkpoint has, which somebody else may have written."""

from typing import Any, Protocol

from numpy.typing import NDArray

MAY_LACK = frozenset({"allowed_dt", "poses", "energy_budget", "kinetic"})
"""Values of a checkpoint that are None at times, or in those of earlier versions."""
DOES_NOT_FIT = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)
"""Errors of a state that is none of the scene."""


class Restorable(Protocol):
    """See `spume.methods.Method`."""

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]: ...

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None: ...


def restore_checked(method: Restorable, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
    """Restore a state, or raise one of DOES_NOT_FIT if it is not one of the scene of `method`."""
    own, present = method.checkpoint()
    for name, array in arrays.items():
        if name in own and not _fits(array, own[name]):
            raise ValueError(f"the array '{name}' has another shape or type")
    _check_kinds(values, present, "values")
    method.restore(arrays, values)


def _fits(array: NDArray[Any], wanted: NDArray[Any]) -> bool:
    return array.dtype.kind == wanted.dtype.kind and array.ndim == wanted.ndim and array.shape[1:] == wanted.shape[1:]


def _check_kinds(found: object, wanted: object, where: str, may_lack: bool = False) -> None:
    """Raise ValueError if values of a checkpoint are of another kind than those of the initial state."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in wanted.keys() & found.keys():
            _check_kinds(found[key], wanted[key], f"{where}.{key}", key in MAY_LACK or where == "values.surfaces")
    elif wanted is not None and _kind(found) != _kind(wanted) and not (found is None and may_lack):
        raise ValueError(f"{where} is {found!r:.40}")
    elif isinstance(wanted, list | tuple) and isinstance(found, list | tuple) and wanted:
        for k, item in enumerate(found):
            _check_kinds(item, wanted[min(k, len(wanted) - 1)], f"{where}[{k}]", may_lack)


def _kind(value: object) -> str:
    if isinstance(value, bool | str):
        return type(value).__name__
    if isinstance(value, int | float):
        return "number"
    return "nothing" if value is None else "list" if isinstance(value, list | tuple) else "table"
