"""Which tensors are the values of variables, and which are added to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
from tfdbg_tui.diagnosis.dataflow.variables import Variables, computes
from tfdbg_tui.logdir import Variable
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import ExecutionKind, GraphOp, Run, Site
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_READ = "ReadVariableOp"
_REFERENCES = frozenset({"VariableV2", "Variable"})
_READ_IN_V1 = frozenset({_READ, "Identity"})
_SAME_NUMBERS = frozenset({"Cast", "Reshape"})
_UPDATES = frozenset({"AssignSubVariableOp", "AssignAddVariableOp"})


class Value(NamedTuple):
    """What a tensor of a graph is of a variable.

    Attributes:
        variable: The variable.
        is_update: Whether it is added to it or taken off, rather than its value.
    """

    variable: Variable
    is_update: bool


class VariableValues:
    """Knows the variables whose values tensors are.

    Args:
        run: The run.
        calls: The calls between its graphs.

    Attributes:
        variables: Those of the run, and what ops of TensorFlow 1 make of which values are recorded.
        steps: The ops that compute a variable from what it held (`ResourceApplyAdam`), by graph and
            name, each with its variable.
    """

    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._timeline = Timeline(run, calls)
        self._known = {v.key: v for v in run.variables}
        variables = Variables(run, calls, self._timeline)
        self._of_tensors = dict(self._values(variables)) if self._known else {}
        self.steps = {**dict(self._steps(variables)), **dict(_steps_in_v1(run))}
        self._of_tensors.update(_values_in_v1(run))
        of_v1 = (value.variable for value in self._of_tensors.values())
        self.variables = tuple(dict.fromkeys((*run.variables, *of_v1)))

    def of_site(self, site: Site) -> Value | None:
        """Return what a tensor of a graph is of a variable; None where that is not known."""
        return self._of_tensors.get((site.graph_id, TensorRef(site.op_name, site.output_slot)))

    def are_read_by(self, kind: ExecutionKind) -> bool:
        """Return whether executions of a kind may read one."""
        return kind.op_type == _READ and bool(self._known)

    def of_execution(self, row: int, kind: ExecutionKind) -> Variable | None:
        """Return the variable that an execution reads; None where that is not known.

        Args:
            row: The execution.
            kind: Of which kind it is.
        """
        if not self.are_read_by(kind):
            return None
        return self._known.get((kind.file_set, next(iter(self._timeline.input_ids(row)), 0)))

    def of_measured(
        self, event: TensorEvent, found: Magnitudes
    ) -> Iterator[tuple[Variable, Magnitudes]]:
        """Yield the variables whose values a measured tensor is, with the magnitudes of each.

        Eagerly, one line reads several.

        Args:
            event: The tensor.
            found: Its magnitudes.
        """
        if event.kind == "graph_execution":
            value = self.of_site(self._run.graph_executions.site(event.index))
            if value is not None and not value.is_update:
                yield value.variable, found
            return
        kind = self._run.executions.kind(event.index)
        read = [self.of_execution(row, kind) for row in found.rows.tolist()]
        for variable in dict.fromkeys(read):
            if variable is not None:
                yield variable, found.some(np.array([one == variable for one in read]))

    def updates_in(self, steps: Int64Array, most: int) -> dict[tuple[int, int], Variable]:
        """Return which outputs of executions, as (index, slot), are added to which variables.

        Args:
            steps: The steps in which they are looked for.
            most: How many of one type are read at most, as each takes its time.
        """
        executions = self._run.executions
        found = {}
        for number, kind in enumerate(executions.distinct_kinds):
            if kind.op_type not in _UPDATES or not self._known:
                continue
            rows = executions.kinds.rows_equal(number)
            rows = rows[np.isin(executions.steps.numbers_of(rows), steps)]
            for row in rows[:most].tolist():
                handle, value = (*self._timeline.input_ids(row), 0, 0)[:2]
                variable = self._known.get((kind.file_set, handle))
                made = self._timeline.maker(value, row) if variable else None
                if variable is not None and made is not None:
                    found[made.index, made.slot] = variable
        return found

    def _values(self, variables: Variables) -> Iterator[tuple[tuple[str, TensorRef], Value]]:
        for graph_id, graph in list(self._run.graphs.items()):
            for op in list(graph.ops.values()):
                is_update = op.op_type in _UPDATES and len(op.inputs) > 1
                if op.op_type != _READ and not is_update:
                    continue
                variable = self._known.get((graph.file_set, variables.handle(op)))
                if variable is not None:
                    tensor = op.inputs[1] if is_update else TensorRef(op.name, 0)
                    yield (graph_id, tensor), Value(variable, is_update)

    def _steps(self, variables: Variables) -> Iterator[tuple[tuple[str, str], Variable]]:
        for graph_id, graph in list(self._run.graphs.items()):
            for op in list(graph.ops.values()) if self._known else ():
                key = graph.file_set, variables.handle(op) if computes(op.op_type) else 0
                if key in self._known:
                    yield (graph_id, op.name), self._known[key]


def _steps_in_v1(run: Run) -> Iterator[tuple[tuple[str, str], Variable]]:
    """Yield the ops of graphs of TensorFlow 1 that compute variables, with these."""
    for graph_id, graph in list(run.graphs.items()):
        ops = {} if graph.name else dict(graph.ops)
        made = _made_in_v1(ops.values(), graph.file_set)
        for op in ops.values():
            if computes(op.op_type) and op.inputs and op.inputs[0].op_name in made:
                yield (graph_id, op.name), made[op.inputs[0].op_name]


def _values_in_v1(run: Run) -> Iterator[tuple[tuple[str, TensorRef], Value]]:
    """Yield the tensors of graphs of TensorFlow 1 that are the values of variables, made by ops."""
    for graph_id, graph in list(run.graphs.items()):
        ops = {} if graph.name else dict(graph.ops)
        made = _made_in_v1(ops.values(), graph.file_set)
        for op in ops.values():
            read = op.inputs[0].op_name if op.op_type in _READ_IN_V1 and op.inputs else op.name
            if read in made and (read != op.name or op.op_type in _REFERENCES):
                yield (graph_id, TensorRef(op.name, 0)), Value(made[read], is_update=False)


def _made_in_v1(ops: Iterable[GraphOp], file_set: int) -> dict[str, Variable]:
    """Return the variables that ops are, by name; what an optimizer keeps is named after them.

    They have no handle of an eager tensor: one below 0 stands for it.
    """
    made: dict[str, Variable] = {}
    for op in ops:
        if op.op_type in _REFERENCES or op.op_type == "VarHandleOp":
            scope, _, own_name = op.name.rpartition("/")
            kept_of = made.get(scope)
            made[op.name] = Variable(
                handle=-1 - len(made),
                file_set=file_set,
                name=op.name,
                layer=op.layer,
                trainable=kept_of is None,
                optimizer=own_name if kept_of else "",
                slot_of=kept_of.handle if kept_of else 0,
            )
    return made


def uses_of_value(dataflow: Dataflow, event: TensorEvent) -> Iterator[Use]:
    """Yield what a value of a variable is used for, as it is, converted or reshaped.

    Args:
        dataflow: Of the run.
        event: The value.
    """
    for use in dataflow.consumers(event):
        if use.op_type in _SAME_NUMBERS and use.event is not None:
            yield from dataflow.consumers(use.event)
        else:
            yield use
