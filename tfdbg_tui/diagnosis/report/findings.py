"""The report on a run: what was bad, why, where, and what to do; for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.layers import layer_json
from tfdbg_tui.diagnosis.locations import location_json
from tfdbg_tui.diagnosis.report.bad_lines import bad_lines_json, find_bad_lines
from tfdbg_tui.diagnosis.report.coverage import looked_for
from tfdbg_tui.diagnosis.report.gaps import ON_PURPOSE, find_gaps, uncounted
from tfdbg_tui.diagnosis.report.omission_gaps import seen_all_the_same
from tfdbg_tui.diagnosis.report.schemas import SCHEMA_VERSION
from tfdbg_tui.diagnosis.report.verdicts import verdict_of
from tfdbg_tui.diagnosis.report.when import steps_json, when_text
from tfdbg_tui.logdir.short_repr import short_repr
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.report.bad_lines import BadLines
    from tfdbg_tui.diagnosis.report.chain_links import Link
    from tfdbg_tui.diagnosis.report.gap import Gap
    from tfdbg_tui.diagnosis.report.headroom import Headroom
    from tfdbg_tui.diagnosis.report.verdicts import Verdict
    from tfdbg_tui.logdir import FitBatch, Layer, Run, Steps, TensorSummary

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
        step: Training step, recorded or counted; see `Steps`. Of a suspect that is so in many, the
            first.
        fit_batch: The batch of Keras' `fit` that the step is, where that is recorded.
        after_step: The step after which it was, as in a validation; None where it is in one.
        when: One of these among all there are, in words, or of a suspect from which to which; ""
            where there is none.
        device: Device name.
        location: The user's line, of a gradient the one of the op that it is of; None where the
            stack has none.
        differentiated_at: Of a gradient: the line that asked for it; None where that is `location`.
        forward_stack_id: The stack trace that leads to `location`, where that is not the op's own.
        alerts: Number of alerts that go back to it.
        chain: From the op's inputs to where bad values show.
        layer: The Keras layer or `tf.Module` that it is of, where that is recorded.
        input_layer: Where that is none, or one around others: the one whose result the op takes,
            or the op whose gradient it is of.
        other_layers: Other layers that show the same.
        variables: Names of the variables that it takes or changes, where it is of no layer.
        iteration: Iteration of the innermost loop around the op, or of that over the elements of a
            dataset in a function, where that is known.
        made_ahead: Whether a data pipeline made the tensor; `step` is the first that used it.
        in_gradient: Whether the op is of a backward pass.
        summary: What was recorded of the first bad tensor.
        workers: Of a job of several processes: which of them made it, and how it got to others.
        other_suggestions: As `suggestion`, of other expressions of the line that were bad.
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
    fit_batch: FitBatch | None
    after_step: int | None
    when: str
    device: str
    location: Location | None
    differentiated_at: Location | None
    forward_stack_id: int | None
    alerts: int
    chain: tuple[Link, ...]
    layer: Layer | None = None
    input_layer: Layer | None = None
    other_layers: tuple[Layer, ...] = ()
    variables: tuple[str, ...] = ()
    iteration: int | None = None
    made_ahead: bool = False
    in_gradient: bool = False
    summary: TensorSummary | None = None
    workers: str = ""
    other_suggestions: tuple[str, ...] = ()

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        at = f"{self.location.file}:{self.location.line}" if self.location else "unknown line"
        parts = (self.title, f"{readable_function(self.op_type)} at {at}", self.evidence, self.fix)
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
            "suggestion": self.suggestion,
            "other_suggestions": list(self.other_suggestions),
            "op_name": self.op_name,
            "op_type": self.op_type,
            "output_slot": self.event.slot,
            "bad_elements": [list(i) for i in self.summary.bad_elements] if self.summary else [],
            "graph": self.graph,
            "kind": self.event.kind,
            "index": self.event.index,
            "step": self.step,
            "fit_batch": self.fit_batch._asdict() if self.fit_batch else None,
            "after_step": self.after_step,
            "when": self.when,
            "iteration": self.iteration,
            "made_ahead": self.made_ahead,
            "device": self.device,
            "layer": layer_json(self.layer),
            "input_layer": layer_json(self.input_layer),
            "other_layers": [layer_json(layer) for layer in self.other_layers],
            "variables": list(self.variables),
            "location": location_json(self.location),
            "differentiated_at": location_json(self.differentiated_at),
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
        suspects: Defects that have not led to NaN or ∞.
        benign: What made alerts that do no harm: masks, values that are left out again.
        bad_lines: The lines of the program whose ops made bad tensors.
        gaps: What is not on record, so that the run cannot be called clean.
        looked_for: What was looked for, and where the tensor debug mode cannot look.
        headroom: Without roots and suspects, the number closest to its type's limit, if measured.
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
    bad_lines: BadLines
    gaps: tuple[Gap, ...]
    looked_for: str
    headroom: Headroom | None
    problems: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def first_bad(self) -> str:
        """The step of the first root, or before it, among all there are; "" where it has none."""
        return self.roots[0].when if self.roots else ""

    def __repr__(self) -> str:
        found = (
            counted(self.alerts, "alert"),
            counted(len(self.roots), "root"),
            counted(len(self.suspects), "suspect"),
        )
        first = f"; the first: {self.roots[0]!r}" if self.roots else ""
        return f"<Report: {self.verdict}, {', '.join(found)}{first}>"

    def _repr_html_(self) -> str:
        shown = (*self.roots, *self.suspects)[:_SHOWN]
        findings = "".join(finding._repr_html_() for finding in shown)
        return f"<p>{escape(self.verdict)}: {counted(self.alerts, 'alert')}</p><ol>{findings}</ol>"

    @classmethod
    def on(
        cls,
        run: Run,
        *,
        roots: tuple[Finding, ...],
        suspects: tuple[Finding, ...],
        benign: tuple[Finding, ...],
        headroom: Headroom | None,
        advice: tuple[str, ...],
    ) -> Report:
        """Return the report on a run, as it is now, of which these are the findings.

        Args:
            run: The run.
            roots: What made its alerts.
            suspects: Defects that have not led to NaN or ∞.
            benign: What made alerts that do no harm.
            headroom: The number closest to its type's limit, where it is told.
            advice: What the dump is too weak to prove, and what to record instead.
        """
        gaps = _relevant_gaps(run, roots)
        unsure = [] if roots or gaps else uncounted(run)
        return cls(
            run_id=run.files.run_id,
            logdir=run.files.directory,
            verdict=verdict_of(bad=bool(roots), incomplete=bool(gaps), suspect=bool(suspects)),
            alerts=run.num_alerts,
            events=run.num_events,
            steps=run.executions.steps,
            roots=roots,
            suspects=suspects,
            benign=benign,
            bad_lines=find_bad_lines(run, [root.location for root in roots]),
            gaps=gaps,
            looked_for=looked_for(run),
            headroom=headroom,
            problems=(*map(str, run.problems), *seen_all_the_same(run), *unsure, *advice),
            advice=advice,
        )

    def grown(self, run: Run, roots: tuple[Finding, ...], benign: tuple[Finding, ...]) -> Report:
        """Return the report on the run as it is now, where only numbers of alerts have changed.

        Args:
            run: The run, which has grown.
            roots: The roots with their numbers of alerts.
            benign: What does no harm, likewise.
        """
        roots, benign = (
            tuple(
                replace(
                    finding,
                    when=when_text(run, finding.step, finding.after_step, finding.fit_batch),
                )
                for finding in findings
            )
            for findings in (roots, benign)
        )
        return Report.on(
            run,
            roots=roots,
            suspects=self.suspects,
            benign=benign,
            headroom=self.headroom,
            advice=self.advice,
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
            "bad_lines": bad_lines_json(self.bad_lines),
            "gaps": [gap.to_json() for gap in self.gaps],
            "looked_for": self.looked_for,
            "headroom": self.headroom.to_json() if self.headroom else None,
            "problems": list(self.problems),
        }


def _relevant_gaps(run: Run, roots: Sequence[Finding]) -> tuple[Gap, ...]:
    """Return what is not on record; without what could add nothing to roots that are proved."""
    found = find_gaps(run)
    if roots and all(root.certainty == "proved" for root in roots):
        found = [gap for gap in found if gap.kind not in ON_PURPOSE]
    return tuple(found)
