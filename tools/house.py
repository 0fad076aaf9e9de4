"""Measures the source tree: files and lines per room, imports between rooms, longest functions, most arguments, `Any`.

    python tools/house.py [REVISION ...]

prints Markdown tables for each revision (default: the working tree), for docs/measured/house.md. A room is a package of
`spume`; the modules beside the packages are counted together as "beside".
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = "src/spume/"
ANY = re.compile(r": Any\b|-> Any\b")
LONGEST = 6
"""Rows of the lists of longest functions and most arguments."""


def files(revision: str | None) -> Iterator[tuple[str, str]]:
    """Path inside the package and text of every Python file."""
    if revision is None:
        for file in sorted(Path(SOURCE).rglob("*.py")):
            yield file.as_posix().removeprefix(SOURCE), file.read_text(encoding="utf-8")
        return
    for line in _git("ls-tree", "-r", "--name-only", revision, SOURCE).splitlines():
        if line.endswith(".py"):
            yield line.removeprefix(SOURCE), _git("show", f"{revision}:{line}")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def room(path: str) -> str:
    """The package of a file."""
    return path.split("/")[0] if "/" in path else "beside"


def imported(tree: ast.Module, rooms: set[str]) -> set[str]:
    """Rooms that a module imports from."""
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    names += [each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names]
    parts = [name.split(".")[1] for name in names if name.startswith("spume.")]
    return {part if part in rooms else "beside" for part in parts}


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines that are neither empty nor only comments nor part of a docstring."""
    unread = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {n for token in tokens if token.type not in unread for n in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def main(revision: str | None) -> None:
    """Print the tables of a revision."""
    texts = dict(files(revision))
    rooms = {room(path) for path in texts}
    count, lines, code, anys = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    edges: set[tuple[str, str]] = set()
    functions: list[tuple[int, int, str]] = []
    for path, text in texts.items():
        here, tree = room(path), ast.parse(text)
        count[here] += 1
        lines[here] += text.count("\n")
        code[here] += code_lines(text, tree)
        anys[here] += len(ANY.findall(text))
        edges |= {(here, other) for other in imported(tree, rooms) if other != here}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                functions.append(((node.end_lineno or 0) - node.lineno + 1, len(arguments), f"`{path}` {node.name}"))
    print(f"\n## {revision or 'Now'}\n\n| room | files | lines | of code | imports from | `Any` |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in sorted(rooms):
        imports = sum(a == name for a, _ in edges)
        print(f"| {name} | {count[name]} | {lines[name]:,} | {code[name]:,} | {imports} | {anys[name]} |")
    print(f"| all | {count.total()} | {lines.total():,} | {code.total():,} | {len(edges)} | {anys.total()} |")
    for key, title in ((0, "lines"), (1, "arguments")):
        most = sorted(functions, key=lambda each: -each[key])[:LONGEST]
        print(f"\n| function | {title} |\n| --- | ---: |")
        print("\n".join(f"| {each[2]} | {each[key]} |" for each in most))


if __name__ == "__main__":
    for wanted in sys.argv[1:] or [None]:
        main(wanted)
