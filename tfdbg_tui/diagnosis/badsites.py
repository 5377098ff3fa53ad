"""Alerts by place: a graph tensor or a line of eager code that keeps making bad tensors is one.

A run may have hundreds of thousands of alerts and has, at most, thousands of places.  Everything
that costs time is done once for each place, at its first alert.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import Kind, TensorEvent
from tfdbg_tui.diagnosis.values import bad_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.logdir import Run, TensorSummary
    from tfdbg_tui.logdir.columns import Int64Array

    Summaries = Callable[[TensorEvent], TensorSummary | None]

Place = tuple[str, int, int]
"""What alerts of one place have in common: kind of event; site; or execution kind and stack."""


@dataclass(eq=False, slots=True)
class BadSite:
    """A place that makes bad tensors, from its first alert on.

    Attributes:
        place: The place.
        slot: Output slot.
        first: Its first alert.
        last: Its last alert.
        alerts: Number of its alerts.
        kinds: What is bad about the first one: nan, neg_inf, pos_inf; if the place was bad in
            another way before, what is new.
    """

    place: Place
    slot: int
    first: TensorEvent
    last: TensorEvent
    alerts: int
    kinds: frozenset[str]


def bad_sites(run: Run, summaries: Summaries) -> list[BadSite]:
    """Return all places with alerts.

    A place that makes -∞ at first, perhaps on purpose, and NaN later counts as two from then on.
    """
    return [
        part
        for place, slot, kind, rows in (*_of_graphs(run), *_of_executions(run))
        for part in _split(place, slot, kind, rows, summaries)
    ]


Group = tuple[Place, int, Kind, "Int64Array"]


def _of_graphs(run: Run) -> Iterator[Group]:
    traces = run.graph_executions
    rows = traces.alert_rows
    for site_id, members in _groups(traces.site_ids.take(rows)):
        slot = traces.site_by_id(site_id).output_slot
        yield ("graph_execution", site_id, 0), slot, "graph_execution", rows[members]


def _of_executions(run: Run) -> Iterator[Group]:
    executions = run.executions
    rows = executions.alert_rows
    if not len(rows):
        return
    keys = np.stack(
        [executions.alert_slots, executions.stack_ids.take(rows), executions.kinds.take(rows)]
    )
    order = np.lexsort(keys)
    changes = np.flatnonzero((np.diff(keys[:, order]) != 0).any(axis=0)) + 1
    for members in np.split(order, changes):
        slot, stack, kind = keys[:, members[0]].tolist()
        yield ("execution", kind, stack), slot, "execution", rows[members]


def _groups(numbers: Int64Array) -> Iterator[tuple[int, Int64Array]]:
    """Yield each number with the positions where it is, ascending."""
    if not len(numbers):
        return
    order = np.argsort(numbers, kind="stable")
    changes = np.flatnonzero(np.diff(numbers[order])) + 1
    for members in np.split(order, changes):
        yield int(numbers[members[0]]), members


def _split(
    place: Place, slot: int, kind: Kind, rows: Int64Array, summaries: Summaries
) -> Iterator[BadSite]:
    def event(position: int) -> TensorEvent:
        return TensorEvent(kind, int(rows[position]), slot)

    def kinds(position: int) -> frozenset[str]:
        return bad_kinds(summaries(event(position)))

    last = len(rows) - 1
    usual, final = kinds(0), kinds(last)
    if final <= usual:
        yield BadSite(place, slot, event(0), event(last), len(rows), usual)
        return
    low, high = 0, last  # nothing new at low, something at high
    while high - low > 1:
        middle = (low + high) // 2
        if kinds(middle) <= usual:
            low = middle
        else:
            high = middle
    yield BadSite(place, slot, event(0), event(low), high, usual)
    new = kinds(high) - usual
    yield BadSite(place, slot, event(high), event(last), len(rows) - high, new)
