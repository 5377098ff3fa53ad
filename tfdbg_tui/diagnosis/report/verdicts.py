"""What a report says of a run, or of a job, in one word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def verdict_word(verdict: str, problems: Sequence[str]) -> str:
    """Return a verdict for a cell or title: "clean?" where that holds only as far as is told.

    Args:
        verdict: The verdict.
        problems: What is wrong with the files of what it is on, or not known of them.
    """
    return "clean?" if verdict == "clean" and problems else verdict
