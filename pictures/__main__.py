"""Make pictures of README and docs: `python -m pictures [NAME ...] [--missing] [--reel]`; without names, list them.

Runs in out/pictures are used again, and continued if they are not finished.
"""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pictures.making import FOLDER, make
from pictures.recipe import Recipe, read_recipes
from pictures.reel import REEL, make_reel
from spume.errors import SpumeError


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="pictures, as the list names them")
    parser.add_argument("--missing", action="store_true", help="make all pictures that are not there")
    parser.add_argument("--reel", action="store_true", help="make the reel")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pictures")
    return parser.parse_args()


def listing(recipes: dict[str, Recipe], folder: Path) -> Table:
    """The table of all pictures."""
    table = Table("name", "scene", "preset", "shows", "kB")
    for recipe in recipes.values():
        file = folder / f"{recipe.name}.jpg"
        shows = "sheet" if recipe.time is None else f"{recipe.time:g} s{', Cycles' if recipe.beauty else ''}"
        size = f"{file.stat().st_size / 1e3:.0f}" if file.exists() else "missing"
        table.add_row(recipe.name, ", ".join((recipe.scene, *recipe.beside)), recipe.preset, shows, size)
    return table


def processor_time() -> float:
    """Of this process and of those that it waited for, such as Blender [s]."""
    return sum(os.times()[:4])


def main() -> int:
    """Make the chosen pictures, or list all."""
    given, console = arguments(), Console()
    recipes = read_recipes()
    if unknown := [name for name in given.names if name not in recipes]:
        console.print(f"there is no picture '{unknown[0]}': python -m pictures lists them")
        return 2
    chosen = [r for r in recipes.values() if r.name in given.names]
    if given.missing:
        chosen += [r for r in recipes.values() if r not in chosen and not (given.out / f"{r.name}.jpg").exists()]
    if not chosen and not given.reel:
        console.print(listing(recipes, given.out))
        return 0
    try:
        with console.status("") as status:
            say = status.update if console.is_terminal else console.print
            for recipe in chosen:
                began = processor_time()
                file = make(recipe, say, given.out)
                console.print(f"{file}: {file.stat().st_size / 1e3:.0f} kB, {processor_time() - began:.0f} CPU s")
            if given.reel:
                console.print(f"{make_reel(REEL, say)}")
    except KeyboardInterrupt:
        console.print("stopped; the same command goes on from here")
        return 130
    except SpumeError as error:
        console.print(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
