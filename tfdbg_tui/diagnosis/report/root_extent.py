"""How much one bug has made bad, besides its root: in the same step, and by the same line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of, stack_id_of
from tfdbg_tui.diagnosis.history import history_of
from tfdbg_tui.diagnosis.locations import location_of
from tfdbg_tui.diagnosis.report.when import step_of
from tfdbg_tui.diagnosis.roots import Health, Root
from tfdbg_tui.diagnosis.rules import explain
from tfdbg_tui.diagnosis.updates import changes_variable, named_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.report.cases import CaseBuilder
    from tfdbg_tui.diagnosis.report.findings import Finding
    from tfdbg_tui.diagnosis.report.root_evidence import RootEvidence
    from tfdbg_tui.diagnosis.report.suggestions import Suggestions
    from tfdbg_tui.diagnosis.roots import Causes
    from tfdbg_tui.diagnosis.rules.model import Defect
    from tfdbg_tui.logdir import Layer

_ALIKE = 32  # tensors that one bug has made bad, whose layers are looked for
_MEMBERS = 8  # places with alerts of a root, which are looked at for a variable


class RootExtent:
    """Adds to findings what else the same bug has made bad.

    Args:
        dataflow: Where tensors come from and go to.
        causes: The roots of the alerts.
        cases: What is known of roots.
        evidence: What is said of the places of roots.
        suggestions: Changes of the program.
        layer_of: Returns the layer of a tensor, or None.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        causes: Causes,
        cases: CaseBuilder,
        evidence: RootEvidence,
        suggestions: Suggestions,
        layer_of: Callable[[TensorEvent], Layer | None],
    ) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._causes = causes
        self._cases = cases
        self._root_evidence = evidence
        self._suggestions = suggestions
        self._layer_of = layer_of

    def added_to(self, found: Finding, root: Root, rule: Defect) -> Finding:
        """Return a finding with what else the same bug has made bad.

        Args:
            found: The finding.
            root: Its root.
            rule: What explains it.
        """
        alike = self._alike(root)
        layers = [layer for event in alike if (layer := self._layer_of(event))]
        own = {None, found.layer, found.input_layer}
        others = self._others_of_line(root, found, rule)
        return replace(
            found,
            other_suggestions=others,
            evidence=found.evidence + self._root_evidence.of(root, found, alike, others),
            other_layers=tuple(dict.fromkeys(layer for layer in layers if layer not in own)),
            variables=() if own - {None} else self._variables(root, alike),
        )

    def _alike(self, root: Root) -> list[TensorEvent]:
        """Return the tensors that the same bug has made bad of finite ones, in the same step.

        Eagerly, one line makes several.
        """
        found = [*root.first_tensors, *self._of_line(root)[:_ALIKE]]
        step = step_of(self._dataflow, root.event)
        alike = dict.fromkeys(found[:_ALIKE])
        return [
            event
            for event in alike
            if step_of(self._dataflow, event) == step and self._is_new(event)
        ]

    def _of_line(self, root: Root) -> list[TensorEvent]:
        """Return what the line of a root made bad eagerly, or the first and the last of many."""
        if root.event.kind != "execution":
            return []
        rows: list[int] = []
        for event in self._by_expression(root.event):
            history = history_of(self._dataflow, event)
            rows += history.rows[history.bad & (history.rows >= root.event.index)].tolist()
        rows.sort()
        if len(rows) > 2 * _ALIKE:
            rows = rows[:_ALIKE] + rows[-_ALIKE:]
        return [replace(root.event, index=row) for row in rows]

    def _by_expression(self, event: TensorEvent) -> Iterator[TensorEvent]:
        """Yield an eager tensor, and the first bad one of each other expression of its line.

        Args:
            event: What an op has made; those of other expressions are of the same type of op.
        """
        yield event
        executions = self._run.executions
        line = location_of(self._run, stack_id_of(self._run, event))
        bad = executions.alert_rows[:]
        stacks, first = np.unique(executions.stack_ids.take(bad), return_index=True)
        for stack_id, row in zip(stacks.tolist(), bad[first].tolist(), strict=True):
            other = replace(event, index=row)
            is_other = stack_id != stack_id_of(self._run, event)
            is_alike = op_type_of(self._run, other) == op_type_of(self._run, event)
            if is_other and is_alike and location_of(self._run, stack_id) == line:
                yield other

    def _others_of_line(self, root: Root, found: Finding, rule: Defect) -> tuple[str, ...]:
        """Return the changes of other expressions of the line that were bad, perhaps later.

        Eagerly, a line has one root for all that it makes of one type; in a graph, for what it
        makes of one tensor.

        Args:
            root: The root.
            found: The finding on it, which has the change of one expression.
            rule: What explains it.
        """
        if found.suggestion is None or found.in_gradient:
            return ()
        line = location_of(self._run, stack_id_of(self._run, root.event))
        rules = {found.op_type: rule}
        changes = {found.suggestion.partition(" → ")[0]: found.suggestion}
        for event in dict.fromkeys([*self._of_line(root), *root.first_tensors[:_ALIKE]]):
            node = self._causes.node_of(event)
            own_line = location_of(self._run, stack_id_of(self._run, event))
            if node is None or own_line != line or not self._is_new(event):
                continue
            op_type = op_type_of(self._run, event) or ""
            if op_type not in rules:
                rules[op_type] = explain(self._cases.case(Root(node)))[0]
            change = self._suggestions.at(event, rules[op_type], own_line)
            if change is not None:
                changes.setdefault(change.partition(" → ")[0], change)
        return tuple(changes.values())[1:]

    def _is_new(self, event: TensorEvent) -> bool:
        """Whether nothing bad went into a tensor."""
        health = (self._causes.health(event, one) for one in self._dataflow.producers(event))
        return Health.BAD not in health

    def _variables(self, root: Root, alike: Sequence[TensorEvent]) -> tuple[str, ...]:
        """Return the variables that bad tensors of no layer are made of, or that they change.

        What a program keeps beside its variables has no name on record: then it is the first
        variable that is changed of it.

        Args:
            root: The root.
            alike: What the same bug has made bad.
        """
        step = step_of(self._dataflow, root.event)
        found = [name for one in alike for name in named_variables(self._dataflow, one)]
        members = (node.site.first for node in root.members[:_MEMBERS])
        kept = not found and changes_variable(self._dataflow, root.event)
        for event in members if kept else ():
            if step_of(self._dataflow, event) == step:
                found += named_variables(self._dataflow, event)
            if found:
                break
        return tuple(dict.fromkeys(found))
