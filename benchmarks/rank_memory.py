"""Peak memory of each rank of a run with two frames and checkpoints, to be started by a launcher of MPI or alone.

    NUMBA_NUM_THREADS=1 mpiexec -n 2 python -m benchmarks.rank_memory [POINTS_PER_AXIS [PATTERN]]

A block of foam, run by the command line for five steps, without resampling and pieces. Prints the largest resident
memory (VmHWM) of each process. A run with ten points per axis shows what Python, its libraries and the kernels need.
PATTERN is that of the filling, "lattice" or "poisson-disk".
"""

import atexit
import sys
import tempfile
from pathlib import Path

from spume.cli import main as spume

SCENE = """
title = "a block of flowing foam"
method = "continuum-foam"
duration = 5e-5
frame_rate = 2e4
gravity = [0.0, 0.0, 0.0]
[grid]
cell = 0.003
[transfer]
scheme = "flip"
[time]
dt = 1e-5
[resampling]
enabled = false
[tearing]
pieces = false
[[body]]
material = "shaving cream"
shape = {{ box = {{ center = [0.0, 0.0, 0.0], size = [{side}, {side}, {side}] }} }}
fill = {{ pattern = "{pattern}" }}
"""


def report(per_axis: int) -> None:
    """Print the peak memory of this process."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(f"{per_axis**3:,} points: {int(status['VmHWM'].split()[0]) / 1024:.0f} MB", flush=True)


def main(per_axis: int, pattern: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "block.toml"
        file.write_text(SCENE.format(side=per_axis * 0.0015, pattern=pattern))
        atexit.register(report, per_axis)
        return spume(["run", str(file), "--out", str(Path(folder) / "run")])


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(main(int(arguments[0]) if arguments else 120, arguments[1] if len(arguments) > 1 else "lattice"))
