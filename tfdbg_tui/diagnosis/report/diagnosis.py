"""What is found out about a run: the roots of its alerts, explained by rules, and what is not."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict

from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.unrecorded import UnrecordedLinks
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import (
    UNKNOWN_OP,
    TensorEvent,
    device_of,
    graph_id_of,
    graph_op_of,
    is_bad,
    name_of,
    op_name_of,
    op_type_of,
    stack_id_of,
    summary_of,
)
from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.gradients import (
    ForwardOp,
    forward_op,
    is_backward,
    is_users_gradient,
)
from tfdbg_tui.diagnosis.history import history_of
from tfdbg_tui.diagnosis.layers import LayersOfOps, layer_before
from tfdbg_tui.diagnosis.locations import (
    Location,
    frames_of_user,
    is_converted,
    location_of,
    source_lines,
)
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, SELECTS_ELEMENTS
from tfdbg_tui.diagnosis.report import advice
from tfdbg_tui.diagnosis.report.cases import CaseBuilder
from tfdbg_tui.diagnosis.report.findings import Finding, Report
from tfdbg_tui.diagnosis.report.headroom import headroom_of
from tfdbg_tui.diagnosis.report.library_calls import library_call
from tfdbg_tui.diagnosis.report.links import Link, Links
from tfdbg_tui.diagnosis.report.loaded import calling_line, is_loaded
from tfdbg_tui.diagnosis.report.when import (
    batch_of,
    element_of,
    is_made_ahead,
    iteration_of,
    step_before,
    step_of,
    when_text,
)
from tfdbg_tui.diagnosis.roots import Causes, Health, Root
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules import explain
from tfdbg_tui.diagnosis.rules.conditions import amount
from tfdbg_tui.diagnosis.rules.edits import (
    Occurrence,
    Occurrences,
    for_keras,
    imports_tensorflow,
    suggestion,
)
from tfdbg_tui.diagnosis.rules.silent.search import find_suspects
from tfdbg_tui.diagnosis.statements import line_of_op
from tfdbg_tui.diagnosis.updates import changes_variable, named_variables, updated_layer
from tfdbg_tui.wire.events import BUILDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.rules.model import Case, Explanation, Match
    from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
    from tfdbg_tui.logdir import FitBatch, Layer, Run, StackFrame

_ALIKE = 32  # tensors that one bug has made bad, whose layers are looked for
_LINES = 8  # lines beside the first that are named
_MEMBERS = 8  # places with alerts of a root, which are looked at for a variable


_SELECTED_AFTER = 4  # ops that take a bad tensor one after the other before a select does

_LOADED = "a function that was loaded"
_WIDER = " Or compute it in float64."

_HIDDEN = "a select leaves out its value, but not its slope"
_MAY_HIDE = "a select may leave out its value, but not its slope"


class _When(TypedDict):
    step: int | None
    fit_batch: FitBatch | None
    after_step: int | None
    when: str


class Diagnosis:
    """Everything that is found out about a run; the report is the short of it.

    Attributes:
        dataflow: Where tensors come from and go to.
        causes: The roots of the alerts.
        links: How bad values got from tensor to tensor.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.dataflow = Dataflow(run)
        self.causes = Causes(run, self.dataflow)
        self.links = Links(run, self.dataflow, self.causes)
        self._cases = CaseBuilder(run, self.dataflow, self.causes)
        self._occurrences = Occurrences(run, self.dataflow.timeline.alike)
        self._layers = LayersOfOps(run)

    def report(self) -> Report:
        """Return the report."""
        run = self._run
        cases = {id(root): self._cases.case(root) for root in self.causes.roots}
        findings = [(root, self.finding(root, cases[id(root)])) for root in self.causes.roots]
        roots = tuple(finding for root, finding in findings if not root.contained)
        benign = tuple(finding for root, finding in findings if root.contained)
        unproved = [
            cases[id(root)]
            for root, finding in findings
            if not root.contained and finding.certainty != "proved"
        ]
        suspects = tuple(
            self._suspected(suspect) for suspect in find_suspects(run, self.dataflow, self.causes)
        )
        # Last: some records turn out to be unreadable only when they are asked for.
        return Report.on(
            run,
            roots=roots,
            suspects=suspects,
            benign=benign,
            headroom=None if roots or suspects else headroom_of(run, self.dataflow),
            advice=tuple(advice.advice(run, unproved)),
        )

    def finding(self, root: Root, case: Case | None = None) -> Finding:
        """Return what rules say about a root."""
        rule, match = explain(case or self._cases.case(root))
        event, chain = self._made_by(root.event), self.links.of_root(root)
        if all(link.event != event for link in chain):
            chain = (self.links.link(event, False, ""), *chain)
        found = self._finding(event, rule, match, root.alerts, chain)
        if self._in_pipeline(root.event):
            used = self._first_use(root)
            when = self._when(used or event, self._step(used) if used else None)
            found = replace(found, made_ahead=True, **when)
        alike = self._alike(root)
        layers = [layer for event in alike if (layer := self._layer(event))]
        own = {None, found.layer, found.input_layer}
        others = self._others_of_line(root, found, rule)
        return replace(
            found,
            other_suggestions=others,
            evidence=found.evidence
            + _beside(root)
            + self._called_at(root)
            + self._hidden(root)
            + _bad_as_well([change.partition(" → ")[0] for change in others])
            + self._other_lines(root, found, alike)
            + self._other_arguments(root, alike)
            + self._given_later(root),
            other_layers=tuple(dict.fromkeys(layer for layer in layers if layer not in own)),
            variables=() if own - {None} else self._variables(root, alike),
        )

    def _alike(self, root: Root) -> list[TensorEvent]:
        """Return the tensors that the same bug has made bad of finite ones, in the same step.

        Eagerly, one line makes several.
        """
        found = [*root.first_tensors, *self._of_line(root)[:_ALIKE]]
        step = self._step(root.event)
        alike = dict.fromkeys(found[:_ALIKE])
        return [event for event in alike if self._step(event) == step and self._is_new(event)]

    def _of_line(self, root: Root) -> list[TensorEvent]:
        """Return what the line of a root made bad eagerly, or the first and the last of many."""
        if root.event.kind != "execution":
            return []
        history = history_of(self._run, self.dataflow, root.event)
        rows = history.rows[history.bad & (history.rows >= root.event.index)].tolist()
        if len(rows) > 2 * _ALIKE:
            rows = rows[:_ALIKE] + rows[-_ALIKE:]
        return [replace(root.event, index=row) for row in rows]

    def _others_of_line(self, root: Root, found: Finding, rule: Explanation) -> tuple[str, ...]:
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
            node, made_at = self.causes.node_of(event), stack_id_of(self._run, event)
            if node is None or location_of(self._run, made_at) != line or not self._is_new(event):
                continue
            op_type = op_type_of(self._run, event) or ""
            if op_type not in rules:
                rules[op_type] = explain(self._cases.case(Root(node)))[0]
            of_op = self._occurrences.of(event)
            change = self._suggestion_at(event, rules[op_type], line, of_op)
            if change is not None:
                changes.setdefault(change.partition(" → ")[0], change)
        return tuple(changes.values())[1:]

    def _called_at(self, root: Root) -> str:
        """Say where the function of a line was called, where the line has other roots as well."""
        frames = self._frames_of_user(root)
        if root.contained or len(frames) < 2 or len(self._callers[frames[-1]]) < 2:
            return ""
        return f"; called at {os.path.basename(frames[-2].path or '')}:{frames[-2].line}"

    @cached_property
    def _callers(self) -> dict[StackFrame, set[StackFrame]]:
        """The frames that called the lines of roots, by the frames of these lines."""
        found: dict[StackFrame, set[StackFrame]] = defaultdict(set)
        for root in self.causes.roots:
            frames = self._frames_of_user(root)
            if not root.contained and frames:
                found[frames[-1]].update(frames[-2:-1])
        return found

    def _frames_of_user(self, root: Root) -> list[StackFrame]:
        stack_id = stack_id_of(self._run, root.event)
        return frames_of_user(self._run.stack(stack_id)) if stack_id is not None else []

    def _other_lines(self, root: Root, found: Finding, alike: Sequence[TensorEvent]) -> str:
        """Say on which other lines the same was bad in the same step, or in whose gradients.

        Eagerly, all gradients of a type are made in one line: that which asked for them.

        Args:
            root: The root.
            found: The finding on it.
            alike: What the same bug has made bad.
        """
        run, eager = self._run, root.event.kind == "execution"
        backward = is_backward(run, root.event)
        if backward:
            place = place_of(run, root.event)
            same = (event for event in alike if eager and place_of(run, event) == place)
            ops = [self._differentiated(event) for event in same]
            lines = [location_of(run, op.stack_id) for op in ops if op]
        else:
            same = (e for e in alike if op_type_of(run, e) == found.op_type)
            lines = [self._ran_at(event) for event in same if not is_backward(run, event)]
        others = dict.fromkeys((line.file, line.line) for line in lines if line)
        if found.location:
            others.pop((found.location.file, found.location.line), None)
        named = [f"{os.path.basename(file)}:{number}" for file, number in others]
        whose = "the gradient of " if backward else ""
        return f"; the same in {whose}{_first_of(named)}" if named else ""

    def _other_arguments(self, root: Root, alike: Sequence[TensorEvent]) -> str:
        """Say what else came in that was bad: of a batch of data several arrays may be."""
        run = self._run
        if op_type_of(run, root.event) not in ARGUMENTS:
            return ""
        others = [event for event in alike if op_type_of(run, event) in ARGUMENTS]
        names = dict.fromkeys(name_of(run, event) for event in others)
        names.pop(name_of(run, root.event), None)
        return f"; so came {_first_of(list(names))}" if names else ""

    def _given_later(self, root: Root) -> str:
        """Say what else Python gave that was bad, which it may or may not have made of this."""
        groups = (group for group in (root, *root.guessed) if group.node.open)
        given = [group.event for group in groups if self._is_given_by_python(group.event)]
        if root.event not in given:
            return ""
        names = list(dict.fromkeys(map(self._name_and_line, given)))[1:]
        return f"; given later, perhaps because of it: {_first_of(names)}" if names else ""

    def _is_given_by_python(self, event: TensorEvent) -> bool:
        """Whether Python gave a function a bad argument, or an eager op what no op has made."""
        if event.kind == "graph_execution":
            return UnrecordedLinks(self._run, self.dataflow).is_from_python(event)
        given = (one.given for one in self.dataflow.producers(event) if one.event is None)
        return any(one is not None and one.has_inf_or_nan is True for one in given)

    def _name_and_line(self, event: TensorEvent) -> str:
        line, graph = self._ran_at(event), self._run.graphs.get(graph_id_of(self._run, event) or "")
        inside = f" in {readable_function(graph.name)}" if graph else ""
        at = f" at {os.path.basename(line.file)}:{line.line}" if line else ""
        return f"{name_of(self._run, event)}{inside}{at}"

    def _hidden(self, root: Root) -> str:
        """Say that selects leave out what is bad, where a gradient is bad all the same."""
        members = (node.site.first for node in root.members[:_ALIKE])
        if root.contained or not self._is_left_out(root.event, _SELECTED_AFTER):
            return ""
        return f" ({_HIDDEN})" * any(is_backward(self._run, event) for event in members)

    def _is_left_out(self, event: TensorEvent, depth: int) -> bool:
        """Whether only selects take a tensor of the forward pass, or what it makes bad.

        Args:
            event: The bad tensor.
            depth: Of how many ops one after the other the results are looked at.
        """
        run = self._run
        made = [(u.op_type, u.event) for u in self.dataflow.consumers(event) if u.event is not None]
        made = [(op_type, one) for op_type, one in made if not is_backward(run, one)]
        if is_backward(run, event) or not made or not depth:
            return False
        for op_type, one in made:
            summary = self.causes.summary(one)
            if summary is None or summary.has_inf_or_nan is None:
                return False
            if summary.has_inf_or_nan and not self._is_left_out(one, depth - 1):
                return False
            if not summary.has_inf_or_nan and op_type not in SELECTS_ELEMENTS:
                return False
        return True

    def _first_use(self, root: Root) -> TensorEvent | None:
        """Return what was first made bad, in a step, of what a pipeline made.

        It makes data in advance, while other steps run.
        """
        made = (node.site.first for node in root.members[:_ALIKE])
        used = (event for event in made if not self._in_pipeline(event))
        return next((event for event in used if self._step(event) is not None), None)

    def _in_pipeline(self, event: TensorEvent) -> bool:
        return is_made_ahead(self._run, self.dataflow, event)

    def _is_new(self, event: TensorEvent) -> bool:
        """Whether nothing bad went into a tensor."""
        health = (self.causes.health(event, one) for one in self.dataflow.producers(event))
        return Health.BAD not in health

    def _variables(self, root: Root, alike: Sequence[TensorEvent]) -> tuple[str, ...]:
        """Return the variables that bad tensors of no layer are made of, or that they change.

        What a program keeps beside its variables has no name on record: then it is the first
        variable that is changed of it.

        Args:
            root: The root.
            alike: What the same bug has made bad.
        """
        run, step = self._run, self._step(root.event)
        found = [name for one in alike for name in named_variables(run, self.dataflow, one)]
        members = (node.site.first for node in root.members[:_MEMBERS])
        kept = not found and changes_variable(run, self.dataflow, root.event)
        for event in members if kept else ():
            if self._step(event) == step:
                found += named_variables(run, self.dataflow, event)
            if found:
                break
        return tuple(dict.fromkeys(found))

    def _made_by(self, event: TensorEvent) -> TensorEvent:
        """Return the op that made a bad tensor: that which changed a variable, if that was read."""
        if assigns(op_type_of(self._run, event) or ""):
            return event
        producers = self.dataflow.producers(event)
        producer = next((one for one in producers if one.via == "variable"), None)
        if producer is None or producer.event is None:
            return event
        updated = producer.updated_by is not None
        changed_by = op_type_of(self._run, producer.event) if updated else producer.op_type
        return producer.event if assigns(changed_by or "") else event

    def _iteration(self, event: TensorEvent) -> int | None:
        recorded = iteration_of(self._run, event)
        return element_of(self._run, self.dataflow, event) if recorded is None else recorded

    def _suspected(self, suspect: Suspect) -> Finding:
        finding = self._finding(suspect.event, suspect.rule, suspect.match, suspect.times, ())
        finding = replace(finding, other_layers=suspect.others)
        if finding.step is None is finding.after_step and suspect.step is not None:
            finding = replace(finding, **self._when(suspect.event, suspect.step))
        if suspect.layer is None:
            return finding
        return replace(finding, layer=suspect.layer, input_layer=None, variables=())

    def _finding(
        self,
        event: TensorEvent,
        rule: Explanation,
        match: Match,
        alerts: int,
        chain: Sequence[Link],
    ) -> Finding:
        run = self._run
        graph = run.graphs.get(graph_id_of(run, event) or "")
        ran = self._ran_at(event)
        forward = self._differentiated(event)
        called = location_of(run, forward.stack_id) if forward else None
        location = called or ran
        step = self._step(event)
        whose = _in_gradient(forward) if forward and called != ran else ""
        layer = (forward.layer if forward else None) or self._layers.of_event(event)
        input_layer = self._input_layer(event, layer)
        if layer is None and input_layer is None:
            layer = updated_layer(run, self.dataflow, event)
        is_of_none = layer is None and input_layer is None
        suggested = self._suggestion(event, rule, called)
        return Finding(
            rule=rule.id,
            certainty=match.certainty,
            title=rule.title,
            evidence=match.evidence
            + whose
            + self._loaded_at(event)
            + self._changed_at(event)
            + self._in_thread(event),
            why=rule.why,
            fix=(rule.fix if suggested else self._fix(event, rule, layer))
            + _WIDER * (rule.float64_helps and not self._is_widest(event)),
            suggestion=suggested,
            event=event,
            op_name=op_name_of(run, event),
            op_type=op_type_of(run, event) or UNKNOWN_OP,
            graph=graph.name if graph else None,
            **self._when(event, step, step_before(run, self.dataflow, event)),
            device=device_of(run, event),
            location=location,
            differentiated_at=ran if ran != location else None,
            forward_stack_id=forward.stack_id if forward and called not in (None, ran) else None,
            alerts=alerts,
            chain=tuple(chain),
            layer=layer,
            input_layer=input_layer,
            variables=tuple(named_variables(run, self.dataflow, event)) if is_of_none else (),
            iteration=self._iteration(event),
            in_gradient=is_backward(run, event),
            summary=summary_of(run, event),
        )

    def _when(self, event: TensorEvent, step: int | None, after: int | None = None) -> _When:
        batch = batch_of(self._run, self.dataflow, event, step) if step is not None else None
        return {
            "step": step,
            "fit_batch": batch,
            "after_step": after,
            "when": when_text(self._run, step, after, batch),
        }

    def _layer(self, event: TensorEvent) -> Layer | None:
        return self._layers.of_event(event) or updated_layer(self._run, self.dataflow, event)

    def _step(self, event: TensorEvent) -> int | None:
        return step_of(self._run, self.dataflow, event)

    def _input_layer(self, event: TensorEvent, layer: Layer | None) -> Layer | None:
        """Return the layer whose result a tensor, or that whose gradient it is, is made of."""
        if not is_backward(self._run, event):
            return layer_before(event, self._forward_sources, self._layers.of_event, layer)
        op = graph_op_of(self._run, event)
        return self._layers.given_to_forward(op, layer) if op is not None else None

    def _forward_sources(self, event: TensorEvent) -> list[TensorEvent]:
        sources = (producer.event for producer in self.dataflow.producers(event))
        return [one for one in sources if one is not None and not is_backward(self._run, one)]

    def _differentiated(self, event: TensorEvent) -> ForwardOp | None:
        """Return the op whose gradient an event is, unless the user has written the gradient."""
        run = self._run
        if not is_backward(run, event) or is_users_gradient(run, event):
            return None
        return forward_op(run, self.dataflow, event)

    def _ran_at(self, event: TensorEvent) -> Location | None:
        """Return the user's line that made a tensor.

        For what Python runs as a whole, a gradient function or a replica's thread, and for what it
        feeds to a session, that is the line that ran it; of a function that was loaded, the line
        that called it.  A variable that an update in a graph has made bad was made by that update.
        """
        run = self._run
        if (updated := self._updated_at(event)) is not None:
            return updated
        if is_loaded(run, event) and (called := calling_line(run, self.dataflow, event)):
            return called
        calls = self.dataflow.calls
        graph = run.graphs.get(calls.outermost(graph_id_of(run, event) or ""))
        created = self._written_at(event)
        if event.kind == "execution" or graph is None:
            return created
        is_fed = not graph.name and op_type_of(run, event) == "Placeholder"
        if created is not None and not (is_fed or graph.name.startswith("__backward_")):
            return created
        index = self.dataflow.timeline.execution_of(event.index)
        ran = location_of(run, run.executions.stack_ids[index]) if index is not None else None
        return ran or created

    def _loaded_at(self, event: TensorEvent) -> str:
        """Say where an op was loaded, which was made by no line of the program."""
        line = self._written_at(event) if is_loaded(self._run, event) else None
        return f"; loaded at {os.path.basename(line.file)}:{line.line}" if line else ""

    def _updated_at(self, event: TensorEvent) -> Location | None:
        """Return the user's line that has updated, in a graph, what is read of a variable, bad."""
        if not is_bad(self._run, event):
            return None
        producers = self.dataflow.producers(event)
        updates = [one.updated_at for one in producers if one.updated_by is not None]
        return next(filter(None, (location_of(self._run, stack_id) for stack_id in updates)), None)

    def _written_at(self, event: TensorEvent) -> Location | None:
        """Return the user's line that made a tensor, in a statement of several lines as well."""
        run, stack_id = self._run, stack_id_of(self._run, event)
        known = location_of(run, stack_id)
        if known is None or not is_converted(run, stack_id):
            return known
        for lines in (source_lines(run, host, known.file) for host in run.hosts):
            line = line_of_op(lines, known.line, op_type_of(run, event) or "")
            if line != known.line:
                return replace(known, line=line, code=lines[line - 1].strip())
        return known

    def _changed_at(self, event: TensorEvent) -> str:
        """Say where Python assigned a variable what is read of it, or where an update is read."""
        updated, read = self._updated_at(event), self._written_at(event)
        if updated is not None and read is not None:
            named = f"; read at {os.path.basename(read.file)}:{read.line}"
            return named if (read.file, read.line) != (updated.file, updated.line) else ""
        assigned = [
            location_of(self._run, stack_id_of(self._run, producer.event))
            for producer in self.dataflow.producers(event)
            if producer.via == "variable" and producer.event and producer.event.kind == "execution"
        ]
        lines = [f"{os.path.basename(line.file)}:{line.line}" for line in assigned if line]
        return f"; assigned at {lines[0]}" if lines else ""

    def _in_thread(self, event: TensorEvent) -> str:
        """Say which thread has made a tensor, where it is not the one that began."""
        timeline = self.dataflow.timeline
        index = timeline.execution_at(event)
        thread = timeline.execution(index).thread if index is not None else None
        return f"; in another thread than the first (number {thread})" if thread else ""

    def _fix(self, event: TensorEvent, rule: Explanation, layer: Layer | None) -> str:
        """Say what to do: in the user's line, not in a library that it calls."""
        call: str | None = _LOADED
        if not is_loaded(self._run, event):
            call = rule.fix_in_library and library_call(self._run, self.dataflow, event, layer)
        if not call:
            return rule.fix
        op_type = op_type_of(self._run, event)
        told = f"{op_type} is inside of {call}: change what that is given. {rule.fix_in_library}"
        return told.rstrip()

    def _is_widest(self, event: TensorEvent) -> bool:
        """Whether a tensor is of the type with the most digits already."""
        summary = self.causes.summary(event)
        return summary is not None and summary.dtype in ("float64", "complex128")

    def _suggestion(
        self, event: TensorEvent, rule: Explanation, called: Location | None
    ) -> str | None:
        """Return the change of the user's expression: where the op, or its inputs, were made.

        Args:
            event: The first bad tensor.
            rule: What explains it.
            called: Where the op was called whose gradient it belongs to.
        """
        if not rule.edits or is_loaded(self._run, event):
            return None
        run = self._run
        inputs = [p.event for p in self.dataflow.producers(event) if p.event]
        places = [
            (location_of(run, stack_id_of(run, place)), self._occurrences.of(place))
            for place in (event, *map(self.dataflow.origin, inputs))
        ]
        for location, occurrence in (*places[:1], (called, None), *places[1:]):
            found = self._suggestion_at(event, rule, location, occurrence)
            if found is not None:
                return found
        return None

    def _suggestion_at(
        self,
        event: TensorEvent,
        rule: Explanation,
        location: Location | None,
        occurrence: Occurrence | None,
    ) -> str | None:
        """Return the change of the user's expression on one line; None where none fits.

        Args:
            event: The first bad tensor.
            rule: What explains it.
            location: The line.
            occurrence: Which one the op is of those that the line makes, where that is known.
        """
        if location is None:
            return None
        summary = self.causes.summary(event)
        dtype = summary.dtype if summary else None
        for host in self._run.hosts:
            lines = source_lines(self._run, host, location.file)
            found = suggestion(lines, location.line, rule.edits, occurrence, dtype)
            if found is not None and (
                not imports_tensorflow(lines) or self._is_symbolic(event, location)
            ):
                found = for_keras(found)
            if found is not None:
                return found
        return None

    def _is_symbolic(self, event: TensorEvent, location: Location) -> bool:
        """Whether a line gives symbolic tensors of Keras 3 to an operation that is no layer."""
        layer = self._layer(event)
        return layer is not None and not layer.dtype_policy and BUILDS in location.function


def _beside(root: Root) -> str:
    """Say what bad elements came in beside those that an op has made of its own."""
    came = root.addition.came_in.items() if root.addition else ()
    kinds = " and ".join(amount(count, kind) for kind, count in came if count)
    return f"; beside {kinds} that came in" if kinds else ""


def _first_of(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - _LINES} more" if len(names) > _LINES else ""
    return f"{', '.join(names[:_LINES])}{more}"


def _bad_as_well(expressions: Sequence[str]) -> str:
    return f"; bad as well: {_first_of(expressions)}" if expressions else ""


def _in_gradient(forward: ForwardOp) -> str:
    """Say whose gradient a tensor belongs to."""
    hidden = f" ({_MAY_HIDE})" * forward.selected
    return f"; in the gradient of {forward.op_type}{hidden}"


def diagnose(run: Run) -> Report:
    """Return the report on a run."""
    return Diagnosis(run).report()
