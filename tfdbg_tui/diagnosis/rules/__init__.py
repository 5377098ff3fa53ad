"""Why an op made NaN or ∞: rules, one module a theme.

`explain` asks them in order, the more special before the more general, and takes the first answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.rules import (
    division,
    domain,
    exponentials,
    fallback,
    gradients,
    infinities,
    linear_algebra,
    overflow,
    sources,
    training,
)

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule

RULES: tuple[Rule, ...] = (
    sources.BEFORE_FIRST_EVENT,
    sources.BAD_ARRAY,
    overflow.LOSS_SCALE,
    *training.RULES,
    *infinities.RULES,
    *gradients.RULES,
    *domain.RULES,
    *division.RULES,
    *exponentials.RULES,
    *overflow.RULES,
    *linear_algebra.RULES,
    *sources.RULES,
    *fallback.RULES,
)
"""All rules about bad tensors, in the order in which they are asked."""


def explain(case: Case) -> tuple[Rule, Match]:
    """Return the first rule that fits a root, with its answer; the last rule always fits."""
    for rule in RULES:
        match = rule.match(case)
        if match is not None:
            return rule, match.doubted() if case.unsure else match
    raise AssertionError("the last rule fits everything")
