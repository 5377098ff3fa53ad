"""What a job tells of the roots of one of its processes, which cannot know it by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.fleet.members import names
from tfdbg_tui.diagnosis.fleet.words import made_by, reached, way
from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.locations import file_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.fleet.report import FleetRoot, JobReport, Via
    from tfdbg_tui.diagnosis.report.findings import Finding


def origin_of(
    job: JobReport, worker: int, event: TensorEvent
) -> tuple[FleetRoot, Via | None] | None:
    """Return the root of a job that a root of one of its processes is, or goes back to.

    Args:
        job: The job.
        worker: Position of the process.
        event: The first bad tensor of its root.

    Returns:
        That, and how it got there, None where it was made there; None where the job has no such.
    """
    for root in job.roots:
        for place, number, via in root.links:
            if place == worker and _is_of(job.members[worker].roots[number].finding, event):
                return root, via
    return None


def findings_within(
    findings: Iterable[Finding], job: JobReport, worker: int
) -> dict[TensorEvent, Finding]:
    """Return roots of a process as its job knows them, by their first bad tensors.

    Args:
        findings: The roots, as the process knows them.
        job: The job.
        worker: Position of the process.
    """
    told = {}
    for finding in findings:
        origin = origin_of(job, worker, finding.event)
        if origin is not None:
            root, via = origin
            told[finding.event] = (
                _made_here(finding, job, root) if via is None else _came(finding, job, root, via)
            )
    return told


def _is_of(finding: dict[str, object], event: TensorEvent) -> bool:
    own = finding["kind"], finding["index"], finding["output_slot"]
    return own == (event.kind, event.index, event.slot)


def _made_here(finding: Finding, job: JobReport, root: FleetRoot) -> Finding:
    said = f"made by {made_by(job, root)}"
    if root.reached:
        said = f"{said}; reached {reached(job, root)}"
    return replace(finding, workers=said)


def _came(finding: Finding, job: JobReport, root: FleetRoot, via: Via) -> Finding:
    """Return what is told of a root that came from another process.

    What happened there, why and what to do; where it came in, and with which values, is its own.
    """
    there = root.finding
    suggestion = there["suggestion"]
    return replace(
        finding,
        rule=there["rule"],
        certainty=there["certainty"] if via.family else "likely",
        title=f"{there['title']}, on {names(job.members, root.workers)}",
        why=there["why"],
        fix=there["fix"].removesuffix(f" Here: {suggestion}"),
        suggestion=suggestion,
        other_suggestions=tuple(there.get("other_suggestions", ())),
        workers=f"made by {made_by(job, root)}: {_what(root)}; came here {way(via)}",
    )


def _what(root: FleetRoot) -> str:
    """Return which tensor a root is, where, and what its values tell."""
    there, location = root.finding, root.finding["location"]
    at = f" at {file_name(location['file'])}:{location['line']}" if location else ""
    name = there["op_name"] or readable_function(there["op_type"])
    return f"{name}:{there['output_slot']}{at}, {there['evidence']}"
