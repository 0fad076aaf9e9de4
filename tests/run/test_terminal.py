"""What files of strangers say must not steer the terminal, and an output that takes no more is told in one sentence."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ballistic import make_scene

import spume
from spume.cli import main
from spume.runs.loop import start_run
from spume.runs.progress import Live, Plain
from spume.terminal import visible

PAYLOADS = {
    "\x1b[31mred": "\\u001b[31mred",
    "\x1b]0;title\x07": "\\u001b]0;title\\u0007",
    "\x9b2J": "\\u009b2J",
    "one\rtwo\x08": "one\\u000dtwo\\u0008",
    "\u202egnp.exe": "\\u202egnp.exe",
    "bad \udcff byte": "bad \\udcff byte",
    "Schäume, 泡沫\tok": "Schäume, 泡沫\tok",
}


@pytest.mark.parametrize(("text", "shown"), PAYLOADS.items())
def test_what_a_terminal_would_obey_is_shown_instead(text, shown):
    assert visible(text) == shown


@pytest.fixture
def folder(tmp_path):
    """A run whose title is full of escapes."""
    start_run(make_scene(title="".join(PAYLOADS).replace("\udcff", "")), tmp_path / "run")
    return tmp_path / "run"


def assert_harmless(text):
    assert visible(text) == text


def test_titles_names_and_paths_reach_the_terminal_visibly(folder, tmp_path, capsys):
    assert main(["info", str(folder)]) == 0
    out = capsys.readouterr().out
    assert_harmless(out)
    assert "\\u001b[31mred" in out
    assert main(["info", str(tmp_path / "\x1b[2Jrun")]) != 0
    err = capsys.readouterr().err
    assert_harmless(err)
    assert "\\u001b[2Jrun" in err
    assert main(["rheometer", "\x1b[2J[/]cream"]) != 0
    assert_harmless(capsys.readouterr().err)


def test_json_keeps_the_title_through_the_terminal(folder, capsys):
    assert main(["info", "--json", str(folder)]) == 0
    out = capsys.readouterr().out
    assert_harmless(out)
    assert json.loads(out)["title"] == spume.open_run(folder).title


@pytest.mark.parametrize("kind", [Plain, Live])
def test_notes_of_a_run_are_visible(kind, tmp_path):
    with open(tmp_path / "out", "w") as stream:
        display = kind(stream)
        display.note("\x1b]0;title\x07")
        display.end()
    assert "\\u001b]0;title\\u0007" in (tmp_path / "out").read_text()


def test_nothing_else_prints():
    """All that is printed goes through `say`."""
    package = Path(spume.__file__).parent
    found = [
        f"{file.relative_to(package)}:{node.lineno}"
        for file in package.rglob("*.py")
        if file.name != "terminal.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command",
    [
        ["info", "FOLDER"],
        ["run", "--help"],
        pytest.param(["info", "FOLDER", "--json"], marks=pytest.mark.slow_suite),
        pytest.param(["rheometer", "shaving cream"], marks=pytest.mark.slow_suite),
    ],
)
def test_a_full_output_is_one_sentence(folder, command):
    """Whoever writes it: spume, or the libraries for tables and help."""
    given = [str(folder) if word == "FOLDER" else word for word in command]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "spume.cli", *given], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 1
    assert ended.stderr == "error: the output cannot be written: No space left on device\n"
