"""Summarises the processes of a job on a Dask cluster: where the files are, instead of here."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis import Unread, summarized
from tfdbg_tui.logdir import LogdirError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis import WorkerSummary
    from tfdbg_tui.logdir import RunFiles

_RETRIES = 1
_CONNECT_SECONDS = "10s"


def results_of_cluster(
    processes: Sequence[RunFiles], scheduler: str
) -> Iterator[tuple[RunFiles, WorkerSummary | Unread]]:
    """Yield the result for each process, as it comes.

    Args:
        processes: Runs with one file set each, at paths that the cluster's workers know.
        scheduler: Address of the scheduler, as ``tcp://host:8786``.

    Raises:
        LogdirError: Dask is not installed, or the scheduler cannot be reached.
    """
    with _client(scheduler) as client:
        from distributed import as_completed

        futures = {
            client.submit(summarized, process, pure=False, retries=_RETRIES): process
            for process in processes
        }
        try:
            for future in as_completed(futures):
                yield futures[future], _result(future, futures[future])
        except BaseException:
            client.cancel(list(futures))
            raise


def _client(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise LogdirError("--scheduler needs Dask: pip install 'tfdbg-tui[fleet]'") from None
    # What it logs of a connection that is lost is told with what could not be read.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return Client(scheduler, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise LogdirError(f"{scheduler}: no scheduler can be reached: {error}") from None


def _result(future: Any, process: RunFiles) -> WorkerSummary | Unread:
    path = process.file_sets[0].prefix
    if future.cancelled():
        return Unread(path, "the connection to the scheduler was lost before it was read")
    error = future.exception()
    if error is not None:
        return Unread(path, f"the cluster could not read it: {_words(error)}")
    result: WorkerSummary | Unread = future.result()
    return result


def _words(error: BaseException) -> str:
    """Return what is wrong, in a line."""
    if isinstance(error, ImportError) or "deserializ" in str(error):
        return "tfdbg-tui has to be installed where its scheduler and its workers run"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
