"""What comes out of a queue, a table, a text or another container: something that was put into it.

Runs that put in and take out may go on at the same time, and each is on record when it has ended
or enough of it has run: what was put in may come after what was taken out.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.dataflow.links import Producer
from tfdbg_tui.diagnosis.events import graph_op_of, is_bad, op_type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run, TensorRef

_LOOK_AROUND = 50
"""So many computations of what is put into a container are looked through, before and after."""


class _Container(NamedTuple):
    """A kind of container.

    Attributes:
        takes: Matches the types of the ops that give what is in it.
        puts: Matches the types of the ops that put something into it.
        output: The first output that holds a value, of those that give.
        input: The first input that holds a value, of those that put; the value of the next output
            is the next input's, where there is one.
    """

    takes: re.Pattern[str]
    puts: re.Pattern[str]
    output: int
    input: int


def _kind(takes: str, puts: str, output: int, first_input: int) -> _Container:
    return _Container(re.compile(takes), re.compile(puts), output, first_input)


_CONTAINERS = (
    _kind(r"QueueDequeue(Many|UpTo)?(V2)?", r"QueueEnqueue(Many)?(V2)?", 0, 1),
    _kind(r"LookupTableFind(V2)?", r"LookupTable(Insert|Import)(V2)?", 0, 2),
    _kind(r"LookupTableExport(V2)?", r"LookupTable(Insert|Import)(V2)?", 1, 2),
    _kind(r"TensorMapLookup", r"TensorMapInsert", 0, 2),
    _kind(r"(Resource)?AccumulatorTakeGradient", r"(Resource)?AccumulatorApplyGradient", 0, 2),
    _kind(r"SparseAccumulatorTakeGradient", r"SparseAccumulatorApplyGradient", 1, 3),
    _kind(r"BarrierTakeMany", r"BarrierInsertMany", 2, 2),
    _kind(r"Unstage|StagePeek", r"Stage", 0, 0),
    _kind(r"ParseTensor", r"SerializeTensor", 0, 0),
    _kind(r"StringToNumber", r"AsString", 0, 0),
    _kind(r"Deserialize(Many)?Sparse", r"Serialize(Many)?Sparse", 1, 1),
    _kind(r"RaggedTensorFromVariant", r"RaggedTensorToVariant", 0, 0),
    _kind(r"(Ordered)?Map(Unstage(NoKey)?|Peek)", r"(Ordered)?MapStage", 0, 2),
)


@cache
def _container(op_type: str) -> _Container | None:
    """Return the container that ops of a type give something out of, or None."""
    return next((kind for kind in _CONTAINERS if kind.takes.fullmatch(op_type)), None)


def takes(op_type: str | None) -> bool:
    """Whether ops of a type give what is in a container: their first input, where they have one."""
    return _container(op_type or "") is not None


def may_put(op_type: str | None, taken_by: str | None) -> bool:
    """Whether an op of a type may have put in what one of another type has given."""
    kind = _container(taken_by or "")
    return kind is not None and kind.puts.fullmatch(op_type or "") is not None


class _Put(NamedTuple):
    """A tensor that was put into a container, and when: the execution, and the row inside."""

    when: tuple[int, int]
    made: TensorEvent


def _when(put: _Put) -> tuple[int, int]:
    return put.when


class Containers:
    """Finds what made the tensors that come out of containers.

    Args:
        run: The run.
        timeline: Which record is of which computation.
    """

    def __init__(self, run: Run, timeline: Timeline) -> None:
        self._run = run
        self._timeline = timeline
        self._putting: dict[tuple[str, _Container], tuple[int, list[GraphOp]]] = {}

    def put(self, event: TensorEvent) -> Producer:
        """Return the last bad tensor that was put into a container, if a bad one came out.

        Most likely it is that one: of those that were put into it by the same graph, or else into
        any of its kind. Where there is none before, it is the first that is on record later. Which
        healthy one it is where that came out is not known.

        Args:
            event: What came out: an output of an op for which `takes` is true.
        """
        op_type = op_type_of(self._run, event) or ""
        kind = _container(op_type)
        made = self._bad_put(event, kind) if kind is not None and is_bad(self._run, event) else None
        made_by = op_type_of(self._run, made) if made is not None else op_type
        via = "eager" if event.kind == "execution" else "graph"
        name = f"{op_type}:{event.slot}"
        return Producer(0, name, made, made is not None, via, made_by)

    def _bad_put(self, event: TensorEvent, kind: _Container) -> TensorEvent | None:
        place = max(0, event.slot - kind.output) + kind.input
        op = graph_op_of(self._run, event)
        same = list(self._refs(op.graph_id, kind, place, op)) if op is not None else []
        found = self._last_bad(event, same) or self._first_bad(event, same)
        if found is not None:
            return found.made
        graphs = list(self._run.graphs)
        others = [ref for graph_id in graphs for ref in self._refs(graph_id, kind, place)]
        eager = self._last_bad_eager(event, kind, place)
        before = [put for put in (self._last_bad(event, others), eager) if put is not None]
        found = max(before, key=_when, default=None) or self._first_bad(event, others)
        return found.made if found is not None else None

    def _refs(
        self, graph_id: str, kind: _Container, place: int, taker: GraphOp | None = None
    ) -> Iterator[tuple[str, TensorRef]]:
        """Yield what ops of a graph put into containers: into that of `taker`, if it is given."""
        for op in self._ops_that_put(graph_id, kind):
            if taker is None or op.input(0) == taker.input(0):
                ref = op.inputs[min(place, len(op.inputs) - 1)]
                yield from self._timeline.recorded(graph_id, ref)

    def _ops_that_put(self, graph_id: str, kind: _Container) -> list[GraphOp]:
        """Return the ops of a graph that put something into containers, as far as it is known."""
        ops = self._run.graphs[graph_id].ops
        number, found = self._putting.get((graph_id, kind), (-1, []))
        if number != len(ops):
            number = len(ops)
            found = [
                op for op in list(ops.values()) if op.inputs and kind.puts.fullmatch(op.op_type)
            ]
            self._putting[graph_id, kind] = number, found
        return found

    def _last_bad(self, event: TensorEvent, refs: list[tuple[str, TensorRef]]) -> _Put | None:
        """Return the last computation of one of some tensors before an event that is bad."""
        row = event.index
        if event.kind == "execution":
            row = self._timeline.row_after(event.index)
        puts = (put for ref in refs for put in self._last_bad_of(*ref, row))
        return max(puts, key=_when, default=None)

    def _last_bad_of(self, graph_id: str, ref: TensorRef, row: int) -> Iterator[_Put]:
        for _ in range(_LOOK_AROUND):
            event = self._timeline.last_before(graph_id, ref, row)
            if event is None:
                return
            if is_bad(self._run, event):
                yield self._put(event)
                return
            row = event.index

    def _first_bad(self, event: TensorEvent, refs: list[tuple[str, TensorRef]]) -> _Put | None:
        """Return the first computation of one of some tensors after a row that is bad."""
        if event.kind == "execution":
            return None  # Python has waited for what put it in
        later = chain.from_iterable(
            self._timeline.after(graph_id, ref, event.index, _LOOK_AROUND) for graph_id, ref in refs
        )
        puts = (self._put(one) for one in later if is_bad(self._run, one))
        return min(puts, key=_when, default=None)

    def _put(self, event: TensorEvent) -> _Put:
        execution = self._timeline.execution_of(event.index)
        return _Put((-1 if execution is None else execution, event.index), event)

    def _last_bad_eager(self, event: TensorEvent, kind: _Container, place: int) -> _Put | None:
        """Return the last bad tensor that an eager op put into a container before an event."""
        executions = self._run.executions
        end = event.index
        if event.kind != "execution":
            end = max(0, self._put(event).when[0])
        numbers = [
            number
            for number, of_op in enumerate(executions.distinct_kinds)
            if kind.puts.fullmatch(of_op.op_type)
        ]
        last = (executions.kinds.rows_equal(n, 0, end)[-_LOOK_AROUND:] for n in numbers)
        for index in sorted(chain.from_iterable(rows.tolist() for rows in last), reverse=True):
            ids = self._timeline.input_ids(index)
            made = self._timeline.maker(ids[min(place, len(ids) - 1)], index) if ids else None
            if made is not None and is_bad(self._run, made):
                return _Put((index, -1), made)
        return None
