"""Outcomes, pages and the list of figures."""

from pathlib import Path

import pytest
from figures.__main__ import FIGURES, keep, outcomes_by_preset, store
from figures.figure import Figure, save_claims
from figures.page import PAPERS, state, write_pages
from reports.case import Outcome, Surroundings, changes, differs, states
from reports.running import finished_runs, run_cases


def _never(around: Surroundings) -> Outcome:
    raise AssertionError(around)


FIGURE = Figure("dryfoam-4", "Figure 4", "It holds.", _never, paper="DryFoam", finding="It does.")


LISTED = {
    "yue15": ({1, *range(3, 15)} - {2}, {1, 2}),
    "gerszewski09": (set(range(1, 9)), {1}),
    "tampubolon17": (set(range(1, 12)) - {7}, {2}),
    "fang19": (set(range(1, 18)) - {8}, {2}),
    "dryfoam": (set(range(1, 9)), set()),
}
"""Figures and tables of each paper; those left out are drawings. Table III of Yue15 is part of table 2."""


def test_figures_have_names_of_their_own_and_known_papers() -> None:
    """Names are unique, and every paper has a page."""
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    assert {figure.paper for figure in FIGURES} <= set(PAPERS)


@pytest.mark.parametrize("paper", LISTED)
def test_every_figure_of_a_paper_is_made(paper: str) -> None:
    """None is left out."""
    figures, tables = LISTED[paper]
    names = [figure.name for figure in FIGURES if figure.name.partition("-")[0] == paper]
    assert sorted(names) == sorted([f"{paper}-{k}" for k in figures] + [f"{paper}-table-{k}" for k in tables])


def test_figures_that_were_not_run_stand_in_the_table_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Whatever the order in which they were given; the index counts them."""
    third = Figure("dryfoam-3", "Figure 3", "It is so.", _never, paper="DryFoam", finding="It is.")
    write_pages(tmp_path, [FIGURE, third], {})
    page = (tmp_path / "dryfoam.md").read_text(encoding="utf-8")
    assert page.index("| [Figure 3](#figure-3) | not run yet |") < page.index("| [Figure 4](#figure-4) | not run yet |")
    assert "| 2 | 0 | 0 | 2 |" in (tmp_path / "index.md").read_text(encoding="utf-8")


def test_the_cause_stands_before_the_picture_only_if_a_claim_fails(tmp_path: Path) -> None:
    """A reader sees first what does not hold, and why."""
    figure = Figure(
        "dryfoam-4", "Figure 4", "It holds.", _never, paper="DryFoam", finding="It does.", cause="the unit."
    )
    for passed in (False, True):
        outcome = Outcome([states("a", "1", "2", passed)], figures=[("dryfoam-4.png", "A picture.")])
        write_pages(tmp_path, [figure], {"dryfoam-4": {"medium": outcome}})
        page = (tmp_path / "dryfoam.md").read_text(encoding="utf-8")
        assert ("Cause: the unit." in page.partition("![")[0]) != passed


def test_state_is_that_of_the_finest_preset() -> None:
    """A claim that holds in draft only is not shown as one that holds."""
    good, bad = Outcome([states("a", "1", "1", True)]), Outcome([states("a", "1", "2", False)])
    assert state(FIGURE, {}) == "not run yet"
    assert state(FIGURE, {"dryfoam-4": {"draft": good}}) == "holds in draft only"
    assert state(FIGURE, {"dryfoam-4": {"draft": good, "medium": good}}) == "holds"
    assert state(FIGURE, {"dryfoam-4": {"draft": good, "medium": bad}}) == "1 of 1 claims do not hold"
    assert state(FIGURE, {"dryfoam-4": {"draft": bad}}) == "1 of 1 claims do not hold, in draft"


def test_a_figure_that_has_drafts_only_says_so() -> None:
    """What is demanded at medium is not shown by a draft, whether or not the figure has finer presets."""
    drafts = Figure("fang19-12", "Figure 12", "", _never, paper="Fang19", finding="", presets=("draft",))
    good = Outcome([states("a", "1", "1", True)])
    assert state(drafts, {"fang19-12": {"draft": good}}) == "holds in draft only"


def test_outcomes_survive_a_page_written_later(tmp_path: Path) -> None:
    """A figure that is made keeps the outcomes of the others, and of its other presets."""
    first, second = Outcome([states("a", "1", "1", True)]), Outcome([states("b", "2", "2", False)], seconds=3.0)
    store(tmp_path, {"dryfoam-4": {"paper": first}})
    store(tmp_path, outcomes_by_preset(tmp_path) | {"dryfoam-5": {"paper": second}})
    assert outcomes_by_preset(tmp_path) == {"dryfoam-4": {"paper": first}, "dryfoam-5": {"paper": second}}
    page = (tmp_path / "dryfoam.md").read_text(encoding="utf-8")
    assert "**Does not hold:** b." in page
    assert page.count("Not run yet.") == sum(figure.paper == "DryFoam" for figure in FIGURES) - 2


def test_a_figure_drawn_again_keeps_the_time_of_its_runs() -> None:
    """Drawn from runs on disk it takes seconds; the list tells how long it takes from nothing."""
    found = {"draft": Outcome([states("a", "1", "2", False)], seconds=150.0)}
    keep(found, "draft", Outcome([states("a", "1", "1", True)], seconds=5.0))
    assert found["draft"].seconds == 150.0
    assert found["draft"].holds


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


def test_a_difference_within_the_spread_is_not_shown_and_one_the_wrong_way_does_not_hold() -> None:
    """The two are different findings, and the page has a word for each."""
    within = differs("within", [0.5, 1.0, 1.5], [1.5, 2.0, 2.5], "more")
    wrong = differs("wrong", [0.9, 1.0, 1.1], [1.9, 2.0, 2.1], "less")
    assert (within.undecided, wrong.undecided) == (True, False)
    assert state(FIGURE, {"dryfoam-4": {"medium": Outcome([within])}}) == "1 of 1 not shown"
    both = "1 of 2 claims do not hold, 1 of 2 not shown"
    assert state(FIGURE, {"dryfoam-4": {"medium": Outcome([within, wrong])}}) == both


def test_changes_of_the_same_states_are_compared_in_pairs() -> None:
    """States differ by more than the change, which is the same in each; the means alone would not show it."""
    first, second = [1.0, 2.0, 4.0], [1.5, 2.5, 4.6]
    assert not differs("q", first, second, "more").passed
    assert changes("q", first, second, "more").passed
    wrong, within = changes("q", first, second, "less"), changes("q", first, [2.0, 2.0, 3.0], "more")
    assert not wrong.passed
    assert not wrong.undecided
    assert not within.passed
    assert within.undecided


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
