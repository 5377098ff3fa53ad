"""What `diagnose` does with several logdirs, or with the processes of a job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_tui.cli.pool import summarize_all
from tfdbg_tui.diagnosis import (
    SummaryError,
    Unread,
    join,
    summaries_from_json,
    summaries_to_json,
)
from tfdbg_tui.logdir import LogdirError
from tfdbg_tui.logdir.discovery import closed_directories
from tfdbg_tui.logdir.processes import processes_of
from tfdbg_tui.logdir.several import list_runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis import FleetReport, WorkerSummary
    from tfdbg_tui.logdir import RunFiles


def diagnose_logdirs(
    paths: Sequence[str], jobs: int | None, scheduler: str | None = None
) -> FleetReport:
    """Return the report on everything that some directories hold.

    Args:
        paths: The directories.
        jobs: How many processes' files to read at once; None for a number that suits.
        scheduler: Address of a Dask scheduler whose workers read them instead.

    Raises:
        LogdirError: None of them holds anything, or the scheduler cannot be reached.
    """
    processes, unread = _find_processes(paths)
    if not processes:
        raise LogdirError("; ".join(_told_once(unread)) or "no directory fits")
    summaries, failed = summarize_all(processes, jobs, scheduler)
    return join(summaries, [*unread, *failed])


def diagnose_summaries(directory: str) -> FleetReport:
    """Return the report on the summaries that a directory holds.

    Raises:
        LogdirError: It holds none.
    """
    summaries: dict[tuple[str, str], WorkerSummary] = {}
    unread = []
    paths = sorted(Path(directory).glob("*.json"))
    for path in paths:
        try:
            for summary in summaries_from_json(path.read_text("utf-8")):
                _keep_newest(summaries, summary)
        except (OSError, UnicodeError, SummaryError) as error:
            unread.append(Unread(str(path), str(error)))
    if not paths:
        raise LogdirError(f"{directory}: holds no *.json that run --summary has written")
    return join(summaries.values(), unread)


def _keep_newest(summaries: dict[tuple[str, str], WorkerSummary], summary: WorkerSummary) -> None:
    """Keep a summary, unless there is a later one of the same process.

    Where workers share a logdir, each has summarised the others as far as they were then.
    """
    process = summary.logdir, summary.name
    known = summaries.get(process)
    if known is None or known.events < summary.events:
        summaries[process] = summary


def write_summary(runs: Sequence[RunFiles], path: str) -> None:
    """Write the summaries of the processes of some runs.

    Args:
        runs: What a program has recorded.
        path: The file.

    Raises:
        LogdirError: They cannot be read, or the file cannot be written.
    """
    summaries, unread = summarize_all(processes_of(runs), jobs=1)
    if unread:
        raise LogdirError(f"{path}: not written: {unread[0].reason}")
    try:
        Path(path).write_text(summaries_to_json(summaries), "utf-8")
    except OSError as error:
        raise LogdirError(f"{path}: cannot be written: {error.strerror}") from None


def _told_once(unread: Sequence[Unread]) -> Iterator[str]:
    """Yield each reason once, with the first of the paths that it is about."""
    paths: dict[str, list[str]] = {}
    for one in unread:
        paths.setdefault(one.reason, []).append(one.path)
    for reason, some in paths.items():
        more = f" and {len(some) - 1:,} more" if len(some) > 1 else ""
        yield f"{some[0]}{more}: {reason}"


def _find_processes(paths: Sequence[str]) -> tuple[list[RunFiles], list[Unread]]:
    runs, unlisted = list_runs_of(paths)
    unread = [Unread(path, str(error).removeprefix(f"{path}: ")) for path, error in unlisted]
    listed = set(paths) - {path for path, _ in unlisted}
    for path in sorted(listed):
        unread += [Unread(closed, "cannot be listed") for closed in closed_directories(path)]
    return processes_of(runs), unread
