"""Words on pictures."""

import sys

import numpy as np
import pytest

from spume.errors import MissingExtra
from spume.look.pictures import lettering
from spume.look.pictures.lettering import Legend, tick_labels, with_color_bar, with_label, without_color_bar


def test_neighbouring_ticks_have_different_labels() -> None:
    assert tick_labels(np.array([1.0, 1.005, 1.01])) == ["1", "1.005", "1.01"]
    assert tick_labels(np.array([0.0, 0.5, 1.0])) == ["0", "0.5", "1"]


@pytest.mark.parametrize(("background", "is_light"), [(30, True), (220, False)])
def test_a_label_is_read_on_dark_and_on_light_pictures(background: int, is_light: bool) -> None:
    labelled = with_label(np.full((120, 240, 3), background, np.uint8), "wet sand").astype(int)
    changed = labelled[(labelled != background).any(axis=2)]
    assert len(changed) > 20
    assert ((changed > background).all(axis=1).mean() > 0.9) == is_light


def test_what_lies_beside_a_label_does_not_choose_its_ink():
    """A white subject beside a label on a dark ground."""
    picture = np.full((546, 960, 3), 95, np.uint8)
    picture[:, 150:] = 255
    labelled = with_label(picture, "0.90 s", "lower left", 17).astype(int)
    assert labelled[-60:, :150].max() > 240
    assert labelled[-60:, :150].min() >= 95


def test_greek_letters_and_signs_have_glyphs_of_their_own():
    """A font writes the same box for all letters that it lacks."""
    picture = np.full((40, 60, 3), 255, np.uint8)
    drawn = {with_label(picture, letter, size=20).tobytes() for letter in "μηρατσφκν²³·°×₀\ufffe"}
    assert len(drawn) == 16


def test_light_text_is_read_where_it_crosses_a_light_subject():
    picture = np.full((100, 400, 3), 40, np.uint8)
    picture[:, 80:130] = 255
    labelled = with_label(picture, "0.35 mm, 1.25 s", size=24)[:40, 80:130].mean(axis=2)
    assert labelled.max() - labelled.min() > 100


def test_text_on_one_tone_has_no_halo():
    picture = np.full((100, 400, 3), 240, np.uint8)
    assert with_label(picture, "0.35 mm", size=24).max() == 240


def test_a_colour_bar_can_be_taken_off_again():
    picture = np.random.default_rng(3).integers(0, 255, (200, 300, 3), np.uint8)
    with_bar = with_color_bar(picture, Legend(lettering.MAP, (0.0, 1.0), "pressure [Pa]"))
    assert np.array_equal(without_color_bar(with_bar), picture)


def test_writing_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    lettering._font.cache_clear()
    with pytest.raises(MissingExtra, match=r"spume\[look\]"):
        with_label(np.full((40, 60, 3), 255, np.uint8), "1 s")
