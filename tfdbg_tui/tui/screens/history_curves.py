"""The curves that History has of one tensor besides that of its largest magnitude."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.tui.widgets import curves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.diagnosis import History
    from tfdbg_tui.logdir import TensorSummary
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Line

_READ = 400  # records that are read for curves: as many as there are dots across a wide screen
_NO_EXTREMES = "No curve: no smallest and largest numbers of it are on record."
_NO_SHARES = "No curve: no shares of NaN, infinities and zeros are on record."


def draw_extremes(
    snapshot: Snapshot,
    history: History,
    places: curves.Floats,
    limit: float | None,
    size: tuple[int, int],
    charset: Charset,
) -> list[Line]:
    """Return the curves of the largest and the smallest number, which is the lower one.

    Args:
        snapshot: The run.
        history: The tensor.
        places: Where each of its computations is on the axis.
        limit: The largest number of its type; None if it is not known.
        size: Cells across and down.
        charset: The characters to draw with.
    """
    read = _records(snapshot, history)
    largest = _curve(read, places, lambda summary: summary.maximum)
    smallest = _curve(read, places, lambda summary: summary.minimum, is_lower=True)
    if np.isnan(largest.numbers).all():
        return [((_NO_EXTREMES, "dim"),)]
    return curves.draw([largest, smallest], 0, limit, size, charset)


def draw_shares(
    snapshot: Snapshot,
    history: History,
    places: curves.Floats,
    size: tuple[int, int],
    charset: Charset,
) -> list[Line]:
    """Return the curve of the share of NaN and infinities, and below it that of zeros.

    Args:
        snapshot: The run.
        history: The tensor.
        places: Where each of its computations is on the axis.
        size: Cells across and down.
        charset: The characters to draw with.
    """
    read = _records(snapshot, history)
    shown = {
        "NaN and infinities, % of the elements": _curve(read, places, _bad_share),
        "zeros, % of the elements": _curve(read, places, lambda one: _share(one, zeros_of(one))),
    }
    shown = {title: one for title, one in shown.items() if not np.isnan(one.numbers).all()}
    if not shown:
        return [((_NO_SHARES, "dim"),)]
    part = size[0], size[1] // len(shown) - 1
    return [
        line
        for title, one in shown.items()
        for line in (((f" {title}", "dim"),), *curves.draw([one], 0, None, part, charset))
    ]


def _records(snapshot: Snapshot, history: History) -> dict[int, TensorSummary]:
    """Return the records of some computations by their position: of long histories not of all."""
    told = np.flatnonzero(history.bad | ~np.isnan(history.largest))
    positions = sorted({*_sampled(np.arange(len(history))), *_sampled(told)})
    found = {at: snapshot.summary(history.event(at)) for at in positions}
    return {at: summary for at, summary in found.items() if summary is not None}


def _sampled(positions: curves.Indices) -> list[int]:
    """Return as many positions as are read, the first and the last among them."""
    which = np.linspace(0, len(positions) - 1, min(len(positions), _READ)).astype(np.int64)
    some: list[int] = positions[which].tolist()
    return some


def _curve(
    read: dict[int, TensorSummary],
    places: curves.Floats,
    number: Callable[[TensorSummary], float | None],
    *,
    is_lower: bool = False,
) -> curves.Curve:
    """Return a curve of what records tell.

    Args:
        read: The records by position.
        places: Where each position is on the axis.
        number: What is drawn of a record; None where it does not tell that.
        is_lower: See `curves.Curve`.
    """
    numbers = [number(summary) for summary in read.values()]
    drawn = np.array([np.nan if one is None else one for one in numbers], np.float64)
    return curves.Curve(places[list(read)], drawn, is_lower)


def _bad_share(summary: TensorSummary) -> float | None:
    counts: Sequence[int | None] = (summary.nan, summary.neg_inf, summary.pos_inf)
    known = [count for count in counts if count is not None]
    return _share(summary, sum(known)) if len(known) == len(counts) else None


def zeros_of(summary: TensorSummary) -> int | None:
    """Return how many elements are 0, also where only the smallest and the largest tell so."""
    least, most = summary.minimum, summary.maximum
    if summary.zero is not None or least is None or most is None:
        return summary.zero
    if least > 0 or most < 0:
        return 0
    counts: Sequence[int | None] = (summary.nan, summary.neg_inf, summary.pos_inf)
    bad = [count for count in counts if count is not None]
    all_known = len(bad) == len(counts) and summary.size is not None
    return (summary.size or 0) - sum(bad) if least == most == 0 and all_known else None


def _share(summary: TensorSummary, count: int | None) -> float | None:
    """Return a count in percent of the elements; None where it is not on record."""
    return 100 * count / summary.size if count is not None and summary.size else None
