"""The line of each key in a TOML file, for error messages.

The TOML parser of the standard library gives no positions. This scanner reads a text that has already been parsed, so
it only needs to find the ends of keys, strings and brackets, and does not interpret values.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from spume.scene.builtin import LIBRARY, find_parent, read_toml
from spume.scene.extending import read_scene
from spume.scene.overrides import Presets, preset_names
from spume.scene.problems import Problem, dotted

Path = tuple[str | int, ...]

_KEY = re.compile(r"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*""")
_STRINGS = re.compile(r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL)
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[^,\]}\n#]*")


def key_lines(text: str) -> dict[Path, int]:
    """The line of every key and of every entry of a list, from 1 on, by its path."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def located(problem: Problem, file: File, preset: Presets, given: tuple[str, ...] = ()) -> Problem:
    """`problem` with the file and line of its key, or of the innermost enclosing table found in a file.

    A key may be in a preset (the last of those that have it), in the file, or in a file that this one extends. Keys in
    `given` were changed afterwards, for example with --set, and are not looked up in the files.
    """
    if any(f"{problem.path}.".startswith(f"{key.strip()}.") for key in given):
        return problem
    whole = _parts(problem.path)
    tables = read_scene(file)
    prefixes = [f"preset.{dotted((name,))}." for name in reversed(preset_names(preset))]
    found: list[tuple[int, str]] = []
    for each in _files(file):
        lines = {dotted(key): line for key, line in key_lines(each.read_text(encoding="utf-8")).items()}
        own = _own_path(whole, tables, read_toml(each))
        for prefix, path in (*((prefix, whole) for prefix in prefixes), ("", own)):
            for length in range(len(path), 0, -1):
                key = prefix + dotted(path[:length])
                if key in lines:
                    name = each.name if LIBRARY in each.parents else each
                    found.append((length, f"{name}:{lines[key]}"))
                    break
    best = max(found, key=lambda pair: pair[0], default=None)
    return problem if best is None else replace(problem, place=best[1])


def _own_path(path: Path, merged: dict[str, Any], own: dict[str, Any]) -> Path:
    """A path into a list of tables, with the number that the table has in the file whose tables are `own`: lists of an
    extended scene come before. The path of the list, if that table is not in the file."""
    if len(path) < 2 or not str(path[1]).isdigit():
        return path
    whole, listed = merged.get(str(path[0])), own.get(str(path[0]))
    if not isinstance(whole, list) or not isinstance(listed, list) or int(path[1]) >= len(whole):
        return path
    table = whole[int(path[1])]
    name = table.get("name") if isinstance(table, dict) else None
    for k, each in enumerate(listed):
        if each == table or (name and isinstance(each, dict) and each.get("name") == name):
            return (path[0], str(k), *path[2:])
    return path[:1]


def _parts(path: str) -> Path:
    """The parts of a dotted path."""
    return tuple(word[1:-1] if word[0] == '"' else word for word in re.findall(r'"[^"]*"|[^."]+', path))


def _files(file: File) -> Iterator[File]:
    """A scene file and those it extends."""
    yield file
    parent: Any = read_toml(file).get("extends")
    if isinstance(parent, str):
        yield from _files(find_parent(parent, file.parent))


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Path, int] = {}
        self.tables: dict[Path, int] = {}
        """How many tables each list of tables has so far."""

    def document(self) -> None:
        """Headers and keys, to the end of the text."""
        prefix: Path = ()
        self.space()
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self.in_lists(self.key())
                index = self.tables.get(path, 0)
                self.tables[path] = index + 1
                self.note(path)
                prefix = (*path, index)
                self.note(prefix)
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                prefix = self.in_lists(self.key())
                self.note(prefix)
                self.at += 1
            else:
                self.pair(prefix)
            self.space()

    def in_lists(self, path: Path) -> Path:
        """The path of a header: below a list of tables it means the last one."""
        whole: Path = ()
        for part in path[:-1]:
            whole = (*whole, part)
            if whole in self.tables:
                whole = (*whole, self.tables[whole] - 1)
        return (*whole, path[-1])

    def note(self, path: Path) -> None:
        """Record the present line for `path` and for the tables around it that are new."""
        line = self.text.count("\n", 0, self.at) + 1
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found
        self.at = found.end()

    def key(self) -> Path:
        """A dotted key."""
        parts: list[str | int] = []
        while found := _KEY.match(self.text, self.at):
            self.at = found.end()
            word = found[1]
            parts.append(word[1:-1] if word[0] in "\"'" else word)
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return tuple(parts)

    def pair(self, prefix: Path) -> None:
        """key = value"""
        start = self.at
        path = (*prefix, *self.key())
        if self.at == start:  # not TOML after all: give up
            self.at = len(self.text)
            return
        self.note(path)
        self.at += 1  # =
        self.space()
        self.value(path)

    def value(self, path: Path) -> None:
        """A value; lists and tables are walked through."""
        if found := _STRINGS.match(self.text, self.at):
            self.at = found.end()
        elif self.text.startswith("[", self.at):
            self.inside("]", lambda index: self.entry((*path, index)))
        elif self.text.startswith("{", self.at):
            self.inside("}", lambda _: self.pair(path))
        else:
            found = _BARE.match(self.text, self.at)
            assert found
            self.at = found.end()

    def entry(self, path: Path) -> None:
        self.note(path)
        self.value(path)

    def inside(self, end: str, member: Callable[[int], None]) -> None:
        """The members of a list or table, up to the bracket `end`."""
        self.at += 1
        index = 0
        self.space()
        while self.at < len(self.text) and not self.text.startswith(end, self.at):
            member(index)
            index += 1
            self.space()
            if self.text.startswith(",", self.at):
                self.at += 1
            self.space()
        self.at += 1
