"""What is found out about a run: the roots of its alerts, explained by rules, and what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import (
    UNKNOWN_OP,
    TensorEvent,
    device_of,
    graph_id_of,
    graph_op_of,
    is_bad,
    op_name_of,
    op_type_of,
    summary_of,
)
from tfdbg_tui.diagnosis.gradients import ForwardOp, is_backward
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of
from tfdbg_tui.diagnosis.layers import LayersOfOps, is_recurrent, layer_before
from tfdbg_tui.diagnosis.locations import location_of
from tfdbg_tui.diagnosis.report import advice
from tfdbg_tui.diagnosis.report.cases import CaseBuilder
from tfdbg_tui.diagnosis.report.chain_links import Link, Links
from tfdbg_tui.diagnosis.report.finding_lines import FindingLines, at_line
from tfdbg_tui.diagnosis.report.findings import Finding, Report
from tfdbg_tui.diagnosis.report.first_large import first_large
from tfdbg_tui.diagnosis.report.growth import loss_that_fell, not_measured_before
from tfdbg_tui.diagnosis.report.headroom import headroom_of
from tfdbg_tui.diagnosis.report.library_calls import library_call
from tfdbg_tui.diagnosis.report.loaded import is_loaded
from tfdbg_tui.diagnosis.report.program_lines import ProgramLines
from tfdbg_tui.diagnosis.report.root_evidence import RootEvidence
from tfdbg_tui.diagnosis.report.root_extent import RootExtent
from tfdbg_tui.diagnosis.report.suggestions import Suggestions
from tfdbg_tui.diagnosis.report.when import (
    batch_of,
    element_of,
    is_made_ahead,
    iteration_of,
    since_text,
    step_before,
    step_of,
    when_text,
)
from tfdbg_tui.diagnosis.roots import Causes, Root
from tfdbg_tui.diagnosis.rules import explain, overflow
from tfdbg_tui.diagnosis.rules.silent.defects import (
    IN_ALL_STEPS,
    LOSS_FALLS_WITHOUT_END,
    LOSS_SCALE_BELOW_ONE,
    NOTHING_TRAINED,
    OPTIMIZER_SLOT_EXPLODED,
    STEPS_TOO_LONG,
    TRAINING_DIVERGES,
    UPDATES_NEXT_TO_NOTHING,
    UPDATES_OF_ZERO,
    UPDATES_TOO_SMALL,
)
from tfdbg_tui.diagnosis.rules.silent.search import find_suspects
from tfdbg_tui.diagnosis.updates import named_variables, updated_layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.rules.model import Case, Defect, Match
    from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
    from tfdbg_tui.logdir import FitBatch, Layer, Run

_MEMBERS = 32  # places with alerts of a root, among which is the first use of what a pipeline made

_LOADED = "a function that was loaded"
_WIDER = " Or compute it in float64."

_OVERFLOWS = frozenset(rule.id for rule in (*overflow.RULES, overflow.LOSS_SCALE))
_OF_NO_LAYER = (
    TRAINING_DIVERGES,
    LOSS_FALLS_WITHOUT_END,
    NOTHING_TRAINED,
    UPDATES_TOO_SMALL,
    UPDATES_NEXT_TO_NOTHING,
    UPDATES_OF_ZERO,
    OPTIMIZER_SLOT_EXPLODED,
)
"""Suspects for which no layer is to blame: they are told at the line that trains."""
_OF_RATE = (
    STEPS_TOO_LONG,
    UPDATES_TOO_SMALL,
    UPDATES_NEXT_TO_NOTHING,
    UPDATES_OF_ZERO,
    OPTIMIZER_SLOT_EXPLODED,
)
"""Suspects that are told at the line that made the optimizer, where there is one."""
_MAY_HIDE = "a select may leave out its value, but not its slope"


class _When(TypedDict):
    step: int | None
    fit_batch: FitBatch | None
    after_step: int | None
    when: str


class _Where(TypedDict):
    location: Location | None
    differentiated_at: Location | None
    forward_stack_id: int | None


class _Whose(TypedDict):
    layer: Layer | None
    input_layer: Layer | None
    variables: tuple[str, ...]


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
        self.causes = Causes(self.dataflow)
        self.links = Links(self.dataflow, self.causes)
        self._cases = CaseBuilder(self.dataflow, self.causes)
        self._layers = LayersOfOps(run)
        self._lines = ProgramLines(self.dataflow)
        self._finding_lines = FindingLines(self.dataflow, self._lines, self.links)
        evidence = RootEvidence(self.dataflow, self.causes, self._lines)
        self._suggestions = Suggestions(self.dataflow, self.causes, self._layer)
        self._extent = RootExtent(
            self.dataflow, self.causes, self._cases, evidence, self._suggestions, self._layer
        )

    def report(self) -> Report:
        """Return the report."""
        run = self._run
        cases = {id(root): self._cases.case(root) for root in self.causes.roots}
        found = [(one, self._root_of(one)) for one in find_suspects(self.dataflow, self.causes)]
        said = {id(root): suspect.match.evidence for suspect, root in found}
        findings = [(root, self.finding(root, cases[id(root)])) for root in self.causes.roots]
        made = {id(root): finding for root, finding in findings}
        roots = tuple(
            _with(finding, said.get(id(root))) for root, finding in findings if not root.contained
        )
        benign = tuple(finding for root, finding in findings if root.contained)
        unproved = [
            cases[id(root)]
            for root, finding in findings
            if not root.contained and finding.certainty != "proved"
        ]
        suspects = tuple(
            self._suspected(one)
            if root is None
            else self._skips(replace(one, event=root.event), made[id(root)])
            for one, root in found
            if root is None or root.contained
        )
        # Last: some records turn out to be unreadable only when they are asked for.
        return Report.on(
            run,
            roots=roots,
            suspects=suspects,
            benign=benign,
            headroom=None if roots or suspects else headroom_of(self.dataflow),
            advice=tuple(advice.advice(run, unproved)),
        )

    def _root_of(self, suspect: Suspect) -> Root | None:
        """Return the root of the gradients that a suspect is about, where these are bad."""
        node = self.causes.node_of(suspect.event) if is_bad(self._run, suspect.event) else None
        return next((root for root in self.causes.roots if node in root.members), None)

    def finding(self, root: Root, case: Case | None = None) -> Finding:
        """Return what rules say about a root."""
        case = case or self._cases.case(root)
        rule, match = explain(case)
        event, chain = self._made_by(root.event), self.links.of_root(root)
        if all(link.event != event for link in chain):
            chain = (self.links.link(event, False, ""), *chain)
        found = self._finding(event, rule, match, root.alerts, chain)
        if self._in_pipeline(root.event):
            used = self._first_use(root)
            when = self._when(used or event, self._step(used) if used else None)
            found = replace(found, made_ahead=True, **when)
        found = self._extent.added_to(found, root, rule)
        if case.training and case.outlier is None and rule in overflow.RULES:
            found = self._with_gap(found, root, case)
        if case.weights is not None and rule.id in overflow.DIVERGED:
            found = replace(found, evidence=f"{found.evidence}; {case.weights}")
        if rule.id in overflow.DIVERGED:
            found = self._finding_lines.with_rates(found)
        return self._where_it_began(found, root, rule, case)

    def _where_it_began(self, found: Finding, root: Root, rule: Defect, case: Case) -> Finding:
        """Return a finding at the line that it goes back to, where that is not the root's.

        Args:
            found: The finding.
            root: Its root.
            rule: What explains it.
            case: What is known of the root.
        """
        if rule is overflow.LOSS_WITHOUT_BOUND:
            fell = loss_that_fell(self.dataflow, root.event)
            if fell is not None:
                return self._finding_lines.at_loss(found, fell)
        if rule is overflow.GREW_ON_THE_WAY_BACK:
            return self._finding_lines.at_layer(found)
        large = first_large(self.dataflow, root, rule, case)
        if large is not None:
            return self._finding_lines.led_back(found, large)
        return self._finding_lines.in_users_loss(found, root)

    def _with_gap(self, found: Finding, root: Root, case: Case) -> Finding:
        """Return a finding on what overflowed that says where it may have begun unseen."""
        gap = not_measured_before(self.dataflow, root.event)
        has_grown = case.growth is not None or overflow.weights_grew(case)
        may_begin = "" if has_grown else ": a batch there may have begun it"
        return replace(found, evidence=f"{found.evidence}; {gap}{may_begin}") if gap else found

    def _first_use(self, root: Root) -> TensorEvent | None:
        """Return what was first made bad, in a step, of what a pipeline made.

        It makes data in advance, while other steps run.
        """
        made = (node.site.first for node in root.members[:_MEMBERS])
        used = (event for event in made if not self._in_pipeline(event))
        return next((event for event in used if self._step(event) is not None), None)

    def _in_pipeline(self, event: TensorEvent) -> bool:
        return is_made_ahead(self.dataflow, event)

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
        return element_of(self.dataflow, event) if recorded is None else recorded

    def _suspected(self, suspect: Suspect) -> Finding:
        finding = self._finding(suspect.event, suspect.rule, suspect.match, suspect.times, ())
        finding = replace(finding, other_layers=suspect.others)
        since = self._since(suspect)
        if since is not None:
            batch = self._run.fit_batch(since)
            when = since_text(self._run, since)
            finding = replace(finding, step=since, after_step=None, fit_batch=batch, when=when)
        if suspect.layer is not None:
            finding = replace(finding, layer=suspect.layer, input_layer=None, variables=())
        if suspect.line is not None:
            finding = at_line(finding, suspect.line, suspect.stack_id, "its op is at")
        elif suspect.rule not in _OF_NO_LAYER:
            finding = self._finding_lines.at_layer(finding)
        if suspect.rule is LOSS_FALLS_WITHOUT_END:
            return self._finding_lines.with_rates(finding)
        if suspect.rule is TRAINING_DIVERGES:
            return self._finding_lines.at_rate(finding, "its op is at")
        if suspect.rule in _OF_RATE:
            return self._finding_lines.at_rate(finding, "trained at")
        return finding

    def _skips(self, suspect: Suspect, root: Finding) -> Finding:
        """Return a finding on steps that are skipped, with what to do about the root of that.

        Args:
            suspect: The steps.
            root: The finding on the root, which does no harm but this.
        """
        found = self._suspected(suspect)
        if root.rule == overflow.LOSS_SCALE.id and suspect.rule is not LOSS_SCALE_BELOW_ONE:
            return self._finding_lines.at_scale(found)
        return _because_of(found, root)

    def _since(self, suspect: Suspect) -> int | None:
        """Return from which step on it is so; None for the step of its tensor."""
        if suspect.since is not None or suspect.rule.id not in IN_ALL_STEPS:
            return suspect.since
        measured = magnitudes_of(self.dataflow, suspect.event)
        steps, _ = by_step(self._run, measured)
        return next(
            iter((steps if len(measured) else self._run.executions.steps.numbers).tolist()), None
        )

    def _finding(
        self,
        event: TensorEvent,
        rule: Defect,
        match: Match,
        alerts: int,
        chain: Sequence[Link],
    ) -> Finding:
        run = self._run
        graph = run.graphs.get(graph_id_of(run, event) or "")
        ran, forward = self._lines.ran(event), self._lines.differentiated(event)
        called = location_of(run, forward.stack_id) if forward else None
        in_gradient = _in_gradient(forward) if forward and called != ran else ""
        whose = self._whose(event, forward)
        suggested = self._suggestions.of(event, rule, called)
        return Finding(
            rule=rule.id,
            certainty=match.certainty,
            title=rule.title,
            evidence=match.evidence + in_gradient + self._lines.evidence(event),
            why=rule.why,
            fix=(rule.fix if suggested else self._fix(event, rule, whose["layer"]))
            + self._also_helps(event, rule, whose["layer"] or whose["input_layer"]),
            suggestion=suggested,
            event=event,
            op_name=op_name_of(run, event),
            op_type=op_type_of(run, event) or UNKNOWN_OP,
            graph=graph.name if graph else None,
            **self._when(event, self._step(event), step_before(self.dataflow, event)),
            device=device_of(run, event),
            **_where(ran, called, forward),
            alerts=alerts,
            chain=tuple(chain),
            **whose,
            iteration=self._iteration(event),
            in_gradient=is_backward(run, event),
            summary=summary_of(run, event),
        )

    def _whose(self, event: TensorEvent, forward: ForwardOp | None) -> _Whose:
        """Return the layers that a tensor belongs to; where there is none, the variables.

        Args:
            event: The tensor.
            forward: The op whose gradient it belongs to, if it belongs to one.
        """
        layer = (forward.layer if forward else None) or self._layers.of_event(event)
        input_layer = self._input_layer(event, layer)
        if layer is None and input_layer is None:
            layer = updated_layer(self.dataflow, event)
        is_of_none = layer is None and input_layer is None
        variables = tuple(named_variables(self.dataflow, event)) if is_of_none else ()
        return {"layer": layer, "input_layer": input_layer, "variables": variables}

    def _when(self, event: TensorEvent, step: int | None, after: int | None = None) -> _When:
        batch = batch_of(self.dataflow, event, step) if step is not None else None
        return {
            "step": step,
            "fit_batch": batch,
            "after_step": after,
            "when": when_text(self._run, step, after, batch),
        }

    def _layer(self, event: TensorEvent) -> Layer | None:
        return self._layers.of_event(event) or updated_layer(self.dataflow, event)

    def _step(self, event: TensorEvent) -> int | None:
        return step_of(self.dataflow, event)

    def _input_layer(self, event: TensorEvent, layer: Layer | None) -> Layer | None:
        """Return the layer whose result a tensor, or that whose gradient it is, is made of."""
        if not is_backward(self._run, event):
            return layer_before(event, self._forward_sources, self._layers.of_event, layer)
        op = graph_op_of(self._run, event)
        return self._layers.given_to_forward(op, layer) if op is not None else None

    def _forward_sources(self, event: TensorEvent) -> list[TensorEvent]:
        sources = (producer.event for producer in self.dataflow.producers(event))
        return [one for one in sources if one is not None and not is_backward(self._run, one)]

    def _fix(self, event: TensorEvent, rule: Defect, layer: Layer | None) -> str:
        """Say what to do: in the user's line, not in a library that it calls."""
        call: str | None = _LOADED
        if not is_loaded(self._run, event):
            call = rule.fix_in_library and library_call(self.dataflow, event, layer)
        if not call:
            return rule.fix
        op_type = op_type_of(self._run, event)
        told = f"{op_type} is inside of {call}: change what that is given. {rule.fix_in_library}"
        return told.rstrip()

    def _also_helps(self, event: TensorEvent, rule: Defect, layer: Layer | None) -> str:
        wider = _WIDER if rule.float64_helps and not self._is_widest(event) else ""
        over_time = is_recurrent(layer) and rule.fix_in_recurrent
        return f"{wider} {over_time}" if over_time else wider

    def _is_widest(self, event: TensorEvent) -> bool:
        """Whether a tensor is of the type with the most digits already."""
        summary = self.causes.summary(event)
        return summary is not None and summary.dtype in ("float64", "complex128")


def _where(ran: Location | None, called: Location | None, forward: ForwardOp | None) -> _Where:
    """Return the lines that a finding names.

    Args:
        ran: The line that computed the tensor.
        called: Of a gradient, the line that called the op that it is of.
        forward: That op.
    """
    location = called or ran
    return {
        "location": location,
        "differentiated_at": ran if ran != location else None,
        "forward_stack_id": forward.stack_id if forward and called not in (None, ran) else None,
    }


def _with(found: Finding, more: str | None) -> Finding:
    """Return a finding on a root with what else is known of the harm that it does."""
    return replace(found, evidence=f"{found.evidence}; {more}") if more else found


def _because_of(found: Finding, root: Finding) -> Finding:
    """Return a finding on steps that are skipped, with what to do about the root of that.

    That numbers overflow is what a loss scaler reckons with.

    Args:
        found: The finding.
        root: That on the root, which does no harm but this.
    """
    if root.rule in _OVERFLOWS:
        return found
    evidence = f"{found.evidence}; {root.title[:1].lower()}{root.title[1:]}: {root.evidence}"
    why = f"{found.why} {root.why}"
    return replace(found, evidence=evidence, why=why, fix=root.fix, suggestion=root.suggestion)


def _in_gradient(forward: ForwardOp) -> str:
    """Say whose gradient a tensor belongs to."""
    hidden = f" ({_MAY_HIDE})" * forward.selected
    return f"; in the gradient of {forward.op_type}{hidden}"


def diagnose(run: Run) -> Report:
    """Return the report on a run."""
    return Diagnosis(run).report()
