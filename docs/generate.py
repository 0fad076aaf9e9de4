"""The pages made from the code itself: keys of scenes from the schema, materials from their table, built-in scenes."""

import html
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from spume.cli import app
from spume.exports.formats import FORMATS
from spume.materials.table import LOOK, REMARKS, derived_quantities, named_materials
from spume.methods import METHODS
from spume.scene.builtin import PAPERS
from spume.scene.extending import library_entries
from spume.scene.schema import scene_schema


def write_pages(folder: Path) -> None:
    """Write all generated pages into `folder`."""
    folder.mkdir(exist_ok=True)
    pages = {"materials.md": materials_page(), "library.md": library_page(), "command-line.md": command_line_page()}
    pages["formats.md"] = formats_page()
    pages |= {f"scene-{method}.md": scene_page(method) for method in METHODS}
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def command_line_page() -> str:
    """Every command with its arguments and options."""
    lines = ["# The command line", "", "`spume COMMAND --help` shows the same in a terminal.", ""]
    for name in sorted(name for name in app if not name.startswith("-")):
        command = app[name]
        lines += [f"## spume {name}", "", _cell(command.help or "") + ".", ""]
        arguments = [argument for argument in command.assemble_argument_collection() if argument.show]
        if arguments:
            lines += ["| argument | default | meaning |", "| --- | --- | --- |"]
        for argument in arguments:
            names = ", ".join(f"`{each}`" for each in argument.names) or f"`{argument.field_info.name.upper()}`"
            default = argument.field_info.default
            shown = "" if default is None or default is False or argument.required else f"`{default}`"
            meaning = _cell(argument.parameter.help or "")
            lines.append(f"| {names} | {'required' if argument.required else shown} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def materials_page() -> str:
    """The table of named materials."""
    lines = ["# Materials", "", "Named materials for scenes, rheometer and fits. All numbers are in SI units.", ""]
    for name, entry in named_materials().items():
        numbers = {key: value for key, value in entry.items() if key not in ("law", LOOK, *REMARKS)}
        lines += [
            f"## {_cell(name)}",
            "",
            f"{_cell(entry['description'])}.",
            "",
            "| law | " + " | ".join(numbers) + " |",
        ]
        lines += ["| --- |" + " --- |" * len(numbers)]
        lines += [f"| {entry['law']} | " + " | ".join(_number(value) for value in numbers.values()) + " |", ""]
        derived = [f"{key} {item['value']:.4g} {item['unit']}" for key, item in derived_quantities(name).items()]
        lines += [f"Derived: {', '.join(derived)}.", ""]
        lines += [f"Source: {_cell(entry['source'])}", ""]
    return "\n".join(lines)


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def library_page() -> str:
    """The scenes that come with the package."""
    lines = ["# Built-in scenes", ""]
    for paper, entries in groupby(library_entries(), key=lambda entry: str(entry["paper"])):
        lines += [f"## {_cell(PAPERS[paper])}", "", "| name | what happens | presets |", "| --- | --- | --- |"]
        for entry in entries:
            lines.append(f"| `{entry['name']}` | {_cell(entry['title'])} | {', '.join(entry['presets'])} |")
        lines.append("")
    return "\n".join(lines)


def formats_page() -> str:
    """The formats of `spume export`."""
    lines = ["# Export formats", "", '`spume export DIR --to FORMAT`, in Python `spume.export(run, "FORMAT")`.', ""]
    lines += ["| format | contents | files | default | options | extra |", "| --- | --- | --- | --- | --- | --- |"]
    for name, form in FORMATS.items():
        options = ", ".join(f"`--{option}`" for option in sorted(form.options))
        default = "" if form.kind == "tables" else form.what
        suffixes = ", ".join(form.suffixes)
        lines.append(
            f"| `{name}` | {_cell(form.description)} | {suffixes} | {default} | {options} | {form.extra or ''} |"
        )
    return "\n".join([*lines, ""])


def scene_page(method: str) -> str:
    """The keys of a scene of `method`, table by table."""
    schema = scene_schema(method)
    definitions = schema.get("$defs", {})
    lines = [f"# Scenes of the method {method}", "", _cell(schema.get("description", "")), ""]
    lines += ["## The scene itself", "", *_table(schema)]
    for name, definition in definitions.items():
        lines += [f"## {name}", "", _cell(definition.get("description", "")), ""]
        lines += [*_table(definition)] if "properties" in definition else [_value(definition) + ".", ""]
    return "\n".join(lines)


def _table(schema: dict[str, Any]) -> Iterator[str]:
    required = set(schema.get("required", schema.get("then", {}).get("required", ())))
    yield "| key | value | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for name, about in schema.get("properties", {}).items():
        default = "required" if name in required else _default(about)
        yield f"| `{name}` | {_value(about)} | {_cell(default)} | {_cell(about.get('description', ''))} |"
    yield ""


def _default(about: dict[str, Any]) -> str:
    value = about.get("default")
    return "" if value is None or value in ({}, []) or isinstance(value, dict) else f"`{value}`"


def _value(about: dict[str, Any]) -> str:
    """A type in words; the tables it is made of are links to their sections."""
    if "$ref" in about:
        name = str(about["$ref"].rpartition("/")[2])
        return f"[{name}](#{name.lower()})"
    if "const" in about:
        return f"`{about['const']}`"
    if "enum" in about:
        return ", ".join(f"`{value}`" for value in about["enum"])
    for key in ("anyOf", "oneOf"):
        if key in about:
            return " or ".join(dict.fromkeys(_value(each) for each in about[key] if each.get("type") != "null"))
    if about.get("type") == "array":
        return f"list of {_value(about['items'])}" if about.get("items") else "list"
    inner = about.get("properties", {})
    if len(inner) == 1 and about.get("required"):  # a table with one key, whose name is a choice
        ((name, value),) = inner.items()
        return f"{{ `{name}` = {_value(value)} }}"
    return _cell(str(about.get("type", "table")))


def _cell(text: str) -> str:
    """Text that is safe inside a table: no line breaks, no HTML, and brackets that are not links."""
    plain = " ".join(html.escape(str(text), quote=False).split())
    return plain.replace("|", "\\|").replace("[", "\\[").replace("]", "\\]").rstrip(".")
