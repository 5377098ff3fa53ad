"""What the exit codes of all commands mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import FleetReport, Report

CLEAN = 0
BAD = 1
UNUSABLE = 2
INCOMPLETE = 3
INTERRUPTED = 130  # as a shell reports a process that SIGINT ended


def of_report(report: Report) -> int:
    """Return the exit code that tells the verdict."""
    if report.verdict == "bad":
        return BAD
    if not report.events:
        return UNUSABLE
    return INCOMPLETE if report.verdict == "incomplete" else CLEAN


def of_fleet(report: FleetReport) -> int:
    """Return the exit code that tells the gravest verdict, and whether all could be read."""
    if report.verdict == "bad":
        return BAD
    if report.unread or not any(job.events for job in report.jobs):
        return UNUSABLE
    return INCOMPLETE if report.verdict == "incomplete" else CLEAN
