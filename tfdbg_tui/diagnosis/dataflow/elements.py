"""What becomes of the elements that the functions of eager input pipelines make.

Which functions a dataset is made of, and what is made of it, this project's writer records.
"""

from __future__ import annotations

import re
from collections import defaultdict
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow

_ITERATORS = frozenset({"DatasetToSingleElement", "MakeIterator", "MultiDeviceIteratorInit"})
"""Ops by which the program takes the elements of a dataset: each is on record where it does."""

_FILTERS = "Filter"
_DECIDES = re.compile(f"{_FILTERS}|GroupByWindow|TakeWhile")
"""In the types of ops whose functions only decide about elements, which go on as they are."""

_KEEPS = re.compile("Cache|Snapshot")
_SAVES = re.compile("Save|ToTFRecord|^Register")
_DROPS = "IgnoreErrorsDataset"
"""Is in the types of ops that leave out the elements of which a function before them raises."""

_ALL_OF = frozenset({"All", "Identity", "LogicalAnd"})
"""Ops whose answer is yes only where all that they are given is."""


class Fate(Enum):
    """What becomes of the elements that a function makes."""

    UNSEEN = "the program saves them"
    TAKEN = "what takes them is on record"
    KEPT = "they are kept, in a file perhaps, and nothing takes them"
    LEFT = "nothing takes them"


class _Taker(NamedTuple):
    """An op that takes a dataset.

    Attributes:
        op_type: Its type.
        called: The graphs of its functions.
        place: Its execution, or its graph and its name there; None if it gives nothing.
    """

    op_type: str
    called: tuple[str, ...]
    place: int | tuple[str, str] | None


class Elements:
    """Follows the elements of datasets."""

    def __init__(self, dataflow: Dataflow) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._fates: dict[tuple[str, int | None], Fate | None] = {}

    def fate(self, graph_id: str, slot: int | None) -> Fate | None:
        """Return what becomes of what a function of a dataset gives; None where it is not known.

        Args:
            graph_id: The graph of the function.
            slot: Which of its outputs is meant, where that is known.
        """
        if slot is not None and slot < self._dataflow.calls.num_states(graph_id):
            return Fate.LEFT  # the state that no further call has taken
        key = graph_id, slot
        if key not in self._fates:
            ends = [e for row in self._datasets[graph_id] for e in self._ends(row, graph_id, slot)]
            self._fates[key] = _fate_of_all(ends)
        return self._fates[key]

    def is_decided_about(self, event: TensorEvent) -> bool:
        """Whether a dataset's filter is given an element, and what takes it behind is on record."""
        op = graph_op_of(self._run, event)
        if op is None or op.op_type != "Placeholder":
            return False
        kinds = [self._run.executions.kind(row) for row in self._datasets[op.graph_id]]
        filters = bool(kinds) and all(_FILTERS in kind.op_type for kind in kinds)
        return filters and self.fate(op.graph_id, None) in (Fate.TAKEN, Fate.LEFT)

    def are_dropped(self, graph_id: str) -> bool:
        """Whether elements are left out, wherever they go, of which a dataset's function raises.

        Args:
            graph_id: The graph of the function, or of one that it calls.
        """
        rows = self._datasets[self._dataflow.calls.outermost(graph_id)]
        takers = Worklist(taker for row in rows for taker in self._takers_of_eager(row))
        for taker in takers:
            if _DROPS in taker.op_type:
                continue
            behind = self._behind(taker) if "Dataset" in taker.op_type else []
            if not behind:
                return False
            takers.add(*behind)
        return bool(takers.seen)

    @cached_property
    def _datasets(self) -> dict[str, list[int]]:
        """The executions of eager ops, by the graphs of the functions that they name."""
        found: dict[str, list[int]] = defaultdict(list)
        executions = self._run.executions
        for row in executions.of_kinds(lambda kind: bool(kind.called_graphs)).tolist():
            for graph_id in executions.kind(row).called_graphs:
                found[graph_id].append(row)
        return found

    def _ends(self, row: int, graph_id: str, slot: int | None) -> Iterator[Fate | None]:
        """Yield what becomes of the elements of a dataset, by each way that they go.

        Args:
            row: The execution that has made the dataset.
            graph_id: The graph of a function of it.
            slot: The output of that which is meant.
        """
        takers = Worklist(self._takers_of_eager(row))
        for taker in takers:
            end, goes_on = self._end(taker, graph_id, slot)
            yield from end
            if goes_on:
                takers.add(*self._behind(taker))

    def _takers_of_eager(self, row: int) -> Iterator[_Taker]:
        """Yield the ops that take what an execution has made, in functions that are called too."""
        executions, calls = self._run.executions, self._dataflow.calls
        for use in self._dataflow.consumers(TensorEvent("execution", row, 0)):
            kind = executions.kind(use.event.index) if use.event is not None else None
            graph_id = (kind.graph_id if kind is not None else None) or ""
            arguments = calls.arguments(graph_id) if graph_id in self._run.graphs else ()
            if use.input_slot < len(arguments):
                yield from self._takers_in(graph_id, arguments[use.input_slot])
            else:
                called = kind.called_graphs if kind is not None else ()
                yield _Taker(use.op_type or "", called, use.event.index if use.event else None)

    def _takers_in(self, graph_id: str, op_name: str) -> Iterator[_Taker]:
        """Yield the ops of a graph that take what another one has made."""
        graph = self._run.graphs[graph_id]
        for consumer in graph.consumers(op_name):
            op = graph.ops.get(consumer.op_name)
            if op is not None:
                called = self._dataflow.calls.called_graphs(op)
                yield _Taker(op.op_type, called, (graph_id, op.name))

    def _behind(self, taker: _Taker) -> list[_Taker]:
        """Return the ops that take what another one has made."""
        if isinstance(taker.place, int):
            return list(self._takers_of_eager(taker.place))
        return list(self._takers_in(*taker.place)) if taker.place is not None else []

    def _end(
        self, taker: _Taker, graph_id: str, slot: int | None
    ) -> tuple[Sequence[Fate | None], bool]:
        """Return what becomes of elements in an op, and whether they go on behind it."""
        op_type = taker.op_type
        if op_type in _ITERATORS:
            return [Fate.TAKEN], False
        if _SAVES.search(op_type):
            return [Fate.UNSEEN], False
        if "Dataset" not in op_type:
            return [None], False  # It may do anything with it.
        if _KEEPS.search(op_type):
            return [Fate.KEPT], True
        if _DECIDES.search(op_type):
            lets_pass = not any(self._passes_only_finite(g, graph_id, slot) for g in taker.called)
            return ([], True) if lets_pass else ([Fate.LEFT], False)
        if taker.called:
            return self._end_in_functions(taker, graph_id, slot)
        return [], True

    def _end_in_functions(
        self, taker: _Taker, graph_id: str, slot: int | None
    ) -> tuple[Sequence[Fate | None], bool]:
        """Return the same of an op that calls functions with the elements.

        One that only gives back what it is given leaves no record.
        """
        calls, timeline = self._dataflow.calls, self._dataflow.timeline
        given = [(g, name) for g in taker.called for name in self._given(g, graph_id, slot)]
        used = [argument for argument in given if calls.is_used(*argument)]
        if not used:
            return [Fate.LEFT], False
        if any(timeline.sites(*argument) for argument in used):
            return [Fate.TAKEN], False
        return ([], True) if all(map(self._gives_back, taker.called)) else ([None], False)

    def _gives_back(self, graph_id: str) -> bool:
        """Whether a function gives back its arguments, in their order."""
        calls, graph = self._dataflow.calls, self._run.graphs[graph_id]
        made = [graph.ops.get(ref.op_name) for ref in calls.outputs(graph_id)]
        given = [op.input(0).op_name for op in made if op is not None and op.op_type == "Identity"]
        return len(given) == len(made) and given == list(calls.arguments(graph_id))

    def _given(self, called: str, graph_id: str, slot: int | None) -> Sequence[str]:
        """Return the arguments of a function that elements, or a part of them, may become.

        Args:
            called: The graph of the function.
            graph_id: The graph of the function that has made the elements.
            slot: The part.
        """
        arguments = self._dataflow.calls.arguments(called)
        arguments = arguments[self._dataflow.calls.num_states(called) :]
        slot = self._part(graph_id, slot, len(arguments))
        return arguments if slot is None else arguments[slot : slot + 1]

    def _part(self, graph_id: str, slot: int | None, number: int) -> int | None:
        """Return which part of an element an output of a function is; None where that is not known.

        Args:
            graph_id: The graph of the function.
            slot: The output.
            number: How many arguments take the parts of an element.
        """
        states = self._dataflow.calls.num_states(graph_id)
        if slot is None or number != len(self._dataflow.calls.outputs(graph_id)) - states:
            return None
        return slot - states

    def _passes_only_finite(self, predicate: str, graph_id: str, slot: int | None) -> bool:
        """Whether a function that decides about elements says yes only where a number is finite.

        Args:
            predicate: The graph of the function.
            graph_id: That of the function that makes the elements.
            slot: The output of that which is the number.
        """
        calls, graph = self._dataflow.calls, self._run.graphs[predicate]
        arguments = calls.arguments(predicate)
        slot = self._part(graph_id, slot, len(arguments))
        if slot is None:
            return False
        tensors = Worklist(calls.outputs(predicate))
        for tensor in tensors:
            op = graph.ops.get(tensor.op_name)
            if op is None:
                continue
            if op.op_type == "IsFinite" and op.input(0).op_name == arguments[slot]:
                return True
            if op.op_type in _ALL_OF:
                tensors.add(*op.inputs)
        return False


def _fate_of_all(ends: Sequence[Fate | None]) -> Fate | None:
    """Return what becomes of elements that go several ways; None where one is not known."""
    if None in ends:
        return None
    return next((fate for fate in Fate if fate in ends), None)
