"""A disk that fills up during an export: one sentence, no crash, and the file that was there before stays."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FORMATS = {"usd": ("pxr", "points.usdc"), "vtkhdf": ("h5py", "points.vtkhdf"), "alembic": ("alembic3d", "points.abc")}

# One process for all limits: one that crashes does not get to its last line. Files beyond the limit of the system make
# the same errors as a full disk.
SCRIPT = """\
import json, resource, signal, sys
from pathlib import Path
from spume.cli import main

folder, kind, file = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
command = ["export", folder, "--to", kind, "--out", file, "--again"]
codes = [main(command)]
whole = Path(file).read_bytes()
for limit in (100, len(whole) // 2, len(whole) - 1):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    codes.append(main(command))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert Path(file).read_bytes() == whole, limit
codes.append(main(command))
print(json.dumps(codes))
"""


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow_suite] if kind in ("alembic", "usd") else []) for kind in FORMATS],
)
def test_an_export_that_does_not_fit(solid_run: Path, tmp_path: Path, kind: str) -> None:
    package, name = FORMATS[kind]
    pytest.importorskip(package, reason=f"needs the package {package}")
    file = tmp_path / name
    command = [sys.executable, "-c", SCRIPT, str(solid_run), kind, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == [0, 4, 4, 4, 0]
    errors = [line for line in ended.stderr.splitlines() if not line.startswith("export: ")]
    assert len(errors) == 3, ended.stderr
    assert all(line.startswith(f"error: '{file}' cannot be written: ") for line in errors)
    payload = f"{file.stem}_payload.usdc"
    assert {path.name for path in tmp_path.iterdir()} <= {name, f".{name}.json", payload}
