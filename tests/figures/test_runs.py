"""Runs of scenes for figures and validation."""

from pathlib import Path

import pytest
from reports import runs
from reports.case import Surroundings

from spume.errors import CacheError

SCENE, SMALL = "dry-foam-collapse", {"foam.cells": 66, "duration": 1.0}


def _around(folder: Path, said: list[str], **finished: Path) -> Surroundings:
    return Surroundings(folder, folder, finished, said.append)


def test_a_finished_run_is_used_again_and_another_scene_is_not(tmp_path: Path) -> None:
    """The second call reads the frames of the first; changed values are run anew."""
    said: list[str] = []
    first = runs.run_of(_around(tmp_path, said), SCENE, SMALL)
    assert first.complete
    assert said == [f"{SCENE}: frame 1 of 1"]
    runs.run_of(_around(tmp_path, said), SCENE, SMALL)
    assert len(said) == 1
    runs.run_of(_around(tmp_path, said), SCENE, SMALL | {"foam.tension": 2.0})
    assert len(said) == 2


def test_an_unfinished_run_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run stopped after its first frame computes only the others."""
    said: list[str] = []

    class Stops(runs.Told):
        def frame(self, number: int) -> None:
            raise KeyboardInterrupt

    longer = SMALL | {"duration": 2.0}
    with monkeypatch.context() as patch:
        patch.setattr(runs, "Told", Stops)
        with pytest.raises(KeyboardInterrupt):
            runs.run_of(_around(tmp_path, said), SCENE, longer)
    assert runs.run_of(_around(tmp_path, said), SCENE, longer).complete
    assert said == [f"{SCENE}: frame 2 of 2"]


def test_a_given_run_must_be_finished(tmp_path: Path) -> None:
    """A folder without a run, or with a part of one, is refused in a sentence."""
    with pytest.raises(CacheError):
        runs.run_of(_around(tmp_path, [], **{SCENE: tmp_path / "absent"}), SCENE)
