"""Install this package with extras into the environment that runs this file, and say what is being done.

    python tools/install.py look test

pip is either silent or tells a hundred lines. This prints one line for each large download and the time it took. If uv
is there, it installs the packages: it takes a fifth of the time.
"""

import re
import shutil
import subprocess
import sys
import time

LARGE = 5.0
"""Downloads from this size on are told [MB]."""
UNITS = {"kB": 1e-3, "MB": 1.0, "GB": 1e3}


def main(extras: list[str]) -> int:
    """Install; the exit code of the installer."""
    target = f".[{','.join(extras)}]" if extras else "."
    print(f"Installing spume[{','.join(extras)}] ...", flush=True)
    began = time.monotonic()
    if shutil.which("uv"):
        uv = subprocess.run(["uv", "pip", "install", "--python", sys.executable, "-e", target], check=False)
        if uv.returncode == 0:
            print(f"  {time.monotonic() - began:4.0f} s  done, by uv", flush=True)
            return 0
        print("  uv did not install it (it may know other indexes than pip); trying pip", flush=True)
    options = ["--disable-pip-version-check", "--progress-bar", "off"]
    # Compiling every module of every package takes longer than installing it; Python compiles those it imports.
    command = [sys.executable, "-m", "pip", "install", "--no-compile", *options, "-e", target]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout:
            said.append(line)
            if tell := telling(line):
                print(f"  {time.monotonic() - began:4.0f} s  {tell}", flush=True)
    if pip.returncode:
        print("".join(said[-30:]), file=sys.stderr)
    else:
        print(f"  {time.monotonic() - began:4.0f} s  done", flush=True)
    return pip.returncode


def telling(line: str) -> str | None:
    """What a line of pip's tells that is worth a line of ours."""
    if found := re.search(
        r"(?:Downloading|Using cached) (?:\S*/)?([\w.]+)-([\w.+]+?)-\S* \(([\d.]+) (kB|MB|GB)\)", line
    ):
        name, version, amount, unit = found.groups()
        size = float(amount) * UNITS[unit]
        return f"{name} {version} ({size:.0f} MB)" if size >= LARGE else None
    if line.startswith("Installing collected packages"):
        return f"unpacking {line.count(',') + 1} packages"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
