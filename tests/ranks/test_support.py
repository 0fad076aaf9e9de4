"""What ranks cannot do yet is refused before the run starts, and the page about ranks lists it."""

from pathlib import Path

import pytest

from spume.errors import SceneError
from spume.ranks.support import METHODS, refuse_on_ranks
from spume.scene.loading import load_scene

PAGE = Path(__file__).parents[2] / "docs" / "ranks.md"


def test_dry_foams_are_refused():
    with pytest.raises(SceneError, match="the method 'dry-foam' does not run on several ranks"):
        refuse_on_ranks(load_scene("dry-foam-shear"))


@pytest.mark.parametrize(
    "name",
    ["slump", "shaving-cream", "dam-breach-2d", "toothpaste", "dough-star", "twisting", "sand-pile-semi-implicit"],
)
def test_what_ranks_can_do_is_not_refused(name):
    refuse_on_ranks(load_scene(name))


def test_the_page_lists_what_is_refused():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for method in METHODS:
        assert f"`{method}`" in text
