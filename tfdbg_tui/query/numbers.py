"""What filters and orders compare in numbers: counts, extremes, sizes and training steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.callers import CallersByTime
from tfdbg_tui.diagnosis.dataflow.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.logdir import Run

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

_FIELDS = {
    "step": "step",
    "size": "size",
    "rank": "rank",
    "nan": "nan",
    "-inf": "neg_inf",
    "+inf": "pos_inf",
    "neg": "neg",
    "zero": "zero",
    "pos": "pos",
    "min": "minimum",
    "max": "maximum",
}
"""What the fields of the language are called in a `TensorSummary`."""

_RECORDED = tuple(name for name in _FIELDS.values() if name != "step")


@dataclass(frozen=True, slots=True)
class Tensors:
    """The tensors of some events, in numbers.

    Attributes:
        events: Position of the event of each, ascending.
        slots: Which output of that it is.
        numbers: Their numbers by the fields of the language; NaN for what is not on record.
    """

    events: Ints
    slots: Ints
    numbers: dict[str, Floats]


class RecordedNumbers:
    """Reads the numbers of tensors from their records, those of many at once.

    Args:
        run: The run.
        used_in: The step that uses what a pipeline made ahead, by graph execution, where known.
    """

    def __init__(self, run: Run, used_in: Mapping[int, int] | None = None) -> None:
        self._run = run
        self._used_in = used_in or {}

    def of(self, kind: Kind, rows: Ints) -> Tensors:
        """Return the numbers of all tensors of some events.

        Args:
            kind: Which list the events are in.
            rows: Their rows there.
        """
        if kind == "graph_execution":
            return self._of_graph_executions(rows)
        events, slots, told = [], [], []
        for event, row in enumerate(rows.tolist()):
            execution = self._run.executions[row]
            for slot, summary in enumerate(execution.outputs or (None,)):
                events.append(event)
                slots.append(slot)
                told.append([_number(getattr(summary, name, None)) for name in _RECORDED])
        table = np.array(told, float).reshape(-1, len(_RECORDED))
        numbers = dict(zip(_RECORDED, table.T, strict=True))
        which = np.array(events, np.int64)
        numbers["step"] = steps_of(self._run, rows)[which]
        return Tensors(which, np.array(slots, np.int64), _by_field(numbers))

    def _of_graph_executions(self, rows: Ints) -> Tensors:
        numbers = self._run.graph_executions.numbers(rows)
        caused = numbers.pop("execution")
        unmarked = np.isnan(numbers["step"])
        unknown = unmarked & np.isnan(caused)
        if unknown.any():
            caused[unknown] = self._callers.of(rows[unknown])
        unmarked &= caused >= 0
        numbers["step"][unmarked] = steps_of(self._run, caused[unmarked].astype(np.int64))
        numbers["step"][self._made_ahead[self._run.graph_executions.site_ids.take(rows)]] = np.nan
        for row, step in self._used_in.items():
            numbers["step"][rows == row] = step
        return Tensors(np.arange(len(rows)), np.zeros(len(rows), np.int64), _by_field(numbers))

    @cached_property
    def _made_ahead(self) -> npt.NDArray[np.bool_]:
        """Which sites are of a data pipeline: what it makes is in no step, but used in one."""
        calls, traces = self._calls, self._run.graph_executions
        sites = map(traces.site_by_id, range(traces.num_sites))
        return np.fromiter((calls.in_pipeline(site.graph_id) for site in sites), bool)

    @cached_property
    def _callers(self) -> CallersByTime:
        return CallersByTime(self._run, self._calls)

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self._run)


def steps_of(run: Run, executions: Ints) -> Floats:
    """Return the training steps of some executions; NaN for those that are in none."""
    numbers = run.executions.steps.numbers_of(executions)
    return np.where(numbers >= 0, numbers, np.nan)


def _by_field(recorded: dict[str, Floats]) -> dict[str, Floats]:
    """Return numbers by the fields of the language, given them as summaries call them."""
    numbers = {field: recorded[name] for field, name in _FIELDS.items()}
    numbers["inf"] = numbers["-inf"] + numbers["+inf"]
    return numbers


def _number(value: float | None) -> float:
    return math.nan if value is None else value
