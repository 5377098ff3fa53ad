"""What an op makes of a bad tensor: a table, of which the first row that fits decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.op_traits import (
    CHECKS,
    COMPARES_AND_ADDS,
    COMPARISONS,
    CONVERTS,
    LEAVES_OUT,
    LIMITS,
    NON_FLOAT_RESULT,
    ONE_TYPE,
    ORDERS,
    SATURATES,
    SUMS,
)
from tfdbg_tui.diagnosis.roots.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.roots.bad_use import BadUse


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        id: Its name; `tests/diagnosis/roots/test_uses.py` has an example of each.
        fits: Whether it decides about a use.
        harmless: With what tolerance the use does no harm.
        why: Why that is so.
    """

    id: str
    fits: Callable[[BadUse], bool]
    harmless: frozenset[Tolerance]
    why: str


_ALWAYS = frozenset(Tolerance)
_NEVER = frozenset[Tolerance]()
_UNLESS_NAN = _ALWAYS - {Tolerance.LEFT_OUT, Tolerance.SATURATED, Tolerance.MARKER}
_IF_ABSORBED = frozenset({Tolerance.ABSORBED, Tolerance.KEPT})
_IF_LOGARITHM = _IF_ABSORBED | {Tolerance.LOGARITHM}
_IF_KEPT = frozenset({Tolerance.KEPT})

USES = (
    # What is known of the op by its type.
    Row(
        "dropped",
        lambda use: use.op_type in CHECKS and use.is_of_dropped_element,
        _ALWAYS,
        "the dataset leaves out the element of which the op raises an error",
    ),
    Row("checked", lambda use: use.op_type in CHECKS, _NEVER, "the op raises an error"),
    Row(
        "value-does-not-matter",
        lambda use: use.op_type in NON_FLOAT_RESULT,
        _ALWAYS,
        "the result does not depend on the values, or tells whether they are finite",
    ),
    Row(
        "bound-compared",
        lambda use: use.op_type in COMPARISONS and use.is_bound,
        _ALWAYS,
        "the program has set the bound that it compares",
    ),
    Row(
        "decides-about-itself",
        lambda use: use.op_type in COMPARISONS and use.decides_about_itself,
        _ALWAYS,
        "the program replaces ∞ where it compares it",
    ),
    Row(
        "decides-about-bad-elements",
        lambda use: use.op_type in COMPARISONS and use.decides_about_bad_elements,
        _ALWAYS,
        "what is taken where NaN was compared is bad as well, and looked at by itself",
    ),
    Row(
        "guarded",
        lambda use: use.op_type in COMPARISONS and use.is_guarded,
        _ALWAYS,
        "another answer about the number has left the element out",
    ),
    Row(
        "candidate",
        lambda use: use.op_type in COMPARISONS and use.is_left_out_candidate,
        _ALWAYS,
        "the best number so far is kept in its place, and looked at by itself",
    ),
    Row(
        "filtered",
        lambda use: use.op_type in COMPARISONS and use.decides_about_element,
        _ALWAYS,
        "an element that a dataset's filter lets pass is looked at by itself",
    ),
    Row(
        "compared",
        lambda use: use.op_type in COMPARISONS,
        _UNLESS_NAN,
        "∞ compares like any other number, NaN does not",
    ),
    Row(
        "assigned",
        lambda use: assigns(use.op_type),
        frozenset({Tolerance.KEPT, Tolerance.MARKER}),
        "it stays in the variable, and what is read of that is looked at by itself",
    ),
    Row(
        "goes-into-function",
        lambda use: use.goes_into_function,
        _ALWAYS,
        "what is done with it inside is looked at by itself",
    ),
    # What the op made is not on record.
    Row(
        "goes-into-list",
        lambda use: use.unseen and use.goes_into_read_list,
        _ALWAYS,
        "what is read from the list is looked at by itself",
    ),
    Row(
        "goes-into-dataset",
        lambda use: use.unseen and "Dataset" in use.op_type,
        _UNLESS_NAN | {Tolerance.MARKER},
        "∞, or NaN as a default or padding: elements that have it are looked at by themselves",
    ),
    Row(
        "comes-again",
        lambda use: use.unseen and use.comes_again,
        _ALWAYS,
        "what comes of it outside, or in the gradient, is looked at by itself",
    ),
    Row(
        "discarded",
        lambda use: use.unseen and use.is_discarded,
        _ALWAYS,
        "what a loop or a branch gives there is taken by nobody",
    ),
    Row(
        "unseen-number",
        lambda use: use.unseen and use.op_type in ONE_TYPE,
        _IF_ABSORBED,
        "the op made a number of it, perhaps a finite one",
    ),
    Row(
        "ended-before",
        lambda use: use.unseen and use.ended_before,
        _ALWAYS,
        "the program ended before the op ran",
    ),
    Row(
        "handed-on",
        lambda use: use.unseen and use.op_type in CONVERTS and not use.is_bounded_later,
        _IF_KEPT,
        "whoever gets the integer, the bits or the text has ∞ in it",
    ),
    Row(
        "ordered",
        lambda use: use.unseen and use.op_type in ORDERS and use.has_place_in_order,
        _ALWAYS,
        "one ∞ is before or after all other elements, where it belongs",
    ),
    Row(
        "becomes-no-float",
        lambda use: use.unseen and use.becomes_no_float,
        _UNLESS_NAN,
        "∞ gives an index, a sample or a condition as any large number does",
    ),
    Row(
        "doubtful",
        lambda use: use.doubtful,
        _IF_KEPT,
        "there is no record, or it may be of another call, or does not tell whether it is bad",
    ),
    # What the op made is on record.
    Row(
        "loses-numerators",
        lambda use: use.loses_numerators,
        _NEVER,
        "finite numbers that are divided by an infinite sum are all lost",
    ),
    Row(
        "bad-again",
        lambda use: use.is_bad_again,
        _ALWAYS,
        "the op's output is an alert of its own, which is looked at as well",
    ),
    Row(
        "gradient-of-it",
        lambda use: use.is_in_its_gradient,
        _ALWAYS,
        "it had no part in the result where its gradient is finite, or its other uses tell",
    ),
    Row(
        "left-out",
        lambda use: use.op_type in LEAVES_OUT,
        _ALWAYS,
        "a program leaves NaN out by such an op on purpose",
    ),
    Row(
        "limit",
        lambda use: use.op_type in LIMITS and not use.may_be_nan,
        _ALWAYS,
        "the op is asked for its limit at ∞",
    ),
    Row(
        "saturated",
        lambda use: use.op_type in SATURATES,
        _IF_LOGARITHM | {Tolerance.SATURATED},
        "the op gives the same for any large number: exp(-x * x) is 0",
    ),
    Row(
        "reciprocal",
        lambda use: use.is_reciprocal,
        _IF_ABSORBED | {Tolerance.DIVIDED_BY, Tolerance.SATURATED},
        "a constant divided by any number that is so large is 0: 1 / (1 + x * x)",
    ),
    Row(
        "divided-by",
        lambda use: use.divides_by_it,
        _IF_ABSORBED | {Tolerance.DIVIDED_BY},
        "a number divided by ∞ is 0, as it is meant in 1 / (1/a + 1/b)",
    ),
    Row(
        "of-logarithm",
        lambda use: use.op_type in COMPARES_AND_ADDS | SUMS,
        _IF_LOGARITHM,
        "log(0) is as good as any number to who adds or compares it",
    ),
    Row("absorbed", lambda _: True, _IF_ABSORBED, "the op has made finite numbers of ∞"),
)


def does_no_harm(use: BadUse) -> bool:
    """Whether what an op has made of a bad tensor is as good as of a finite one."""
    row = next(row for row in USES if row.fits(use))
    return use.tolerance in row.harmless
