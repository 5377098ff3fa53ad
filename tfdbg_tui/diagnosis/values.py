"""Counts of NaN, ∞ and so on: how they are compared and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.logdir import TensorSummary

_LABELS = (
    ("nan", "NaN"),
    ("neg_inf", "-∞"),
    ("pos_inf", "+∞"),
    ("neg", "negative"),
    ("zero", "zero"),
    ("pos", "positive"),
)


def counts_text(summary: TensorSummary | None) -> str:
    """Return the counts that are not zero: ``3 -∞, 29 zero, 968 negative``."""
    if summary is None:
        return "not recorded"
    parts = [
        f"{count:,} {label}"
        for name, label in _LABELS
        if (count := getattr(summary, name)) is not None and count
    ]
    if parts:
        return ", ".join(parts)
    if summary.size == 0:
        return "empty"
    if summary.has_inf_or_nan is None:
        return "values not recorded"
    return "has NaN or ∞" if summary.has_inf_or_nan else "all finite"


def counts_dict(summary: TensorSummary | None) -> dict[str, int | None] | None:
    """Return the counts by name, for JSON; None where nothing was recorded."""
    if summary is None:
        return None
    names = ("size", "neg_inf", "pos_inf", "nan", "neg", "zero", "pos")
    return {name: getattr(summary, name) for name in names}


def explains(source: TensorSummary | None, result: TensorSummary | None) -> int:
    """Return how well a bad input's values account for a bad result's: more is better."""
    if source is None or result is None:
        return 0
    score = 0
    if result.nan and source.nan:
        score += 2
    if (result.pos_inf or result.neg_inf) and (source.pos_inf or source.neg_inf):
        score += 1
    return score
