"""Words on pictures."""

import numpy as np
import pytest

from spume.look.pictures.lettering import tick_labels, with_label


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
