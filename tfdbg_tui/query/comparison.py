"""Two runs of a program side by side: which tensors are finite in one and bad in the other.

Tensors are paired by the function that they are in, their name and their op type; eager ones by
their op type and source line.  Of each pair the first computations are compared, then the second
ones, and so on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.diagnosis import TensorEvent, find_alerts, location_of, readable_function
from tfdbg_tui.logdir.index.output_place import OutputPlace
from tfdbg_tui.query.tensors import row_maker

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.query.tensors import TensorRow

    Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first computation of a tensor that is finite in one run and bad in the other.

    Attributes:
        number: Which computation it is, from 1.
        good: The tensor where it is finite.
        bad: The tensor where it is not.
    """

    number: int
    good: TensorRow
    bad: TensorRow

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diff --json``."""
        return {"computation": self.number, "good": self.good.values(), "bad": self.bad.values()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two runs differ.

    Attributes:
        paired: How many tensors both have.
        alone: How many only the first has, and only the second.
        bad_in_second: What is finite in the first and bad in the second, the earliest first.
        bad_in_first: The other way round.
        bad_alone: What is bad and only in the first, and only in the second: the first bad
            computation of each, the earliest first.
        uncompared: How many of the paired ones are bad where the other run tells nothing.
    """

    paired: int
    alone: tuple[int, int]
    bad_in_second: tuple[Difference, ...]
    bad_in_first: tuple[Difference, ...]
    bad_alone: tuple[tuple[TensorRow, ...], tuple[TensorRow, ...]]
    uncompared: int

    @property
    def differs(self) -> bool:
        """Whether anything is finite in one run and bad in the other."""
        return bool(self.bad_in_first or self.bad_in_second)

    @property
    def is_whole(self) -> bool:
        """Whether all that is on record of both could be compared."""
        return self.paired > 0 and not (any(self.alone) or self.uncompared)


def compare(first: Run, second: Run) -> Comparison:
    """Compare the health of all tensors of two runs."""
    one, other = _Tensors(first), _Tensors(second)
    bad_in_second, untold_in_first = _differences(good=one, bad=other)
    bad_in_first, untold_in_second = _differences(good=other, bad=one)
    paired = len(one.computed.keys() & other.computed.keys())
    return Comparison(
        paired=paired,
        alone=(len(one.computed) - paired, len(other.computed) - paired),
        bad_in_second=bad_in_second,
        bad_in_first=bad_in_first,
        bad_alone=(_bad_alone(one, other), _bad_alone(other, one)),
        uncompared=untold_in_first + untold_in_second,
    )


def _differences(good: _Tensors, bad: _Tensors) -> tuple[tuple[Difference, ...], int]:
    """Return what is bad in one run and finite in the other, and how often that is not told."""
    found, untold = [], 0
    for key, here in bad.computed.items():
        there = good.computed.get(key)
        if there is None or not here.bad.any():
            continue
        both = min(len(here.rows), len(there.rows))
        differ = np.flatnonzero(here.bad[:both] & ~there.bad[:both])
        if not differ.size:
            untold += not here.bad[:both].any()
            continue
        number = int(differ[0])
        row = good.read(there.event(number))
        if row.summary is None or row.summary.has_inf_or_nan is None:
            untold += 1
        else:
            found.append(Difference(number + 1, row, bad.read(bad.bad_output(here, number))))
    return tuple(sorted(found, key=lambda found: bad.order(found.bad.event))), untold


def _bad_alone(here: _Tensors, there: _Tensors) -> tuple[TensorRow, ...]:
    """Return the first bad computation of each tensor that only one run has."""
    alone = (tensor for key, tensor in here.computed.items() if key not in there.computed)
    bad = (
        here.bad_output(tensor, int(np.flatnonzero(tensor.bad)[0]))
        for tensor in alone
        if tensor.bad.any()
    )
    return tuple(here.read(event) for event in sorted(bad, key=here.order))


@dataclass(frozen=True, slots=True, eq=False)
class _Computations:
    """All computations of a tensor, in order; of an eager op, of all its outputs.

    Attributes:
        kind: Kind of their events.
        slot: Which output of the op.
        rows: The events.
        bad: Which of them are bad.
    """

    kind: Kind
    slot: int
    rows: Int64Array
    bad: npt.NDArray[np.bool_]

    def event(self, number: int) -> TensorEvent:
        """Return one of them."""
        return TensorEvent(self.kind, int(self.rows[number]), self.slot)


class _Tensors:
    """The tensors of a run.

    Attributes:
        computed: Their computations, by what pairs them with those of another run.
        read: Returns what is on record of one.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._alerts = find_alerts(run)
        self.read = row_maker(run)
        executions, traces = run.executions, run.graph_executions
        places = OutputPlace(executions.kinds[:], executions.stack_ids[:], 0).number
        self.computed = {
            **self._grouped("execution", places, executions.alert_rows[:], self._eager_key),
            **self._grouped(
                "graph_execution", traces.site_ids[:], traces.alert_rows[:], self._graph_key
            ),
        }

    def _grouped(
        self,
        kind: Kind,
        numbers: Int64Array,
        alerts: Int64Array,
        key_of: Callable[[int], tuple[int, Hashable]],
    ) -> dict[Hashable, _Computations]:
        """Return the events of a kind by tensor.

        Args:
            kind: The kind.
            numbers: Of each event, a number that those of one tensor share; it may have several.
            alerts: Which events are bad.
            key_of: Returns the slot of the tensor with a number, and its key.
        """
        is_bad = np.zeros(len(numbers), bool)
        is_bad[alerts] = True
        order = np.argsort(numbers, kind="stable")
        values, starts = np.unique(numbers[order], return_index=True)
        parts: defaultdict[tuple[int, Hashable], list[Int64Array]] = defaultdict(list)
        for value, rows in zip(values.tolist(), np.split(order, starts)[1:], strict=True):
            parts[key_of(value)].append(rows)
        rows_of = ((key, np.sort(np.concatenate(some))) for key, some in parts.items())
        return {key: _Computations(kind, key[0], rows, is_bad[rows]) for key, rows in rows_of}

    def _graph_key(self, site_id: int) -> tuple[int, Hashable]:
        site = self._run.graph_executions.site_by_id(site_id)
        graph = self._run.graphs.get(site.graph_id)
        op = self._run.op(site.graph_id, site.op_name)
        function = readable_function(graph.name) if graph else ""
        return site.output_slot, (function, site.op_name, op.op_type if op else "")

    def _eager_key(self, number: int) -> tuple[int, Hashable]:
        """Return the key of a place; the number of its line may be another in the other run."""
        of_both = OutputPlace.of(number)
        kind = self._run.executions.distinct_kinds[of_both.kind]
        place = location_of(self._run, of_both.stack)
        line = (place.function, place.code or place.line) if place else None
        return 0, (readable_function(kind.op_type), line)

    def bad_output(self, tensor: _Computations, number: int) -> TensorEvent:
        """Return a computation that is bad: of an eager op, its first bad output."""
        event = tensor.event(number)
        if event.kind == "graph_execution":
            return event
        executions = self._run.executions
        alert = int(executions.alert_rows.searchsorted(event.index))
        return TensorEvent(event.kind, event.index, executions.alert_slots[alert])

    def order(self, event: TensorEvent) -> int:
        """Return where an alert is among those of the run, in order of time."""
        return self._alerts.position(event) or 0
