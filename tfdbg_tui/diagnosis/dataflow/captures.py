"""Which variables the ops of a function assign and read, by the arguments they come in by.

A function that Python calls gets each variable as an eager tensor, its handle, and hands it on to
the functions, branches and loops that it calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES, LOOPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run

_MOST = 4096  # paths from a function to the graphs that it calls
_DEEPEST = 100  # calls inside of one another

Order = tuple[float, ...]
"""Sorts the ops that one call of a function runs."""


@dataclass(frozen=True, slots=True)
class CallPath:
    """How a call of a function gets to a graph.

    Attributes:
        graph_id: The graph.
        arguments: Its arguments that are known to be arguments of the function: which, and whether
            that is a conclusion.
        order: Where in the order of ops the graph is called.
        depth: How many calls it takes.
        conditional: Whether it may not be gone: to a branch, or the body of a loop.
        repeated: Whether it may be gone repeatedly: to the body of a loop.
    """

    graph_id: str
    arguments: dict[str, tuple[str, bool]]
    order: Order = ()
    depth: int = 0
    conditional: bool = False
    repeated: bool = False


class Captured(NamedTuple):
    """An op that assigns or reads a variable in a call of a function.

    Attributes:
        op: The op.
        order: Its place in the order of ops.
        told: Whether the variable is known: else it may be another one.
        inferred: Whether that is a conclusion.
        conditional: Whether the op may not run.
        repeated: Whether it may run repeatedly.
    """

    op: GraphOp
    order: Order
    told: bool
    inferred: bool
    conditional: bool
    repeated: bool


class Captures:
    """Follows variables into the functions of a run.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
        assigning: Returns the ops of a graph that assign, by the argument that is the variable.
        is_resource: Returns whether an argument of a graph is a variable, by how ops use it.
    """

    def __init__(
        self,
        run: Run,
        calls: Calls,
        timeline: Timeline,
        assigning: Callable[[str], dict[str, list[GraphOp]]],
        is_resource: Callable[[str, str], bool],
    ) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._assigning = assigning
        self._is_resource = is_resource
        self._paths = lru_cache(maxsize=None)(self._find_paths)
        self.assignments = lru_cache(maxsize=None)(self._find_assignments)
        self._calling = lru_cache(maxsize=None)(self._find_calling)
        self._places = lru_cache(maxsize=None)(self._find_places)

    def assigns(self, graph_id: str) -> bool:
        """Whether a call of a function, by its graph, may assign a variable."""
        return any(self._assigning(path.graph_id) for path in self._paths(graph_id))

    def given(self, graph_id: str, execution: int) -> list[tuple[str, int]]:
        """Return the arguments of a function, each with the eager tensor that a call gave it."""
        inputs = self._timeline.input_ids(execution)
        return list(zip(self._calls.arguments(graph_id), inputs, strict=False))

    def reads(self, graph_id: str, read: GraphOp) -> list[tuple[str, Captured]] | None:
        """Return the arguments of a function that an op in it may read; None if that is not told.

        Args:
            graph_id: The graph of the function that Python calls.
            read: The op.
        """
        found = []
        for path in self._paths(graph_id):
            if path.graph_id == read.graph_id:
                given = path.arguments.get(read.input(0).op_name)
                if given is None:
                    return None
                found.append((given[0], self._captured(read, path, told=True, inferred=given[1])))
        return found or None

    def _find_assignments(self, graph_id: str, names: tuple[str, ...]) -> list[Captured]:
        """Return the ops that assign, or may assign, a variable in a call, in order.

        Args:
            graph_id: The graph of the function that Python calls.
            names: The arguments that are the variable.
        """
        paths = self._paths(graph_id)
        found = []
        others: set[GraphOp] = set()
        for path, name, op in self._all_assignments(paths):
            outer, inferred = path.arguments.get(name, (None, True))
            itself = name == op.input(0).op_name
            if outer is None or outer in names:
                told = outer is not None and itself
                found.append(self._captured(op, path, told=told, inferred=inferred))
            elif itself:
                others.add(op)
        # Of one that has also assigned another variable it is not recorded which value went where.
        known = [made._replace(told=made.told and made.op not in others) for made in found]
        return sorted(known, key=lambda made: made.order)

    def _all_assignments(self, paths: list[CallPath]) -> Iterator[tuple[CallPath, str, GraphOp]]:
        for path in paths:
            arguments = set(self._calls.arguments(path.graph_id))
            for name, ops in self._assigning(path.graph_id).items():
                if name in arguments:
                    yield from ((path, name, op) for op in ops)

    def _captured(self, op: GraphOp, path: CallPath, *, told: bool, inferred: bool) -> Captured:
        order = self._place(path, op)
        return Captured(op, order, told, inferred, path.conditional, path.repeated)

    def _place(self, path: CallPath, op: GraphOp) -> Order:
        """Return the place of an op: by its creation where calls are not recorded."""
        if not self._timeline.grouped:
            return (op.wall_time,)
        return (*path.order, self._places(path.graph_id)[op.name])

    def _find_places(self, graph_id: str) -> dict[str, int]:
        return {name: place for place, name in enumerate(list(self._run.graphs[graph_id].ops))}

    def _find_paths(self, graph_id: str) -> list[CallPath]:
        """Return the paths to all graphs that a function calls.

        Where there are too many, no variable is followed.
        """
        paths = [
            CallPath(graph_id, {name: (name, False) for name in self._calls.arguments(graph_id)})
        ]
        for path in paths:  # grows meanwhile
            if len(paths) > _MOST or path.depth > _DEEPEST:
                return [replace(path, arguments={}) for path in paths]
            paths += chain(self._called(path), self._called_unrecorded(path, graph_id))
        return paths

    def _called(self, path: CallPath) -> Iterator[CallPath]:
        for op, called in self._calling(path.graph_id):
            given = op.inputs[1:] if op.op_type in BRANCHES else op.inputs
            for graph_id in called:
                names = self._calls.arguments(graph_id)
                arguments = {
                    name: path.arguments[ref.op_name]
                    for name, ref in zip(names, given, strict=False)
                    if ref.op_name in path.arguments
                }
                yield CallPath(
                    graph_id,
                    arguments,
                    self._place(path, op),
                    path.depth + 1,
                    path.conditional or op.op_type in BRANCHES | LOOPS,
                    path.repeated or op.op_type in LOOPS,
                )

    def _called_unrecorded(self, path: CallPath, outermost: str) -> Iterator[CallPath]:
        """Yield the paths that go on by calls that were not recorded.

        The functions are taken to get the variables that their caller does not use, in turn.
        """
        callees = self._calls.unrecorded_callees(path.graph_id)
        wanted = [
            (callee, name)
            for callee in callees
            for name in self._calls.arguments(callee)
            if self._is_resource(callee, name)
        ]
        handles = self._handles(outermost) if wanted else set()
        free = [
            outer
            for name, (outer, _) in path.arguments.items()
            if outer in handles and not self._is_resource(path.graph_id, name)
        ]
        dealt = dict(zip(wanted, free, strict=True)) if len(wanted) == len(free) else {}
        for callee in callees:
            arguments = {name: (outer, True) for (to, name), outer in dealt.items() if to == callee}
            yield CallPath(
                callee, arguments, path.order, path.depth + 1, path.conditional, path.repeated
            )

    def _handles(self, graph_id: str) -> set[str]:
        """Return the arguments of a function that are variables, by what its first call got."""
        executions = self._timeline.executions_of(graph_id)[:1].tolist()
        return {
            name
            for index in executions
            for name, tensor_id in self.given(graph_id, index)
            if self._is_handle(tensor_id, index)
        }

    def _is_handle(self, tensor_id: int, before: int) -> bool:
        maker = self._timeline.maker(tensor_id, before)
        return maker is not None and (
            self._run.executions.kind(maker.index).op_type == "VarHandleOp"
        )

    def _find_calling(self, graph_id: str) -> list[tuple[GraphOp, list[str]]]:
        """Return the ops of a graph that call others, each with the graphs that are recorded."""
        found = []
        for op in list(self._run.graphs[graph_id].ops.values()):
            called = [i for i in self._calls.called_graphs(op) if i in self._run.graphs]
            if called:
                found.append((op, called))
        return found
