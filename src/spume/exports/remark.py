"""Files beside exports in formats without metadata, which record how the export was made."""

import json
from pathlib import Path
from typing import Any

from spume.whole_files import whole_file


def _file(file: Path) -> Path:
    return file.with_name(f".{file.name}.json")


def _remark(file: Path, recipe: str) -> dict[str, Any]:
    return {"recipe": recipe, "size": file.stat().st_size}


def is_current(file: Path, recipe: str) -> bool:
    """Whether `file` exists unchanged and was made by `recipe`."""
    place = _file(file)
    return file.exists() and place.exists() and bool(json.loads(place.read_text()) == _remark(file, recipe))


def leave_remark(file: Path, recipe: str) -> None:
    """Record beside `file` the recipe by which it was made."""
    with whole_file(_file(file)) as unfinished:
        unfinished.write_text(json.dumps(_remark(file, recipe)))
