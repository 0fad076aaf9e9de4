"""Outcomes, pages and the list of figures."""

from pathlib import Path

import pytest
from figures.__main__ import FIGURES, outcomes_by_preset, store
from figures.figure import Figure, save_claims
from figures.page import PAPERS, state
from reports.case import Outcome, Surroundings, differs, states
from reports.running import finished_runs, run_cases


def _never(around: Surroundings) -> Outcome:
    raise AssertionError(around)


FIGURE = Figure("dryfoam-4", "Figure 4", "It holds.", _never, paper="DryFoam", finding="It does.")


def test_figures_have_names_of_their_own_and_known_papers() -> None:
    """Names are unique, and every paper has a page."""
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    assert {figure.paper for figure in FIGURES} <= set(PAPERS)


def test_state_is_that_of_the_finest_preset() -> None:
    """A claim that holds in draft only is not shown as one that holds."""
    good, bad = Outcome([states("a", "1", "1", True)]), Outcome([states("a", "1", "2", False)])
    assert state(FIGURE, {}) == "not run yet"
    assert state(FIGURE, {"dryfoam-4": {"draft": good}}) == "holds in draft only"
    assert state(FIGURE, {"dryfoam-4": {"draft": good, "medium": good}}) == "holds"
    assert state(FIGURE, {"dryfoam-4": {"draft": good, "medium": bad}}) == "1 of 1 claims do not hold"


def test_outcomes_survive_a_page_written_later(tmp_path: Path) -> None:
    """A figure that is made keeps the outcomes of the others, and of its other presets."""
    first, second = Outcome([states("a", "1", "1", True)]), Outcome([states("b", "2", "2", False)], seconds=3.0)
    store(tmp_path, {"dryfoam-4": {"paper": first}})
    store(tmp_path, outcomes_by_preset(tmp_path) | {"dryfoam-5": {"paper": second}})
    assert outcomes_by_preset(tmp_path) == {"dryfoam-4": {"paper": first}, "dryfoam-5": {"paper": second}}
    page = (tmp_path / "dryfoam.md").read_text(encoding="utf-8")
    assert "**Does not hold:** b." in page
    assert page.count("Not run yet.") == sum(figure.paper == "DryFoam" for figure in FIGURES) - 2


def test_claims_are_written_beside_the_figure(tmp_path: Path) -> None:
    """One line for each claim, with a name in the header."""
    save_claims(tmp_path, "dryfoam-4", Outcome([states("area, total", "1", "2", False)]))
    lines = (tmp_path / "dryfoam-4-claims.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["quantity,ours,caption,error,tolerance,holds", '"area, total",1,2,,,no']


def test_a_difference_counts_only_beyond_three_spreads() -> None:
    """Means of 1 and 2 with a spread of 0.1 differ; with a spread of 0.5 they do not, nor in the other direction."""
    assert differs("q", [0.9, 1.0, 1.1], [1.9, 2.0, 2.1], "more").passed
    assert not differs("q", [0.5, 1.0, 1.5], [1.5, 2.0, 2.5], "more").passed
    assert not differs("q", [0.9, 1.0, 1.1], [1.9, 2.0, 2.1], "less").passed


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    """Ctrl-C in the second case: the first is stored, the third does not begin."""
    done: list[str] = []

    def stopped(around: Surroundings) -> Outcome:
        raise KeyboardInterrupt

    def good(around: Surroundings) -> Outcome:
        return Outcome([states("a", "1", "1", True)])

    cases = [Figure(name, name, "", run, paper="DryFoam", finding="")
             for name, run in (("one", good), ("two", stopped), ("three", _never))]  # fmt: skip
    found = run_cases(cases, lambda _: tmp_path, tmp_path, {}, "draft", lambda case, _: done.append(case.name))
    assert list(found) == done == ["one"]


def test_runs_are_given_as_scene_and_folder() -> None:
    """A text without an equals sign is an error that shows the form."""

    def fail(text: str) -> None:
        raise ValueError(text)

    assert finished_runs(["a=out/b"], fail) == {"a": Path("out/b")}
    with pytest.raises(ValueError, match="SCENE=FOLDER"):
        finished_runs(["a"], fail)
