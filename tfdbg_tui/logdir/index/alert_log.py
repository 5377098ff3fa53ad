"""The alerts of one file of events: which rows are bad, and how often which place is to blame.

A run that has died makes an alert of every event, for hours.  So an alert takes little memory, and
what is asked again and again, how many alerts each place has made, is counted as they come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.logdir.index.columns import AscendingColumn, Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tfdbg_tui.logdir.index.columns import AscendingView, ColumnView, Int64Array


class AlertTally(NamedTuple):
    """The alerts of one place, a graph's tensor or an output of eager code, in short.

    Attributes:
        alerts: How many there are.
        first: Row of the first.
        last: Row of the last.
    """

    alerts: int
    first: int
    last: int


class AlertLog:
    """The alerts of one file of events, grown chunk by chunk.

    Attributes:
        rows: Row of each alert, ascending; one alert for each bad output.
        slots: Output slot of each alert; empty where the place of a row tells it.
    """

    def __init__(self) -> None:
        self.rows = AscendingColumn()
        self.slots = Column()
        self._tallies: dict[int, AlertTally] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def extend(self, rows: Int64Array, places: Int64Array, slots: Int64Array | None = None) -> None:
        """Append alerts: their rows, ascending, a number for the place of each, and its slot.

        Args:
            rows: Row of each, ascending; shape [n], as all.
            places: A number for the place of each.
            slots: Output slot of each; None where the place tells it.
        """
        self.rows.extend(rows)
        if slots is not None:
            self.slots.extend(slots)
        order = np.argsort(places, kind="stable")
        found, starts, counts = np.unique(places[order], return_index=True, return_counts=True)
        firsts, lasts = rows[order[starts]], rows[order[starts + counts - 1]]
        for place, count, first, last in zip(
            *(numbers.tolist() for numbers in (found, counts, firsts, lasts)), strict=True
        ):
            before = self._tallies.get(place, AlertTally(0, first, last))
            self._tallies[place] = AlertTally(before.alerts + count, before.first, last)

    def view(self) -> AlertLogView:
        """Return the alerts so far."""
        return AlertLogView(self.rows.view(), self.slots.view(), dict(self._tallies))


class AlertLogView(NamedTuple):
    """The alerts that an `AlertLog` held at some time; see there."""

    rows: AscendingView
    slots: ColumnView
    tallies: Mapping[int, AlertTally]


def combined(
    logs: Sequence[AlertLogView], index: Callable[[int, int], int]
) -> Iterable[tuple[int, AlertTally]]:
    """Yield the places of all logs, ascending, with their tallies over the merged order.

    Args:
        logs: The alerts of each log.
        index: ``index(log, row)`` returns where a row of a log is in the merged order.
    """
    for place in sorted(set().union(*(log.tallies for log in logs))):
        alerts, rows = 0, []
        for log, view in enumerate(logs):
            if (tally := view.tallies.get(place)) is not None:
                alerts += tally.alerts
                rows += [index(log, tally.first), index(log, tally.last)]
        yield place, AlertTally(alerts, min(rows), max(rows))
