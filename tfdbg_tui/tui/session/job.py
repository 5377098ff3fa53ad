"""The job that the shown run is a process of, as far as its processes have been summarised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis import JobReport, Unread
    from tfdbg_tui.logdir import Run, RunFiles


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A job of several processes.

    Attributes:
        report: What is wrong with it.
        processes: The files of its members, in their order in the report.
        unread: What lies beside them and could not be summarised.
        complete: Whether all processes have been summarised, as they are now.
    """

    report: JobReport
    processes: tuple[RunFiles, ...]
    unread: tuple[Unread, ...]
    complete: bool

    def number_of(self, run: Run) -> int | None:
        """Return which member has written a run; None where it is of another job."""
        file_sets = set(run.files.file_sets)
        numbers = (n for n, files in enumerate(self.processes) if file_sets & set(files.file_sets))
        return next(numbers, None)

    def name_of(self, number: int) -> str:
        """Return a member as in a sentence, as "worker 1"."""
        task = self.report.members[number].task
        return str(task) if task else f"process {number}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing and remarkable among its processes."""
        missing = [gap["text"] for workers, gap in self.report.gaps if not workers]
        unread = [f"{one.path}: {one.reason}" for one in self.unread]
        return (*missing, *self.report.notes, *unread)


def job_of(jobs: Sequence[Job], run: Run) -> tuple[Job, int] | None:
    """Return the job of several processes that a run is of, and which of them it is."""
    for job in jobs:
        number = job.number_of(run) if len(job.processes) > 1 else None
        if number is not None:
            return job, number
    return None
