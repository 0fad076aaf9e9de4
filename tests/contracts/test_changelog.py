"""Changes of changes/ become entries of the changelog."""

import datetime
import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "changelog.py"
TODAY = datetime.date(2030, 1, 2)
LOG = "# Changelog\n\n## [1.0.0] - 2029-01-01\n\n### Added\n\n- Foam.\n\n### Fixed\n\n- A leak.\n"


@pytest.fixture(scope="module")
def changelog():
    found = importlib.util.spec_from_file_location("changelog", TOOL)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_changes_of_the_repository_are_well_formed(changelog):
    changelog.fragments(TOOL.parents[1] / "changes")


def test_a_new_version_gets_a_dated_heading_above_the_older_ones(changelog):
    made = changelog.collected(LOG, "1.1.0", {"added": ["Shadows."], "fixed": []}, TODAY)
    assert made == LOG.replace("## [1.0.0]", "## [1.1.0] - 2030-01-02\n\n### Added\n\n- Shadows.\n\n## [1.0.0]")


def test_a_version_that_has_the_section_keeps_its_entries_in_order(changelog):
    made = changelog.collected(LOG, "1.0.0", {"added": ["Shadows."], "removed": ["Glare."]}, TODAY)
    assert made == LOG.replace("- Foam.\n", "- Foam.\n- Shadows.\n") + "\n### Removed\n\n- Glare.\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shadows.md", "Shadows."),
        ("shadows.new.md", "Shadows."),
        ("shadows.added.md", "- Shadows."),
        ("a.fixed.md", ""),
    ],
)
def test_a_file_that_is_no_change_is_named(changelog, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit, match=name):
        changelog.fragments(tmp_path)
