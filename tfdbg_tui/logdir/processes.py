"""The processes that have written runs, each as a run of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.discovery import split
from tfdbg_tui.storage import storage_of
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.discovery import RunFiles
    from tfdbg_tui.wire.filesets import FileSet

_DEVICES_LIMIT = 1 << 18
_CLUSTER_DEVICE = re.compile(rb"/job:(?!localhost/)\w+/replica:\d+/task:\d+/")


def processes_of(runs: Sequence[RunFiles]) -> list[RunFiles]:
    """Return each process of some runs, to be read with ``alone=True``.

    A run stays whole where one process has recorded what another one's graphs have computed, as
    TensorFlow's writer does on a server.
    """
    found = []
    for run in runs:
        found += [run] if any(map(_lacks_its_graphs, run.file_sets)) else split(run)
    return found


def are_of_a_cluster(runs: Sequence[RunFiles]) -> bool:
    """Whether runs were written by several processes, and any of them is in a cluster.

    TensorFlow's writer does not say so, but names of devices do: ``/job:worker/.../task:1``.
    """
    file_sets = [file_set for run in runs for file_set in run.file_sets]
    if len(file_sets) < 2:
        return False
    return any(run.task is not None for run in runs) or any(map(_names_cluster, file_sets))


def size_of(process: RunFiles) -> int:
    """Return how many bytes the files of a process have now."""
    return sum(
        _size(files.path(suffix)) for files in process.file_sets for suffix in filesets.SUFFIXES
    )


def _names_cluster(file_set: FileSet) -> bool:
    suffixes = filesets.GRAPHS, filesets.GRAPH_EXECUTION_TRACES
    starts = (_start(file_set.path(suffix), _DEVICES_LIMIT) for suffix in suffixes)
    return any(map(_CLUSTER_DEVICE.search, starts))


def _lacks_its_graphs(file_set: FileSet) -> bool:
    suffixes = filesets.GRAPH_EXECUTION_TRACES, filesets.GRAPHS
    traces, graphs = (_start(file_set.path(suffix), 1) for suffix in suffixes)
    return bool(traces) and not graphs


def _start(path: str, size: int) -> bytes:
    try:
        return storage_of(path).read_start(path, size)
    except OSError:
        return b""


def _size(path: str) -> int:
    try:
        file = storage_of(path).open(path)
    except OSError:
        return 0
    try:
        return file.look().size or 0
    finally:
        file.close()
