"""Logs of events as tables."""

from spume.fields import Field, Population
from spume.frames.logs import log_table


def test_a_log_without_entries_has_all_its_columns():
    """A dry foam in which no film has switched is exported to CSV like any other."""
    log = Population("events", (Field("time", unit="s"), Field("place", (2,), unit="m")), "table")
    table = log_table([], log)  # type: ignore[arg-type]  # a run without frames
    assert {name: len(values) for name, values in table.items()} == {"time": 0, "place_0": 0, "place_1": 0}
