"""The tests that rules are made of.

A test says *proved* only where counts or the op's definition leave no other way.  TensorFlow counts
denormal numbers as zeros, and its kernels treat them so: the identities hold for them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.op_traits import MOVES, SOURCES
from tfdbg_tui.diagnosis.rules.model import Case, Certainty, Input, Match
from tfdbg_tui.diagnosis.values import told_apart, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir import TensorSummary

    Test = Callable[[Case], Match | None]

_NAMES = {
    "zero": ("zero", "zeros"),
    "neg": ("negative number", "negative numbers"),
    "pos": ("positive number", "positive numbers"),
    "nan": ("NaN", "NaN"),
    "neg_inf": ("-∞", "-∞"),
    "pos_inf": ("+∞", "+∞"),
}


def amount(count: int, field: str) -> str:
    """Return a count in words: ``3 zeros``."""
    return f"{count:,} {_NAMES[field][count != 1]}"


def bad_out(case: Case) -> str:
    """Return what is bad about the result: ``2 -∞ and 1 NaN of 64 elements``."""
    return bad_values(case.out)


def bad_values(summary: TensorSummary) -> str:
    """Return the same of any tensor."""
    kinds = _counted(summary, "nan", "neg_inf", "pos_inf")
    size = f" of {summary.size:,}" if summary.size is not None else ""
    return (kinds or "NaN or ∞") + size


def _counted(summary: TensorSummary, *fields: str) -> str:
    return " and ".join(amount(count, name) for name in fields if (count := getattr(summary, name)))


def known(case: Case, certainty: Certainty) -> Certainty:
    """Return the certainty, lowered where it rests on a link that is only inferred."""
    return "likely" if certainty == "proved" and case.inferred else certainty


def identity(
    source: str, *results: str, slot: int = 0, definite: bool = False, overflows: bool = False
) -> Test:
    """Test for: as many `source` values in an input as `results` in the output, element by element.

    Args:
        source: Name of a count of the input.
        results: Names of counts of the output, added up.
        slot: The input.
        definite: Whether by the op's definition these results cannot come from anything else, not
            even from a bad input.
        overflows: Whether numbers too large or too small can give these results as well.
    """

    def test(case: Case) -> Match | None:
        made = total(case.out, *results)
        if made is None:
            return _untold(case)
        if not made:
            return None
        # The reciprocal of a denormal float16 is beyond float16, too.
        forced = definite and case.out.dtype != "float16"
        given = total(case.summary(slot), source)
        out = f"{_counted(case.out, *results)} out"
        if given is None:
            match = _from_definition(case, source, out, forced=forced)
            return match.doubted() if overflows or definite is not forced else match
        if not given:
            wrong = case.input(slot)
            if definite and wrong is not None and wrong.inferred:
                # The link was a conclusion, and the op's definition says that it is a wrong one.
                return _from_definition(case, source, out, forced=forced)
            return None
        sentence = f"{amount(given, source)} in → {out}"
        if given == made and case.out.size == _size(case.summary(slot)):
            return Match("proved" if forced else known(case, _if_finite(case)), sentence)
        return Match("likely", sentence)

    return test


def _from_definition(case: Case, source: str, out: str, *, forced: bool) -> Match:
    only = f"{out}: only {_NAMES[source][1]} in give that"
    if forced:
        return Match("proved", f"{only} (the input's counts were not recorded)")
    if case.finite:
        return Match(known(case, "proved"), f"{only}, as the input is finite")
    return Match("likely", f"{out}; the input was not recorded")


def _untold(case: Case) -> Match | None:
    """Return what a dump says that only tells bad from good (CURT_HEALTH)."""
    if not case.out.has_inf_or_nan:
        return None
    given = "finite in" if case.finite else "input not recorded"
    return Match("likely", f"{given} → NaN or ∞ out; this dump does not count them")


def _if_finite(case: Case) -> Certainty:
    return "proved" if case.finite else "likely"


def _size(summary: TensorSummary | None) -> int | None:
    return summary.size if summary else None


def outside(domain: str, *results: str, forced: bool = False) -> Test:
    """Test for: results that a function gives only outside of its domain.

    Args:
        domain: What the input must have been, for the evidence: ``below -1``.
        results: Names of counts of the output.
        forced: Whether bad inputs cannot give them either.
    """

    def test(case: Case) -> Match | None:
        made = total(case.out, *results)
        if made is None:
            return _untold(case)
        if not made:
            return None
        given = case.summary(0)
        if not forced and given is not None and given.has_inf_or_nan:
            return None  # Of what is bad already, the op need not have been given anything else.
        sentence = f"{bad_out(case)} out of {case.op_type}: the input was {domain} there"
        if given is not None and given.minimum is not None and given.maximum is not None:
            # The ends of domains are whole numbers.
            low, high = (told_apart(x, round(x), 6)[0] for x in (given.minimum, given.maximum))
            sentence += f" (it runs from {low} to {high})"
        if forced:
            return Match("proved", sentence)
        if case.finite:
            return Match(known(case, "proved"), f"{sentence}; it is finite")
        return Match("likely", f"{sentence}, if it was finite: it was not recorded")

    return test


def overflow(*, nan: bool = False) -> Test:
    """Test for: finite inputs, an infinite result.  Tells how it grew in the steps before.

    Args:
        nan: Whether a result with NaN fits as well: partial sums overflowed to +∞ and to -∞.
    """

    def test(case: Case) -> Match | None:
        infinite = total(case.out, "pos_inf", "neg_inf")
        if infinite is None:
            match = _untold(case)
            return match if case.finite else None
        if case.out.nan and not nan:
            return None
        if not infinite and not (nan and case.out.nan):
            return None
        limit = (
            f"the largest {case.out.dtype} is {_LIMITS[case.out.dtype]}"
            if (case.out.dtype in _LIMITS)
            else "beyond the largest number of its type"
        )
        before = case.growth or case.steady
        grown = f"; {before}" if before else ""
        sentence = f"finite in → {bad_out(case)} out; {limit}{grown}"
        if not case.finite or case.op_type in MOVES | SOURCES:
            return None
        if case.out.nan:
            return Match("likely", sentence)
        return Match(known(case, "proved"), sentence)

    return test


def infinite_out(case: Case) -> Match | None:
    """Test for: an infinite result of an input that left no record, but is not known to be bad."""
    if case.bad_input or case.out.nan or not total(case.out, "pos_inf", "neg_inf"):
        return None
    return Match("likely", f"{bad_out(case)} out; the input left no record")


_LIMITS = {
    "float16": "65504",
    "bfloat16": "3.39e38",
    "float32": "3.4e38",
    "float64": "1.8e308",
    "float8_e4m3fn": "448",
    "float8_e5m2": "57344",
}


def zero_denominator(*, numerator_zero: bool | None = None, slot: int = 1) -> Test:
    """Test for: every zero of the denominator makes its share of the result bad, and no other.

    Args:
        numerator_zero: True for only NaN (0 / 0), False for at least one ∞, None for either.
        slot: Which input is the denominator.
    """

    def test(case: Case) -> Match | None:
        out, below = case.out, case.summary(slot)
        bad = total(out, "nan", "pos_inf", "neg_inf")
        above = case.summary(1 - slot)
        if bad is None or not bad or (above is not None and above.has_inf_or_nan):
            return None
        only_nan = not total(out, "pos_inf", "neg_inf")
        if numerator_zero is not None and numerator_zero != only_nan:
            return None
        zeros = total(below, "zero")
        if zeros is None and only_nan and case.finite:
            sentence = f"{bad_out(case)} out: only 0 / 0 gives that, as both are finite"
            return Match(known(case, "proved"), sentence)
        if zeros is None and below is not None and 0.0 in (below.minimum, below.maximum):
            return Match("likely", f"0 in the denominator → {bad_out(case)} out")
        if zeros is None or below is None or not below.size or out.size is None:
            return None
        if not zeros:
            return None
        sentence = f"{amount(zeros, 'zero')} in the denominator → {bad_out(case)} out"
        share, rest = divmod(out.size, below.size)
        if not rest and zeros * share == bad:
            denominator = case.input(slot)
            inferred = denominator is not None and denominator.inferred
            return Match("likely" if inferred else "proved", sentence)
        return Match("likely", sentence)

    return test


def unrecorded_denominator(case: Case) -> Match | None:
    """Test for: a finite numerator, a denominator without record, ∞ and no NaN."""
    given = case.inputs
    if len(given) < 2 or not given[0].finite or given[1].summary is not None:
        return None
    if case.out.nan or not total(case.out, "pos_inf", "neg_inf"):
        return None
    return Match(
        "likely", f"finite numerator → {bad_out(case)} out; {given[1].name} left no record"
    )


def empty(*results: str) -> Test:
    """Test for: a reduction of a tensor without elements."""

    def test(case: Case) -> Match | None:
        made = total(case.out, *results)
        given = case.summary(0)
        if not made or given is None or given.size != 0:
            return None
        return Match(known(case, "proved"), f"0 elements in → {bad_out(case)} out")

    return test


def finite_in() -> Test:
    """Test for: all inputs finite, the result not; and nothing else is known."""

    def test(case: Case) -> Match | None:
        if not case.finite or not case.inputs:
            return None
        return Match("observed", f"finite in → {bad_out(case)} out")

    return test


def comes_in(sentence: str, certainty: Certainty = "proved") -> Test:
    """Test for: an op that computes nothing: what is bad in its result came in from outside."""

    def test(case: Case) -> Match | None:
        told = certainty if case.out.nan is not None else "likely"
        return Match(told, f"{bad_out(case)} elements; {sentence}")

    return test


def also(test: Test, *conditions: Callable[[Case], bool]) -> Test:
    """Return a test that wants further conditions to hold; they do not change the certainty."""

    def both(case: Case) -> Match | None:
        return test(case) if all(condition(case) for condition in conditions) else None

    return both


def either(*tests: Test) -> Test:
    """Return a test for the first of several that fits."""

    def first(case: Case) -> Match | None:
        return next((match for t in tests if (match := t(case)) is not None), None)

    return first


def downgraded(test: Test, unless: Callable[[Case], bool] = lambda case: False) -> Test:
    """Return a test whose answer is no proof, unless a condition holds."""

    def lower(case: Case) -> Match | None:
        match = test(case)
        return match.doubted() if match is not None and not unless(case) else match

    return lower


def none(field: str, *, slot: int = 0) -> Callable[[Case], bool]:
    """Condition: an input is known to hold no values of a kind."""
    return lambda case: total(case.summary(slot), field) == 0


def only(field: str, *, slot: int = 0) -> Callable[[Case], bool]:
    """Condition: all values of an input are known to be of a kind."""

    def condition(case: Case) -> bool:
        given = case.summary(slot)
        return given is not None and given.size is not None and total(given, field) == given.size

    return condition


def made_by(*op_types: str, slot: int = 0) -> Callable[[Case], bool]:
    """Condition: an input was made by an op of one of these types."""

    def condition(case: Case) -> bool:
        given = case.input(slot)
        return given is not None and given.op_type in op_types

    return condition


def behind(*op_types: str, slot: int = 0, depth: int = 2) -> Callable[[Case], bool]:
    """Condition: ops of these types are among those that an input was made from.

    Args:
        *op_types: The op types.
        slot: Which input.
        depth: How many ops further back are looked at.
    """

    def condition(case: Case) -> bool:
        given = case.input(slot)
        return given is not None and _any_behind(given, op_types, depth)

    return condition


def _any_behind(given: Input, op_types: tuple[str, ...], depth: int) -> bool:
    if given.op_type in op_types:
        return True
    return depth > 0 and any(_any_behind(g, op_types, depth - 1) for g in given.made_from)


def used_by(*op_types: str) -> Callable[[Case], bool]:
    """Condition: the result is used by ops of these types, one after the other."""
    return lambda case: case.used_by(*op_types)


def in_backward(case: Case) -> bool:
    """Condition: the op belongs to a gradient."""
    return case.backward


def in_optimizer(case: Case) -> bool:
    """Condition: the op belongs to the step of an optimizer, or to its learning rate."""
    return case.optimizer


def gradient_of(*op_types: str) -> Callable[[Case], bool]:
    """Condition: the op belongs to the gradient of an op of one of these types."""
    return lambda case: case.gradient_of in op_types


def in_forward(case: Case) -> bool:
    """Condition: the op does not belong to a gradient."""
    return not case.backward


def named(*parts: str) -> Callable[[Case], bool]:
    """Condition: one of these is in the op's name, which Keras builds from the layer's."""

    def condition(case: Case) -> bool:
        name = (case.op_name or "").lower()
        return any(part in name for part in parts)

    return condition


def of_dtype(*names: str) -> Callable[[Case], bool]:
    """Condition: the result is of one of these types."""
    return lambda case: case.out.dtype in names
