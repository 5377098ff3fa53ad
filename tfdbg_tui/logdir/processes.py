"""The processes that have written runs, each as a run of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.discovery import Task, split
from tfdbg_tui.storage import storage_of
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.discovery import RunFiles
    from tfdbg_tui.wire.filesets import FileSet

_SERVING = ("ps", "evaluator")
_DEVICES_LIMIT = 1 << 18
_CLUSTER_DEVICE = re.compile(r"/job:(?!localhost/)(\w+)/replica:\d+/task:(\d+)/")
_COORDINATOR = "chief"


def processes_of(runs: Sequence[RunFiles]) -> list[RunFiles]:
    """Return each process of some runs as a run of its own.

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
    return any(run.task is not None for run in runs) or any(map(_task_of_devices, file_sets))


def are_of_one_cluster(processes: Sequence[RunFiles]) -> bool:
    """Whether processes say that they are of the same cluster: one job, or several starts of it."""
    clusters = {process.task.cluster if process.task else "" for process in processes}
    return len(clusters) == 1 and "" not in clusters


def colleagues(process: RunFiles, others: Sequence[RunFiles]) -> list[RunFiles]:
    """Return the processes that may be of one job, as far as their tasks tell: each task once.

    Args:
        process: One of them.
        others: Processes that may be of its job.

    Returns:
        Those that are, in order of their tasks; those that only serve others last.
    """
    known = _task_of(process)
    if known is None:
        return [process]
    found = {(known.kind, known.index): process}
    for other in others:
        task = _task_of(other)
        if task is not None and (not known.cluster or task.cluster in ("", known.cluster)):
            found.setdefault((task.kind, task.index), other)
    return [found[task] for task in sorted(found, key=lambda task: (task[0] in _SERVING, *task))]


def size_of(process: RunFiles) -> int:
    """Return how many bytes the files of a process have now."""
    return sum(
        _size(files.path(suffix)) for files in process.file_sets for suffix in filesets.SUFFIXES
    )


def task_that_has(devices: str) -> Task | None:
    """Return the place in a cluster of a process that has recorded some devices.

    A coordinator has recorded those of other tasks as well.

    Args:
        devices: Their full names, with whatever stands between them.

    Returns:
        The place; None outside of clusters.
    """
    tasks = tasks_of(devices)
    own = [task for task in tasks if task.kind == _COORDINATOR] or tasks
    return own[0] if own else None


def tasks_of(devices: str) -> list[Task]:
    """Return the places in a cluster that some devices are in, each once."""
    found = dict.fromkeys(_CLUSTER_DEVICE.findall(devices))
    return [Task(kind, int(index)) for kind, index in found]


def _task_of(process: RunFiles) -> Task | None:
    return process.task or _task_of_devices(process.file_sets[0])


def _task_of_devices(file_set: FileSet) -> Task | None:
    """Return the place in a cluster that names of devices tell."""
    for suffix in (filesets.GRAPHS, filesets.GRAPH_EXECUTION_TRACES):
        task = task_that_has(_start(file_set.path(suffix), _DEVICES_LIMIT).decode("latin-1"))
        if task is not None:
            return task
    return None


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
