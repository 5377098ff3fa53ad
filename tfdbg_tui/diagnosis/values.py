"""Counts of NaN, ∞ and so on: how they are compared and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir import TensorSummary

_LABELS = (
    ("nan", "NaN"),
    ("neg_inf", "-∞"),
    ("pos_inf", "+∞"),
    ("neg", "negative"),
    ("zero", "zero"),
    ("pos", "positive"),
)


_ALL_DIGITS = 17  # of a float64


def counts_text(summary: TensorSummary | None) -> str:
    """Return the counts that are not zero: ``3 -∞, 29 zero, 968 negative``.

    Where nothing was counted, as it is finite, the smallest and the largest number.
    """
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
    if summary.has_inf_or_nan:
        return "has NaN or ∞"
    if summary.minimum is None or summary.maximum is None:
        return "all finite"
    ends = dict.fromkeys(f"{end:.4g}" for end in (summary.minimum, summary.maximum))
    return f"all finite, {' to '.join(ends)}"


def bad_elements_text(summary: TensorSummary | None, number: int = 4) -> str:
    """Return where the first bad elements are, and what their indices share.

    For example ``[3, 0], [3, 1] and more: the first 8 in [3, :]``; "" where that is not recorded,
    and where the counts tell it.

    Args:
        summary: What is recorded of the tensor.
        number: How many indices to tell.
    """
    found = summary.bad_elements if summary else ()
    bad = total(summary, "nan")
    if not bad or bad < len(found):  # earlier writers told of infinite elements beside NaN
        bad = total(summary, "nan", "neg_inf", "pos_inf")
    if summary is None or not found or not found[0] or bad == summary.size:
        return ""
    more = bad is None or bad > len(found)
    shown = ", ".join(index_text(place) for place in found[:number])
    text = shown + (" and more" if more or len(found) > number else "")
    shared = _shared(found)
    if not shared:
        return text
    return f"{text}: {f'the first {len(found)}' if more else 'all'} in {shared}"


def _shared(found: Sequence[tuple[int, ...]]) -> str:
    """Return what the indices of elements share: ``[3, :]`` or ``rows 3, 9``; "" for nothing."""
    rows = sorted({place[0] for place in found})
    axes = [axis[0] if len(set(axis)) == 1 else ":" for axis in zip(*found, strict=True)]
    if len(found) == 1 or len(axes) == 1:
        return ""
    if set(axes) != {":"}:
        return index_text(axes)
    return f"rows {', '.join(map(str, rows))}" if len(rows) < len(found) else ""


def index_text(place: Sequence[int | str]) -> str:
    """Return the index of an element, as ``[3, 0]``, or a slice, as ``[3, :]``."""
    return f"[{', '.join(map(str, place))}]"


def told_apart(one: float, other: float, digits: int) -> tuple[str, str]:
    """Return two numbers with as many digits as tell them apart, where they are not equal.

    Args:
        one: A number.
        other: What it is compared with, such as a bound.
        digits: How many digits are enough otherwise.
    """
    for number in range(digits, _ALL_DIGITS):
        texts = f"{one:.{number}g}", f"{other:.{number}g}"
        if texts[0] != texts[1] or one == other:
            return texts
    return repr(one), repr(other)


def counts_dict(summary: TensorSummary | None) -> dict[str, int | None] | None:
    """Return the counts by name, for JSON; None where nothing was recorded."""
    if summary is None:
        return None
    names = ("size", "neg_inf", "pos_inf", "nan", "neg", "zero", "pos")
    return {name: getattr(summary, name) for name in names}


def total(summary: TensorSummary | None, *fields: str) -> int | None:
    """Return the sum of some counts; None where one was not recorded."""
    counts = [getattr(summary, name) for name in fields] if summary else [None]
    return None if None in counts else sum(count or 0 for count in counts)


_OF_NUMBERS = (
    *("size", "has_inf_or_nan", "neg_inf", "pos_inf", "nan", "neg", "zero", "pos"),
    *("minimum", "maximum"),
)
"""What a record may tell of the numbers of a tensor."""


def same_counts(one: TensorSummary, other: TensorSummary) -> bool:
    """Whether two records may be of one tensor: what both tell is the same.

    In ADAPTIVE one may tell more than the other of the same numbers.
    """
    pairs = ((getattr(one, name), getattr(other, name)) for name in _OF_NUMBERS)
    return all(mine == theirs for mine, theirs in pairs if None not in (mine, theirs))


def bad_kinds(summary: TensorSummary | None) -> frozenset[str]:
    """Return which of nan, neg_inf and pos_inf a tensor holds, as far as it is told."""
    names = ("nan", "neg_inf", "pos_inf")
    return frozenset(name for name in names if summary is not None and getattr(summary, name))


def explains(source: TensorSummary | None, kinds: frozenset[str]) -> int:
    """Return how well a bad input accounts for bad values of some kinds: more is better."""
    given = bad_kinds(source)
    infinite = bool(given & {"neg_inf", "pos_inf"})
    score = 2 * len(given & kinds)
    if "nan" in kinds:
        score += 4 if "nan" in given else infinite
    elif kinds:
        score += infinite  # a factor may have changed its sign
    return score


def is_logarithm_of_mask(op_type: str | None, made: TensorSummary | None) -> bool:
    """Whether an op has made -∞ and 0 alone, of a mask of zeros and ones as it seems.

    Args:
        op_type: Its type.
        made: What is on record of its result.
    """
    if op_type != "Log" or made is None or not made.neg_inf or not made.zero:
        return False
    return made.nan == made.pos_inf == made.neg == made.pos == 0
