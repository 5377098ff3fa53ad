"""Which kinds of bad elements a tensor holds, as bits of a number: an index has one an alert."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.logdir.events import TensorSummary

NEG_INF, POS_INF, NAN = 1, 2, 4
UNTOLD = 8
"""That some are bad, and not of which kind."""

_NAMES = {NEG_INF: "neg_inf", POS_INF: "pos_inf", NAN: "nan"}


def kinds_of(summary: TensorSummary | None) -> int:
    """Return the kinds that a tensor holds; 0 if none is known."""
    if summary is None or not summary.bad:
        return 0
    return sum(bit for bit, name in _NAMES.items() if getattr(summary, name)) or UNTOLD


def names_of(kinds: int) -> frozenset[str]:
    """Return the names of kinds in a `TensorSummary`."""
    return frozenset(name for bit, name in _NAMES.items() if kinds & bit)
