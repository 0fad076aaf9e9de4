"""What ranks cannot do yet is refused before the run starts, and the page about ranks lists it."""

from pathlib import Path

import pytest

from spume.errors import SceneError
from spume.ranks.support import METHODS, MISSING, refuse_on_ranks
from spume.scene.loading import load_scene

PAGE = Path(__file__).parents[2] / "docs" / "ranks.md"
REFUSED = {
    "frame": ("roller", ("grid.frame='total'",), "grids that deform with the material"),
    "dry": ("dry-foam-shear", (), "the method 'dry-foam'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_ranks_cannot_do_is_refused(name):
    scene, changes, words = REFUSED[name]
    with pytest.raises(SceneError) as refused:
        refuse_on_ranks(load_scene(scene, changes))
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["slump", "shaving-cream", "dam-breach-2d", "toothpaste", "dough-star", "twisting", "sand-pile-semi-implicit"],
)
def test_what_ranks_can_do_is_not_refused(name):
    refuse_on_ranks(load_scene(name))


def test_the_page_lists_what_is_refused():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for missing in MISSING:
        assert missing.what in text, missing.what
    for method in METHODS:
        assert f"`{method}`" in text
