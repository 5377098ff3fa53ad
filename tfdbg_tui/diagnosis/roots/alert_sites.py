"""Alerts by place: a graph tensor or a line of eager code that keeps making bad tensors is one.

A run may have tens of millions of alerts and has, at most, thousands of places.  Everything
that costs time is done once for each place, at its first alert.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import Kind, TensorEvent
from tfdbg_tui.logdir.index.output_place import OutputPlace
from tfdbg_tui.logdir.values.bad_kinds import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfdbg_tui.logdir import Run, TensorSummary
    from tfdbg_tui.logdir.index.alert_log import AlertTally
    from tfdbg_tui.logdir.index.columns import Int64Array, IntArray

    Summaries = Callable[[TensorEvent], TensorSummary | None]

AlertPlace = tuple[Kind, int, int]
"""What alerts of one place have in common: kind of event; site; or execution kind and stack."""


@dataclass(eq=False, slots=True)
class AlertSite:
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

    place: AlertPlace
    slot: int
    first: TensorEvent
    last: TensorEvent
    alerts: int
    kinds: frozenset[str]


def place_of(run: Run, event: TensorEvent) -> AlertPlace:
    """Return the place that made a tensor."""
    if event.kind == "graph_execution":
        return event.kind, run.graph_executions.site_ids[event.index], 0
    executions = run.executions
    return event.kind, executions.kinds[event.index], executions.stack_ids[event.index]


def alert_sites(run: Run) -> list[AlertSite]:
    """Return all places with alerts.

    A place that makes -∞ at first, perhaps on purpose, and NaN later counts as two from then on.
    """
    return [
        part
        for place, slot, tally in (*_of_graphs(run), *_of_executions(run))
        for part in _split(run, place, slot, tally)
    ]


def recount(run: Run, sites: Sequence[AlertSite]) -> dict[AlertSite, AlertSite] | None:
    """Return each place as it is now that the run has grown.

    Args:
        run: The run, as it is now.
        sites: The places, as they were.

    Returns:
        By the place as it was; None where there is more to say than how many alerts there are:
        about another place, or another kind of bad values.
    """
    parts: dict[tuple[AlertPlace, int], list[AlertSite]] = {}
    for site in sorted(sites, key=lambda site: site.first.index):
        parts.setdefault((site.place, site.slot), []).append(site)
    grown: dict[AlertSite, AlertSite] = {}
    found = (*_of_graphs(run), *_of_executions(run))
    if len(found) != len(parts):
        return None
    for place, slot, tally in found:
        earlier, newest = parts.get((place, slot), ()), TensorEvent(place[0], tally.last, slot)
        if not earlier or earlier[0].first.index != tally.first:
            return None
        known = frozenset().union(*(part.kinds for part in earlier))
        if not frozenset().union(*map(names_of, tally.kinds)) <= known:
            return None
        *before, last = earlier
        grown.update({part: part for part in before})
        alerts = tally.alerts - sum(part.alerts for part in before)
        grown[last] = replace(last, last=newest, alerts=alerts)
    return grown


def _of_graphs(run: Run) -> Iterator[tuple[AlertPlace, int, AlertTally]]:
    traces = run.graph_executions
    for site_id, tally in traces.alert_sites():
        yield ("graph_execution", site_id, 0), traces.site_by_id(site_id).output_slot, tally


def _of_executions(run: Run) -> Iterator[tuple[AlertPlace, int, AlertTally]]:
    for (kind, stack, slot), tally in run.executions.bad_places():
        yield ("execution", kind, stack), slot, tally


def _split(run: Run, place: AlertPlace, slot: int, tally: AlertTally) -> Iterator[AlertSite]:
    """Yield a place, in parts where it is bad in a way in which it was not before."""
    starts: dict[int, frozenset[str]] = {}
    seen: frozenset[str] = frozenset()
    for kinds, row in sorted(tally.kinds.items(), key=lambda found: found[1]):
        new = names_of(kinds) - seen
        if new or not starts:
            starts[row] = new
            seen |= new
    if len(starts) == 1:
        rows, edges = np.array([tally.first, tally.last]), [0, 2]
        counts = [tally.alerts]
    else:
        rows = _rows_of(run, place, slot)
        edges = [*np.searchsorted(rows, list(starts)).tolist(), len(rows)]
        counts = np.diff(edges).tolist()
    for kinds_of_part, begin, end, alerts in zip(
        starts.values(), edges[:-1], edges[1:], counts, strict=True
    ):
        first, last = (TensorEvent(place[0], int(rows[at]), slot) for at in (begin, end - 1))
        yield AlertSite(place, slot, first, last, alerts, kinds_of_part)


def parted(run: Run, site: AlertSite, row: int) -> tuple[AlertSite, AlertSite]:
    """Return a place before one of its alerts, and from that one on.

    Args:
        run: The run.
        site: The place.
        row: Row of the alert; it is not the first.
    """
    rows = _rows_of(run, site.place, site.slot)
    rows = rows[(rows >= site.first.index) & (rows <= site.last.index)]
    at = int(np.searchsorted(rows, row))
    before, first = (TensorEvent(site.place[0], int(rows[i]), site.slot) for i in (at - 1, at))
    return (
        replace(site, last=before, alerts=at),
        replace(site, first=first, alerts=len(rows) - at),
    )


def alerts_of(run: Run, kind: Kind, sites: Iterable[AlertSite]) -> Int64Array:
    """Return which alerts of a kind of event are of some places, by `alert_rows`; looks at all.

    Args:
        run: The run.
        kind: The kind of event.
        sites: The places.
    """
    mine = sorted(
        (_number(site.place, site.slot), site.first.index, site.last.index)
        for site in sites
        if site.place[0] == kind
    )
    if not mine:
        return np.zeros(0, np.int64)
    places, firsts, lasts = np.array(mine, np.int64).T
    # A place may be there twice: what it was at first, and what it became.
    places, starts = np.unique(places, return_index=True)
    firsts, lasts = firsts[starts], lasts[np.append(starts[1:], len(mine)) - 1]
    found, before = [], 0
    for rows, numbers in _alerts_by_place(run, kind):
        at = np.minimum(places.searchsorted(numbers), len(places) - 1)
        wanted = (places[at] == numbers) & (rows >= firsts[at]) & (rows <= lasts[at])
        found.append(np.flatnonzero(wanted) + before)
        before += len(rows)
    return np.concatenate(found)


def _rows_of(run: Run, place: AlertPlace, slot: int) -> Int64Array:
    number = _number(place, slot)
    found = [rows[numbers == number] for rows, numbers in _alerts_by_place(run, place[0])]
    return np.concatenate(found)


def _number(place: AlertPlace, slot: int) -> int:
    """Return the number that stands for a place among those of its kind."""
    kind, number, stack = place
    if kind == "graph_execution":
        return number
    return int(OutputPlace(number, stack, slot).number)


def _alerts_by_place(run: Run, kind: Kind) -> Iterator[tuple[IntArray, Int64Array]]:
    """Yield the rows of all alerts of a kind, ascending, and the number of each one's place.

    They come in parts, so that not all of them are in memory at once.
    """
    if kind == "graph_execution":
        for _, rows in run.graph_executions.alert_rows.blocks():
            yield rows, run.graph_executions.site_ids.take(rows)
        return
    executions = run.executions
    slots = (block.astype(np.int64) for _, block in executions.alert_slots.blocks())
    for (_, rows), slot in zip(executions.alert_rows.blocks(), slots, strict=True):
        kinds, stacks = executions.kinds.take(rows), executions.stack_ids.take(rows)
        yield rows, OutputPlace(kinds, stacks, slot).number
