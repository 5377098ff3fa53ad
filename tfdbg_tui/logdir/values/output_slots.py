"""Which outputs of an op a record holds, where its writer left some out.

TensorFlow's writer leaves out, without a trace, outputs that numpy cannot hold (resources and
variants) and those that its ``tensor_dtypes`` argument excludes.  Either goes by type, so where an
op's outputs differ in type and only one choice of types fits what was recorded, the slots are
certain.  Of functions the types are not known.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.values.op_outputs import OUTPUT_TYPES
from tfdbg_tui.logdir.values.summaries import tensor_summary
from tfdbg_tui.wire import bad_elements, codec
from tfdbg_tui.wire.dtypes import dtype_name
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.logdir.events import TensorSummary
    from tfdbg_tui.wire import events

    Recorded = tuple[bool, TensorSummary | None]

_NEVER_RECORDED = ("resource", "variant")
_ATTRIBUTE = "?#"
MAX_OUTPUTS = 1 << 20


def outputs_by_slot(
    record: events.Execution,
) -> tuple[tuple[TensorSummary | None, ...], bool]:
    """Return (the summary of each output by slot, whether the slots are certain).

    Raises:
        codec.DecodeError: There are more outputs than slots have numbers.
    """
    protos = record.tensor_protos
    summaries = _with_types(
        _summaries(
            record.tensor_debug_mode, protos, record.minima, record.maxima, record.bad_elements
        ),
        record.measured_types,
    )
    if len(summaries) > MAX_OUTPUTS:
        raise codec.DecodeError(f"more than {MAX_OUTPUTS:,} outputs")
    count = max(min(record.num_outputs, MAX_OUTPUTS), len(summaries))
    if len(summaries) in (0, count):
        return tuple(summaries or [None] * count), True
    slots = output_slots(
        record.op_type, count, [(bool(p), s) for p, s in zip(protos, summaries, strict=True)]
    )
    known = slots is not None
    by_slot: list[TensorSummary | None] = [None] * count
    for slot, summary in zip(slots or range(len(summaries)), summaries, strict=False):
        by_slot[slot] = summary
    return tuple(by_slot), known


def inputs_by_slot(record: events.Execution) -> tuple[TensorSummary | None, ...]:
    """Return the summary of each input; empty where the writer recorded none."""
    protos = record.input_tensor_protos
    mode = TensorDebugMode.FULL_HEALTH
    return tuple(
        _summaries(
            mode, protos, record.input_minima, record.input_maxima, record.input_bad_elements
        )
    )


def _summaries(
    mode: int,
    protos: Sequence[bytes],
    minima: Sequence[float],
    maxima: Sequence[float],
    told: Sequence[float],
) -> list[TensorSummary | None]:
    bounds: Iterable[tuple[float | None, float | None]] = (
        (low, high) if low == low else (None, None)
        for low, high in zip(minima, maxima, strict=False)
    )
    bounds = itertools.chain(bounds, itertools.repeat((None, None)))
    width = bad_elements.WIDTH
    return [
        tensor_summary(mode, proto, low, high, told[slot * width : (slot + 1) * width])
        for slot, (proto, (low, high)) in enumerate(zip(protos, bounds, strict=False))
    ]


def _with_types(
    summaries: Sequence[TensorSummary | None], types: Sequence[int]
) -> list[TensorSummary | None]:
    """Return summaries with the types that are told beside them, where they have none."""
    return [
        replace(summary, dtype=dtype_name(number))
        if number and summary is not None and summary.dtype is None
        else summary
        for summary, number in itertools.zip_longest(summaries, types[: len(summaries)])
    ]


def output_slots(
    op_type: str, num_outputs: int, recorded: Sequence[Recorded]
) -> tuple[int, ...] | None:
    """Return the slot of each recorded output, or None where more than one choice is possible.

    Args:
        op_type: Type of the op, or name of a function.
        num_outputs: How many outputs it has; more than are recorded.
        recorded: Of each recorded output, whether anything is recorded of it but its presence
            (nothing is of integers in the health modes), and its summary.
    """
    types = _output_types(op_type, num_outputs)
    if types is None:
        return None
    groups = [name for name in dict.fromkeys(types) if name not in _NEVER_RECORDED]
    choices = {
        slots
        for count in range(1, len(groups) + 1)
        for chosen in itertools.combinations(groups, count)
        if len(slots := tuple(i for i, name in enumerate(types) if name in chosen)) == len(recorded)
        and _fits(types, slots, recorded)
    }
    return choices.pop() if len(choices) == 1 else None


def _output_types(op_type: str, num_outputs: int) -> tuple[str, ...] | None:
    types: list[str] = []
    declared = _declared().get(op_type, ())
    for name in declared:
        if name.endswith("*"):
            # As many as are left; with two such lists the total would not tell.
            types += [name[:-1]] * (num_outputs - len(declared) + 1)
        else:
            types.append(name)
    return tuple(types) if types and len(types) == num_outputs else None


@functools.cache
def _declared() -> dict[str, tuple[str, ...]]:
    lines = (line.split() for line in OUTPUT_TYPES.strip().splitlines())
    return {name: tuple(types) for name, *types in lines}


def _fits(types: Sequence[str], slots: Sequence[int], recorded: Sequence[Recorded]) -> bool:
    seen: dict[str, tuple[bool, str | None]] = {}
    for slot, (present, summary) in zip(slots, recorded, strict=True):
        name = types[slot]
        dtype = summary.dtype if summary else None
        if name[0] in _ATTRIBUTE:
            # One attribute, one type: all of its outputs were recorded alike.
            if seen.setdefault(name, (present, dtype)) != (present, dtype):
                return False
        elif dtype not in (None, name):
            return False
        elif "float" in name and not present:
            return False  # the writer summarises every float
        if _counts_floats(summary) and not (name[0] == "?" or "float" in name):
            return False
    return True


def _counts_floats(summary: TensorSummary | None) -> bool:
    """Whether a summary is one that the health modes record, of floating types only."""
    return (
        summary is not None
        and summary.mode != TensorDebugMode.FULL_TENSOR
        and summary.has_inf_or_nan is not None
    )
