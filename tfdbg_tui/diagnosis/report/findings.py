"""The report on a run: what was bad, why, where, and what to do; for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    device_of,
    graph_id_of,
    op_name_of,
    op_type_of,
    stack_id_of,
)
from tfdbg_tui.diagnosis.gradients import (
    ForwardOp,
    forward_op,
    is_backward,
    is_users_gradient,
)
from tfdbg_tui.diagnosis.locations import Location, location_of, source_lines
from tfdbg_tui.diagnosis.report import advice, gaps
from tfdbg_tui.diagnosis.report.cases import CaseBuilder
from tfdbg_tui.diagnosis.report.coverage import looked_for
from tfdbg_tui.diagnosis.report.links import Link, Links
from tfdbg_tui.diagnosis.report.schemas import SCHEMA_VERSION
from tfdbg_tui.diagnosis.report.verdicts import verdict_of
from tfdbg_tui.diagnosis.report.when import step_of, steps_json, when_text
from tfdbg_tui.diagnosis.roots import Causes
from tfdbg_tui.diagnosis.rules import explain
from tfdbg_tui.diagnosis.rules.edits import occurrence_of, suggestion
from tfdbg_tui.diagnosis.rules.silent.search import find_suspects
from tfdbg_tui.logdir.short_repr import short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.report.verdicts import Verdict
    from tfdbg_tui.diagnosis.roots import Root
    from tfdbg_tui.diagnosis.rules.model import Case, Explanation, Match
    from tfdbg_tui.logdir import Run, Steps

_SHOWN = 10  # findings in a notebook


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One cause: what happened, how that is known, and what to do.

    Attributes:
        rule: Id of the rule that explains it.
        certainty: "proved", "likely" or "observed".
        title: What happened, in a few words.
        evidence: The sentence with the numbers.
        why: Why it happens.
        fix: What to do.
        suggestion: How the user's own expression would change, as ``old → new``, or None.
        event: The first bad tensor.
        op_name: Name of the op in its graph; None outside.
        op_type: Type of the op, or name of the executed function.
        graph: Name of the op's graph; None outside.
        step: Training step, recorded or counted; see `Steps`.
        when: The step among all there are, in words; "" where there is none.
        device: Device name.
        location: The user's line, of a gradient the one of the op that it is of; None where the
            stack has none.
        differentiated_at: Of a gradient: the line that asked for it; None where that is `location`.
        alerts: Number of alerts that go back to it.
        chain: From the op's inputs to where bad values show.
    """

    rule: str
    certainty: str
    title: str
    evidence: str
    why: str
    fix: str
    suggestion: str | None
    event: TensorEvent
    op_name: str | None
    op_type: str
    graph: str | None
    step: int | None
    when: str
    device: str
    location: Location | None
    differentiated_at: Location | None
    alerts: int
    chain: tuple[Link, ...]

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        at = f"{self.location.file}:{self.location.line}" if self.location else "unknown line"
        parts = (self.title, f"{self.op_type} at {at}", self.evidence, self.fix)
        return f"<li>{'<br>'.join(escape(part) for part in parts)}</li>"

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "rule": self.rule,
            "certainty": self.certainty,
            "title": self.title,
            "evidence": self.evidence,
            "why": self.why,
            "fix": self.fix + (f" Here: {self.suggestion}" if self.suggestion else ""),
            "op_name": self.op_name,
            "op_type": self.op_type,
            "output_slot": self.event.slot,
            "graph": self.graph,
            "kind": self.event.kind,
            "index": self.event.index,
            "step": self.step,
            "device": self.device,
            "location": _place(self.location),
            "differentiated_at": _place(self.differentiated_at),
            "alerts": self.alerts,
            "chain": [link.to_json() for link in self.chain],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What is wrong with a run.

    Attributes:
        run_id: TensorFlow's id of the run; None where no metadata file could be read.
        logdir: Directory of its files.
        verdict: "bad" with roots; else "incomplete" where something is not on record; else
            "suspect" with suspects, "clean" without.
        alerts: Number of alerts.
        events: Number of executions and graph executions.
        steps: The training steps of the run.
        roots: What made them, in order of first occurrence.
        suspects: Trouble that has not led to NaN or ∞.
        benign: What made alerts that do no harm: masks, values that are left out again.
        gaps: What is not on record, so that the run cannot be called clean.
        looked_for: What was looked for, and where the tensor debug mode cannot look.
        problems: What is wrong with the files, and what the dump is too weak to prove.
        advice: Those of the problems that say what it is too weak for; they are the last ones.
    """

    run_id: str | None
    logdir: str
    verdict: Verdict
    alerts: int
    events: int
    steps: Steps
    roots: tuple[Finding, ...]
    suspects: tuple[Finding, ...]
    benign: tuple[Finding, ...]
    gaps: tuple[gaps.Gap, ...]
    looked_for: str
    problems: tuple[str, ...]
    advice: tuple[str, ...]

    def __repr__(self) -> str:
        found = [f"{len(self.roots):,} roots", f"{len(self.suspects):,} suspects"]
        first = f"; the first: {self.roots[0]!r}" if self.roots else ""
        return f"<Report: {self.verdict}, {self.alerts:,} alerts, {', '.join(found)}{first}>"

    def _repr_html_(self) -> str:
        shown = (*self.roots, *self.suspects)[:_SHOWN]
        findings = "".join(finding._repr_html_() for finding in shown)
        return f"<p>{escape(self.verdict)}: {self.alerts:,} alerts</p><ol>{findings}</ol>"

    def grown(self, run: Run, roots: tuple[Finding, ...], benign: tuple[Finding, ...]) -> Report:
        """Return the report on the run as it is now, where only numbers of alerts have changed.

        Args:
            run: The run, which has grown.
            roots: The roots with their numbers of alerts.
            benign: What does no harm, likewise.
        """
        found = _relevant_gaps(run, roots)
        steps = run.executions.steps
        roots, benign = (
            tuple(replace(finding, when=when_text(steps, finding.step)) for finding in findings)
            for findings in (roots, benign)
        )
        return replace(
            self,
            verdict=verdict_of(
                bad=bool(roots), incomplete=bool(found), suspect=bool(self.suspects)
            ),
            alerts=run.num_alerts,
            events=run.num_events,
            steps=steps,
            roots=roots,
            benign=benign,
            gaps=found,
            problems=(*map(str, run.problems), *self.advice),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run_id": self.run_id,
            "logdir": self.logdir,
            "verdict": self.verdict,
            "alerts": self.alerts,
            "events": self.events,
            "steps": steps_json(self.steps),
            "roots": [finding.to_json() for finding in self.roots],
            "suspects": [finding.to_json() for finding in self.suspects],
            "benign": [finding.to_json() for finding in self.benign],
            "gaps": [gap.to_json() for gap in self.gaps],
            "looked_for": self.looked_for,
            "problems": list(self.problems),
        }


def _relevant_gaps(run: Run, roots: Sequence[Finding]) -> tuple[gaps.Gap, ...]:
    """Return what is not on record; without what could add nothing to roots that are proved."""
    found = gaps.find_gaps(run)
    if roots and all(root.certainty == "proved" for root in roots):
        found = [gap for gap in found if gap.kind not in gaps.ON_PURPOSE]
    return tuple(found)


class Diagnosis:
    """Everything that is found out about a run; the report is the short of it.

    Attributes:
        dataflow: Where tensors come from and go to.
        causes: The roots of the alerts.
        chains: How bad values got from tensor to tensor.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.dataflow = Dataflow(run)
        self.causes = Causes(run, self.dataflow)
        self.links = Links(run, self.dataflow, self.causes)
        self._cases = CaseBuilder(run, self.dataflow, self.causes)

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
            self._finding(suspect.event, suspect.rule, suspect.match, suspect.times, ())
            for suspect in find_suspects(run, self.dataflow, self.causes)
        )
        advised = tuple(advice.advice(run, unproved))
        # Last: some records turn out to be unreadable only when they are asked for.
        found = _relevant_gaps(run, roots)
        return Report(
            run_id=run.files.run_id,
            logdir=run.files.directory,
            verdict=verdict_of(bad=bool(roots), incomplete=bool(found), suspect=bool(suspects)),
            alerts=run.num_alerts,
            events=run.num_events,
            steps=run.executions.steps,
            roots=roots,
            suspects=suspects,
            benign=benign,
            gaps=found,
            looked_for=looked_for(run),
            problems=(*map(str, run.problems), *advised),
            advice=advised,
        )

    def finding(self, root: Root, case: Case | None = None) -> Finding:
        """Return what rules say about a root."""
        rule, match = explain(case or self._cases.case(root))
        chain = self.links.of_root(root)
        return self._finding(self._made_by(root.event), rule, match, root.alerts, chain)

    def _made_by(self, event: TensorEvent) -> TensorEvent:
        """Return the op that made a bad tensor: that which changed a variable, if that was read."""
        producer = next(iter(self.dataflow.producers(event)), None)
        if producer is None or producer.event is None or producer.via != "variable":
            return event
        return producer.event if assigns(producer.op_type or "") else event

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
        step = step_of(run, self.dataflow, event)
        whose = _in_gradient(forward) if forward and called != ran else ""
        return Finding(
            rule=rule.id,
            certainty=match.certainty,
            title=rule.title,
            evidence=match.evidence + whose + self._in_thread(event),
            why=rule.why,
            fix=rule.fix,
            suggestion=self._suggestion(event, rule, called),
            event=event,
            op_name=op_name_of(run, event),
            op_type=op_type_of(run, event) or "unknown op",
            graph=graph.name if graph else None,
            step=step,
            when=when_text(run.executions.steps, step),
            device=device_of(run, event),
            location=location,
            differentiated_at=ran if ran != location else None,
            alerts=alerts,
            chain=tuple(chain),
        )

    def _differentiated(self, event: TensorEvent) -> ForwardOp | None:
        """Return the op whose gradient an event is, unless the user has written the gradient."""
        run = self._run
        if not is_backward(run, event) or is_users_gradient(run, event):
            return None
        return forward_op(run, self.dataflow, event)

    def _ran_at(self, event: TensorEvent) -> Location | None:
        """Return the user's line that made a tensor.

        For what Python runs as a whole, a gradient function or a replica's thread, that is the line
        that ran it.
        """
        run = self._run
        calls = self.dataflow.calls
        graph = run.graphs.get(calls.outermost(graph_id_of(run, event) or ""))
        created = location_of(run, stack_id_of(run, event))
        if event.kind == "execution" or graph is None:
            return created
        if created is not None and not graph.name.startswith("__backward_"):
            return created
        index = self.dataflow.timeline.execution_of(event.index)
        ran = location_of(run, run.executions.stack_ids[index]) if index is not None else None
        return ran or created

    def _in_thread(self, event: TensorEvent) -> str:
        """Say which thread has made a tensor, where it is not the one that began."""
        timeline = self.dataflow.timeline
        graph = event.kind == "graph_execution"
        index = timeline.execution_of(event.index) if graph else event.index
        thread = timeline.execution(index).thread if index is not None else None
        return f"; in another thread than the first (number {thread})" if thread else ""

    def _suggestion(
        self, event: TensorEvent, rule: Explanation, called: Location | None
    ) -> str | None:
        """Return the change of the user's expression: where the op, or its inputs, were made.

        Args:
            event: The first bad tensor.
            rule: What explains it.
            called: Where the op was called whose gradient it belongs to.
        """
        if not rule.edits:
            return None
        run = self._run
        inputs = [p.event for p in self.dataflow.producers(event) if p.event]
        places = [
            (location_of(run, stack_id_of(run, place)), occurrence_of(run, place))
            for place in (event, *map(self.dataflow.origin, inputs))
        ]
        summary = self.causes.summary(event)
        dtype = summary.dtype if summary else None
        for location, occurrence in (*places[:1], (called, None), *places[1:]):
            if location is None:
                continue
            for host in run.hosts:
                lines = source_lines(run, host, location.file)
                found = suggestion(lines, location.line, rule.edits, occurrence, dtype)
                if found is not None:
                    return found
        return None


def _place(location: Location | None) -> dict[str, Any] | None:
    """Return a line in the form of ``diagnose --json``."""
    return asdict(location) if location is not None else None


def _in_gradient(forward: ForwardOp) -> str:
    """Say whose gradient a tensor belongs to."""
    hidden = " (a select may leave out its value, but not its slope)" * forward.selected
    return f"; in the gradient of {forward.op_type}{hidden}"


def diagnose(run: Run) -> Report:
    """Return the report on a run."""
    return Diagnosis(run).report()
