"""From the logdir of one process to its summary."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import wall_time_of
from tfdbg_tui.diagnosis.fleet.collective_ops import find_crossings, runs_before
from tfdbg_tui.diagnosis.fleet.programs import code_of
from tfdbg_tui.diagnosis.fleet.summary import LocalRoot, WorkerSummary
from tfdbg_tui.diagnosis.report.advice import program_of
from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
from tfdbg_tui.diagnosis.report.gaps import is_circular
from tfdbg_tui.diagnosis.report.words import card_of
from tfdbg_tui.logdir import RunReader
from tfdbg_tui.logdir.processes import task_that_has

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.fleet.summary import Crossing
    from tfdbg_tui.diagnosis.report.findings import Finding
    from tfdbg_tui.diagnosis.roots import Root
    from tfdbg_tui.logdir import Run, RunFiles

_SERIAL = re.compile(r"_\d+$")  # which differs from process to process, for the same function


def summarize(process: RunFiles) -> WorkerSummary:
    """Read the files of one process and return what there is to say of it.

    Args:
        process: A run with one file set, as `discovery.split` returns them.
    """
    reader = RunReader(process)
    try:
        return _summary(reader.read_all())
    finally:
        reader.close()


def _summary(run: Run) -> WorkerSummary:
    diagnosis = Diagnosis(run)
    report = diagnosis.report()
    roots = sorted(diagnosis.causes.roots, key=lambda root: root.contained)
    crossings = find_crossings(run, diagnosis, roots)
    findings = zip((*report.roots, *report.benign), roots, strict=True)
    return WorkerSummary(
        logdir=run.files.directory,
        name=os.path.basename(run.files.file_sets[0].prefix),
        run_id=run.files.run_id,
        task=run.files.task or task_that_has("\n".join(run.devices)),
        host=next(iter(run.hosts), ""),
        program=program_of(run),
        code=code_of(run),
        devices=run.devices,
        started_at=run.files.started_at,
        ended_at=max(run.newest_wall_time(), run.files.started_at or 0.0),
        whole=not is_circular(run),
        verdict=report.verdict,
        alerts=run.num_alerts,
        events=run.num_events,
        last_step=int(run.executions.steps.numbers[-1]) if len(run.executions.steps) else None,
        bytes=run.progress.bytes_total,
        roots=tuple(_local(run, crossings, finding, root) for finding, root in findings),
        crossings=tuple(crossings),
        suspects=tuple(_local(run, crossings, finding, None) for finding in report.suspects),
        gaps=tuple(gap.to_json() for gap in report.gaps),
        problems=report.problems,
    )


def _local(
    run: Run,
    crossings: Sequence[Crossing],
    finding: Finding,
    root: Root | None,
) -> LocalRoot:
    """Return a finding with what other processes need of it; a suspect has no root."""
    wall_time = wall_time_of(run, root.event if root else finding.event)
    return LocalRoot(
        finding=finding.to_json(),
        card=tuple(card_of(replace(finding, alerts=0), "root" if root else "suspect")),
        harmless=root is None or root.contained,
        wall_time=wall_time,
        when=finding.when,
        counted_by=_SERIAL.sub("", run.executions.steps.counted_by or ""),
        crossings=runs_before(crossings, wall_time),
        open=root is not None and _may_have_come_in(root, finding),
    )


def _may_have_come_in(root: Root, finding: Finding) -> bool:
    """Whether an input left no record, or all that a function computed, and nothing is proved."""
    unseen = root.node.open or finding.op_type.startswith("__")
    return unseen and finding.certainty != "proved"
