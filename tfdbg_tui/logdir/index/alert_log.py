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

    import numpy.typing as npt

    from tfdbg_tui.logdir.index.columns import AscendingView, ColumnView, Int64Array


class AlertTally(NamedTuple):
    """The alerts of one place, a graph's tensor or an output of eager code, in short.

    Attributes:
        alerts: How many there are.
        first: Row of the first.
        last: Row of the last.
        kinds: Row of the first that has just these kinds of bad elements (see `values.bad_kinds`),
            for all that there are.
    """

    alerts: int
    first: int
    last: int
    kinds: Mapping[int, int]


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

    def extend(
        self,
        rows: Int64Array,
        places: Int64Array,
        kinds: npt.NDArray[np.integer],
        slots: Int64Array | None = None,
    ) -> None:
        """Append alerts: their rows, ascending, a number for the place of each, and its slot.

        Args:
            rows: Row of each, ascending; shape [n], as all.
            places: A number for the place of each.
            kinds: The kinds of bad elements of each; see `values.bad_kinds`.
            slots: Output slot of each; None where the place tells it.
        """
        self.rows.extend(rows)
        if slots is not None:
            self.slots.extend(slots)
        order = np.lexsort((kinds, places))  # stable
        places, kinds = places[order], kinds[order]
        is_start = np.ones(len(order), bool)
        is_start[1:] = (places[1:] != places[:-1]) | (kinds[1:] != kinds[:-1])
        starts = np.flatnonzero(is_start)
        counts = np.diff(np.append(starts, len(order)))
        firsts, lasts = rows[order[starts]], rows[order[starts + counts - 1]]
        for place, kind, count, first, last in zip(
            *(
                numbers.tolist()
                for numbers in (places[starts], kinds[starts], counts, firsts, lasts)
            ),
            strict=True,
        ):
            mine = AlertTally(count, first, last, {kind: first})
            before = self._tallies.get(place)
            self._tallies[place] = mine if before is None else _added([before, mine])

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
        yield (
            place,
            _added(
                [
                    AlertTally(
                        tally.alerts,
                        index(log, tally.first),
                        index(log, tally.last),
                        {kinds: index(log, row) for kinds, row in tally.kinds.items()},
                    )
                    for log, view in enumerate(logs)
                    if (tally := view.tallies.get(place)) is not None
                ]
            ),
        )


def _added(tallies: Sequence[AlertTally]) -> AlertTally:
    """Return one tally of several, of one place."""
    kinds: dict[int, int] = {}
    for tally in tallies:
        for found, row in tally.kinds.items():
            kinds[found] = min(row, kinds.get(found, row))
    return AlertTally(
        sum(tally.alerts for tally in tallies),
        min(tally.first for tally in tallies),
        max(tally.last for tally in tallies),
        kinds,
    )
