"""Pages of the documentation that are made from the code."""

import importlib.util
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "generate.py"


@pytest.fixture(scope="module")
def generate():
    found = importlib.util.spec_from_file_location("generate", PAGES)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a & b | [c](javascript:d)"]
)
def test_text_of_tables_is_no_markup(generate, text):
    cell = generate._cell(text)
    assert "<" not in cell
    assert "&" not in cell.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")
    assert "|" not in cell.replace("\\|", "")
    assert "[" not in cell.replace("\\[", "")
