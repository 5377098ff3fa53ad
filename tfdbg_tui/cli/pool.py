"""Summarises many processes of a job at once, in processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from tfdbg_tui.cli.cluster import results_of_cluster
from tfdbg_tui.diagnosis import Unread, summarized
from tfdbg_tui.logdir.processes import size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfdbg_tui.diagnosis import WorkerSummary
    from tfdbg_tui.logdir import RunFiles

_SMALL = 32 << 20  # bytes that are read sooner than further processes have started
_TOLD_SECONDS = 0.2


def summarize_all(
    processes: Sequence[RunFiles], jobs: int | None, scheduler: str | None = None
) -> tuple[list[WorkerSummary], list[Unread]]:
    """Return the summaries of some processes, and what could not be summarised.

    Args:
        processes: Runs with one file set each.
        jobs: How many to read at once; None for as many as this machine has processors, if there
            is so much to read that it pays.
        scheduler: Address of a Dask scheduler whose workers read them instead.

    Raises:
        LogdirError: The scheduler cannot be reached.
    """
    sizes = {process: size_of(process) for process in processes}
    if jobs is None:
        jobs = (os.cpu_count() or 1) if sum(sizes.values()) > _SMALL else 1
    progress = _Progress(sizes)
    summaries, unread = [], []
    here = _results(processes, min(jobs, len(processes)))
    results = results_of_cluster(processes, scheduler) if scheduler else here
    for process, result in results:
        if isinstance(result, Unread):
            unread.append(result)
        else:
            summaries.append(result)
        progress.note(process, failed=isinstance(result, Unread))
    progress.clear()
    return summaries, unread


def _results(
    processes: Sequence[RunFiles], jobs: int
) -> Iterator[tuple[RunFiles, WorkerSummary | Unread]]:
    """Yield the result for each process, as it comes."""
    if jobs < 2:
        yield from ((process, summarized(process)) for process in processes)
        return
    lost = []
    for process, result in _in_pool(processes, jobs):
        if result is None:
            lost.append(process)
        else:
            yield process, result
    for process in lost:  # One by one: so the one that ends its reader takes no other with it.
        for _, result in _in_pool([process], 1):
            path = process.file_sets[0].prefix
            yield process, result or Unread(path, "the process that read it was killed, twice")


def _in_pool(
    processes: Iterable[RunFiles], jobs: int
) -> Iterator[tuple[RunFiles, WorkerSummary | Unread | None]]:
    """Yield the result for each process; None where its reader, or one beside it, was killed."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _ignore_interrupts) as pool:
        try:
            futures = {pool.submit(summarized, process): process for process in processes}
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    broken = isinstance(future.exception(), BrokenProcessPool)
                    yield futures[future], None if broken else future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that has asked: it ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Progress:
    """A line on a terminal: workers done and failed, bytes, the time that is left."""

    def __init__(self, sizes: dict[RunFiles, int]) -> None:
        self._sizes = sizes
        self._total = max(1, sum(sizes.values()))
        self._done = self._failed = self._bytes = 0
        self._began = time.monotonic()
        self._told_at = float("-inf")
        self._shown = bool(sys.stderr and sys.stderr.isatty())

    def note(self, process: RunFiles, *, failed: bool) -> None:
        """Count a process that has been read."""
        self._done += 1
        self._failed += failed
        self._bytes += self._sizes[process]
        now = time.monotonic()
        if self._shown and now >= self._told_at + _TOLD_SECONDS:
            self._told_at = now
            left = (now - self._began) * (self._total - self._bytes) / max(1, self._bytes)
            print(f"\r\x1b[K{self._words(left)}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _words(self, left: float) -> str:
        return (
            f"{self._done:,} of {len(self._sizes):,} processes, {self._failed:,} failed, "
            f"{self._bytes / 1e6:,.0f} of {self._total / 1e6:,.0f} MB, {left:,.0f} s left"
        )
