"""How rules write down their examples: an op, numbers in, numbers out, and what is around it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from tfdbg_tui.diagnosis.rules.model import Case, Example, Input, User
from tfdbg_tui.logdir import TensorSummary
from tfdbg_tui.wire.modes import TensorDebugMode

INF = math.inf
NAN = math.nan


class Given(NamedTuple):
    """An input of an example, and how it is written."""

    input: Input
    text: str


def given(*values: float, by: str | None = None, of: tuple[str, ...] = ()) -> Given:
    """Return an input with these values.

    Args:
        values: Its elements, recorded with their counts and extremes.
        by: Type of the op that made it; None for a tensor from Python.
        of: Types of the ops that made that op's inputs.
    """
    finite = all(map(math.isfinite, values))
    made_from = tuple(Input(None, False, False, op.lower(), op) for op in of)
    made = Input(_summary(values, "float32"), finite, False, by or "x", by, made_from)
    source = f"{by}({', '.join(of) or '…'}) = " if by else ""
    return Given(made, source + _listed(values))


def updating(*values: float, by: str) -> Given:
    """Return values by which an op of a type has updated the variable that is read."""
    one = given(*values)
    return Given(replace(one.input, updated_by=by), f"{by}({one.text})")


def unrecorded(*, by: str | None = None) -> Given:
    """Return an input that left no record, made by an op of a type."""
    return Given(Input(None, False, False, by or "x", by), f"{by}(…)" if by else "?")


def example(
    op_type: str, *inputs: Given, out: list[float], dtype: str = "float32", **around: Any
) -> Example:
    """Return an example of what an op makes of some inputs.

    Args:
        op_type: Type of the op.
        inputs: Its inputs, by slot.
        out: The elements of its result.
        dtype: Type of the result.
        around: Further fields of the `Case`, where they matter.
    """
    summaries = [one.input.summary for one in inputs]
    case = Case(
        op_type=op_type,
        op_name=around.pop("op_name", None),
        slot=0,
        out=_summary(out, dtype),
        inputs=tuple(one.input for one in inputs),
        open=any(summary is None for summary in summaries),
        bad_input=any(summary is not None and summary.bad for summary in summaries),
        **around,
    )
    text = f"{op_type}({', '.join(one.text for one in inputs)}) → {_listed(out)}"
    half = [] if dtype == "float32" else [f"in {dtype}"]
    return Example("; ".join((text, *half, *_surroundings(case))), case)


def _surroundings(case: Case) -> list[str]:
    """Return what else an example says of its case, in words."""
    words = [
        (case.op_name, f"the op is named {case.op_name}"),
        (case.graph_name, f"in {case.graph_name}"),
        (case.gradient_of, f"in the gradient of {case.gradient_of}"),
        (case.backward and not case.gradient_of, "in a gradient"),
        (case.used_with_input, f"{', '.join(case.used_with_input)} takes input and result"),
        (case.cut_off, "the first event that a circular buffer has kept"),
        (case.loss_scale > 1, f"of a loss that is multiplied by {case.loss_scale:,}"),
        (case.optimizer, "in the step of an optimizer"),
        (case.healthy_before, f"{case.healthy_before} times finite before"),
        (case.growth, str(case.growth)),
        (case.steady, str(case.steady)),
        (case.fall, str(case.fall)),
        (case.loop_growth, str(case.loop_growth)),
        (case.weights, str(case.weights)),
        (case.gradient_growth, f"the gradient: {case.gradient_growth}"),
        (case.outlier, str(case.outlier)),
        (case.start, str(case.start)),
        (case.limits, f"recorded with {case.limits}"),
    ]
    used = [f"then {', '.join(map(_used, (user, *user.then)))}" for user in case.users]
    return [sentence for applies, sentence in words if applies] + used


def _used(user: User) -> str:
    others = f" with {', '.join(sorted(user.others))}" if user.others else ""
    return f"{user.op_type}{others}{' as input 1' if user.slot else ''}"


def _summary(values: tuple[float, ...] | list[float], dtype: str) -> TensorSummary:
    finite = [value for value in values if math.isfinite(value)]
    return TensorSummary(
        int(TensorDebugMode.FULL_HEALTH),
        has_inf_or_nan=len(finite) < len(values),
        dtype=dtype,
        size=len(values),
        neg_inf=sum(value == -INF for value in values),
        pos_inf=sum(value == INF for value in values),
        nan=sum(math.isnan(value) for value in values),
        neg=sum(value < 0 for value in finite),
        zero=sum(value == 0 for value in finite),
        pos=sum(value > 0 for value in finite),
        minimum=min(finite, default=None),
        maximum=max(finite, default=None),
    )


def _listed(values: tuple[float, ...] | list[float]) -> str:
    return f"[{', '.join(f'{value:g}' for value in values)}]".replace("inf", "∞").replace(
        "nan", "NaN"
    )
