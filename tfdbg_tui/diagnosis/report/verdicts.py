"""What a report says of a run, or of a job, in one word."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["clean", "bad", "suspect", "incomplete"]


def verdict_of(*, bad: bool, incomplete: bool, suspect: bool) -> Verdict:
    """Return the verdict: NaN or ∞ first, then what is not on record, then silent defects.

    Args:
        bad: Whether there are roots.
        incomplete: Whether something is not on record.
        suspect: Whether there are suspects.
    """
    if bad:
        return "bad"
    if incomplete:
        return "incomplete"
    return "suspect" if suspect else "clean"
