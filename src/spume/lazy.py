"""Names of a package that are imported on first use, so that `import spume` and short commands stay fast."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names are found in the modules `homes`, given as "module" or
    "module:attribute"."""

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, _, attribute = homes[name].partition(":")
        return getattr(import_module(module), attribute or name)

    return get
