"""Builds the extension for Blender: dist/spume_blender-VERSION.zip, with the manifest at its root.

Where Blender's own tool is there (`.venv-blender`), it checks the manifest and the file.
"""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

HOUSE = Path(__file__).parents[1]
SOURCE = HOUSE / "blender" / "spume_blender"
MOMENT = (2026, 1, 1, 0, 0, 0)
"""Time of all files in the archive, so that the same source gives the same bytes."""


def build(folder: Path) -> Path:
    """Write the zip file into `folder`."""
    about = tomllib.loads((SOURCE / "blender_manifest.toml").read_text())
    file = folder / f"{about['id']}-{about['version']}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in [*sorted(SOURCE.glob("*.py")), SOURCE / "blender_manifest.toml", HOUSE / "LICENSE"]:
            entry = zipfile.ZipInfo(source.name, MOMENT)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, source.read_bytes())
    return file


def validate(file: Path, environment: Path) -> None:
    """Let Blender's tool for extensions check a file, if `environment` has it."""
    found = list(environment.glob("lib/python3*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    if not found:
        print("Blender's tool for extensions is not there (make blender): the file was not checked")
        return
    ended = subprocess.run([sys.executable, str(found[0]), "validate", str(file)], check=False)
    if ended.returncode:
        raise SystemExit(f"Blender's tool for extensions refuses {file}")


if __name__ == "__main__":
    made = build(HOUSE / "dist")
    validate(made, HOUSE / ".venv-blender")
    print(f"{made.relative_to(HOUSE)}: in Blender, Edit > Preferences > Get Extensions > Install from Disk")
