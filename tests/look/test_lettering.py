"""Words on pictures."""

import numpy as np

from spume.look.pictures.lettering import tick_labels


def test_neighbouring_ticks_have_different_labels() -> None:
    assert tick_labels(np.array([1.0, 1.005, 1.01])) == ["1", "1.005", "1.01"]
    assert tick_labels(np.array([0.0, 0.5, 1.0])) == ["0", "0.5", "1"]
