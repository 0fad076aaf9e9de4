"""The documentation is true: its Python examples run, its commands exist, its links lead somewhere."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from spume.cli import app
from spume.scene import builtin

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if page.relative_to(ROOT).parts[1:2] not in (("_build",), ("gallery",), ("reference",))
)
GENERATED = ("reference/", "gallery/")
"""Pages that `make docs` writes."""
PLACEHOLDER = re.compile(r"\.\.\.|…|\[|\|")
"""A command that contains one of these is a pattern, not a command to type."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(page: Path) -> list[str]:
    """The commands of spume in the code blocks of a page."""
    typed = re.findall(r"^    (spume [a-z][^#\n]*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [command for command in typed if not PLACEHOLDER.search(command)]


@pytest.fixture
def coarse_library(tmp_path, monkeypatch):
    """The built-in scenes with a ball of few points and frames, so that the examples take seconds."""
    copy = shutil.copytree(builtin.LIBRARY, tmp_path / "library")
    (ball,) = copy.rglob("ball-bounce.toml")
    shorter = re.sub(r"^duration = .*", "duration = 0.4", ball.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ball.write_text(re.sub(r"cell = .*", "cell = 0.05", shorter), encoding="utf-8")
    monkeypatch.setattr(builtin, "LIBRARY", copy)


@pytest.mark.usefixtures("coarse_library")
@pytest.mark.slow_suite
def test_the_examples_of_the_python_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python" / "from-python.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(examples) >= 6
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "from-python.md", "exec"), names)
    assert (tmp_path / "out" / "ball" / "manifest.json").exists()


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name)
def test_every_command_of_a_page_is_one_that_spume_accepts(page):
    for command in commands(page):
        tokens = shlex.split(command)[1:]
        function, _, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
        assert function.__name__ not in ("help_print", "version_print"), command


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_benchmark_and_validation_of_a_page_exists(page):
    cases = re.findall(r'Case\(\s*"([a-z-]+)"', "".join(f.read_text() for f in (ROOT / "validation").glob("*.py")))
    for package, module, words in re.findall(
        r"python -m (benchmarks|validation)(\.\w+)?((?: [a-z][a-z-]*\b)*)", page.read_text(encoding="utf-8")
    ):
        place = ROOT / package / f"{module[1:] or '__main__'}.py"
        assert place.exists(), f"{name(page)}: {package}{module}"
        if package == "validation" and not module and name(page) != "CONTRIBUTING.md":
            assert set(words.split()) <= set(cases), f"{name(page)}: validation{words}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_to_a_file(page):
    text = re.sub(r"^(```|    ).*?$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.partition("#")[0]
        if path and not re.match(r"https?:", path) and not any(each in path for each in GENERATED):
            assert (page.parent / path).exists(), f"{name(page)} links to {target}"
