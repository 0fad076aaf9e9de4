"""Build the wheel and the source distribution, and check both as a user meets them: `make dist`.

The wheel is built from the source distribution, so that the latter is known to be complete. It is installed without an
index into a new environment that sees the dependencies of the present one, and run from another folder. Nothing is
downloaded.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = 1_000_000
"""Largest file of the source distribution [bytes]."""
NEEDED = (
    "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "REFERENCES.bib", "pyproject.toml",
    "benchmarks/__main__.py", "docs/conf.py", "docs/index.md", "examples/plot_slump.py", "src/spume/py.typed",
    "src/spume/materials/table.toml", "src/spume/scene/library/yue15/shaving-cream.toml", "tests/conftest.py",
    "tools/install.py", "validation/__main__.py",
)  # fmt: skip
"""Files that the source distribution must contain: everything that `make test` and `make docs` use."""
UNWANTED = (".git/", ".venv", "__pycache__", "docs/_build", "docs/gallery", "docs/reference", "out/", ".ci/")


def main() -> None:
    """Build and check."""
    sdist, wheel = build(ROOT / "dist")
    check_contents(sdist)
    with tempfile.TemporaryDirectory() as folder:
        check_installation(wheel, Path(folder))
    for file in (sdist, wheel):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")


def build(folder: Path) -> tuple[Path, Path]:
    """The source distribution and the wheel, in `folder`."""
    for old in [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]:
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], check=True)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_contents(sdist: Path) -> None:
    """Stop if the source distribution lacks a file, or has one that is too large or that no one needs."""
    with tarfile.open(sdist) as archive:
        sizes = {member.name.partition("/")[2]: member.size for member in archive if member.isfile()}
    problems = [f"has no {name}" for name in NEEDED if name not in sizes]
    problems += [f"has {name} of {size / 1e6:.1f} MB" for name, size in sizes.items() if size > LARGEST]
    problems += [f"has {name}" for name in sizes if name.startswith(UNWANTED) or "__pycache__" in name]
    if problems:
        sys.exit("\n".join(f"{sdist.name} {problem}" for problem in problems))


def check_installation(wheel: Path, folder: Path) -> None:
    """Install `wheel` into a new environment in `folder`, and use it from there."""
    home = folder / "environment"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}

    def run(*command: str | Path) -> str:
        made = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)
        if made.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{made.stdout}{made.stderr}")
        return made.stdout

    options = ["--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check"]
    run(scripts / "python", "-m", "pip", "install", *options, wheel)
    see_dependencies(run(scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())

    place = run(scripts / "python", "-c", "import spume; print(spume.__file__)").strip()
    if not Path(place).is_relative_to(home):
        sys.exit(f"the new environment imports {place} and not the wheel")
    version = run(scripts / "spume", "--version").strip()
    if version not in wheel.name:
        sys.exit(f"spume --version says {version}, and the wheel is {wheel.name}")
    if "shaving-cream" not in run(scripts / "spume", "scenes"):
        sys.exit("spume scenes does not list shaving-cream")
    changes = ["--set", "grid.cell=0.05", "--set", "duration=0.1"]
    run(scripts / "spume", "run", "ball-bounce", *changes, "--out", "ball")
    print(f"spume {version}: installed, listed its scenes and ran one:\n{run(scripts / 'spume', 'info', 'ball')}")


def see_dependencies(site_packages: str) -> None:
    """Let the environment with these site-packages import what the present one can. Its own .pth files are not read
    there, so an editable installation of spume stays invisible."""
    paths = sysconfig.get_paths()
    present = dict.fromkeys(
        [paths["purelib"], paths["platlib"], *(path for path in sys.path if "site-packages" in path)]
    )
    (Path(site_packages) / "dependencies.pth").write_text("\n".join(present) + "\n")


if __name__ == "__main__":
    main()
