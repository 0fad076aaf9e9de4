"""Run the tests marked `numba_versions` with the oldest Numba that pyproject.toml allows and the newest there is.

    python tools/numba_versions.py              # both
    python tools/numba_versions.py oldest       # one of them

Each has an environment of its own in build/numba, which is kept. The newest Numba is looked up anew every time. The
oldest Numba has wheels for Python 3.11 only, so run this with Python 3.11.
"""

import os
import re
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "numba"
SHOW = "from importlib.metadata import version as v; print(*(f'{p} {v(p)}' for p in ('numba', 'llvmlite', 'numpy')))"
TESTED = (
    "from spume.numerics.numba_internals import NEWEST_TESTED, is_tested; print('' if is_tested() else NEWEST_TESTED)"
)


def oldest() -> str:
    """The requirement `numba==...` with the lower bound of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bound,) = (found for text in project["dependencies"] if (found := re.fullmatch(r"numba>=([\d.]+)", text)))
    return f"numba=={bound[1]}"


def run(*command: str, **environment: str) -> str:
    """Output of a command, which must succeed."""
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def test_with(name: str, requirement: str) -> int:
    """Install `requirement` in the environment `name`, run the tests, and return pytest's exit code."""
    place = FOLDER / name
    python = str(place / ("Scripts" if os.name == "nt" else "bin") / "python")
    began = time.monotonic()
    if not Path(python).exists():
        venv.create(place, with_pip=True)
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--upgrade", "--upgrade-strategy", "eager"]
    run(python, "-m", "pip", "install", *options, "-e", ".", "pytest>=8", "hypothesis", requirement)
    print(f"{name}: {run(python, '-c', SHOW)}, installed in {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    command = [python, "-m", "pytest", "-m", "numba_versions", "-p", "no:cacheprovider", "tests/numerics"]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    print(f"{name}: {'failed' if code else 'passed'} in {time.monotonic() - began:.0f} s", flush=True)
    if not code and (tested := run(python, "-c", TESTED)):
        print(f"{name}: newer than NEWEST_TESTED = {tested!r} in numerics/numba_internals.py: raise it", flush=True)
    return code


def main(names: list[str]) -> int:
    """Test with the oldest or newest Numba, or both; 0 if all tests pass."""
    requirements = {"oldest": oldest(), "newest": "numba"}
    if unknown := set(names) - set(requirements):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; give 'oldest', 'newest' or nothing for both")
    return max(test_with(name, requirements[name]) for name in names or requirements)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
