"""Which runs a directory holds.

A run is one program under the debugger: one file set, or several that share a run id (one for each
process of a distributed job).  Programs dumped into the same directory one after another, or into
directories below it, are several runs.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.files.wall_times import sane_time
from tfdbg_tui.logdir.short_repr import short_repr
from tfdbg_tui.storage import storage_of, urls
from tfdbg_tui.storage.interface import MissingPackageError
from tfdbg_tui.wire import codec, filesets, tfrecord
from tfdbg_tui.wire.events import DebugEvent, DebugMetadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.wire.filesets import FileSet

_METADATA_LIMIT = 1 << 16
_LIMITS = "every", "steps", "layers", "functions", "lines"
_SEARCH_DEPTH = 3
_SEARCH_LIMIT = 2000

_Member = tuple["FileSet", "DebugMetadata | None", float | None]
"""The files of a process, its metadata, and when it started."""


class LogdirError(Exception):
    """A logdir that cannot be opened; the message says what, where and what to do."""


class EmptyLogdirError(LogdirError):
    """A directory without tfdbg_events files, which may still come."""


@dataclass(frozen=True, slots=True)
class Task:
    """A place in a cluster.

    Attributes:
        kind: "worker", "chief", "ps" and so on.
        index: Its number among those of its kind.
        cluster: What tells the cluster from others; "" where that is not recorded.
        size: Number of tasks of its kind in the cluster; None where that is not recorded.
    """

    kind: str
    index: int
    cluster: str = ""
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.index}"


@dataclass(frozen=True, slots=True, repr=False)
class RunFiles:
    """The files of one run.

    Attributes:
        directory: Where they lie.
        run_id: TensorFlow's id of the run; None where no metadata file could be read.
        tensorflow_version: Version of TensorFlow that ran the program.
        started_at: When the writer started, in seconds since the epoch.
        circular_buffer_size: How many events of each kind were kept; 0 for all of them, or where
            that is not recorded: TensorFlow's writer does not.
        filters: The arguments by which the writer was to leave events out, as in its call.
        mode_name: The tensor debug mode as the user named it; "" where that is not recorded:
            TensorFlow's writer does not.
        file_sets: One for each process that wrote.
        task: The place in a cluster of the process that wrote first; None where it has none, or it
            is not recorded: TensorFlow's writer does not.
        alone: Whether it is one process, to be read without others that share its run id.
    """

    directory: str
    run_id: str | None
    tensorflow_version: str | None
    started_at: float | None
    file_sets: tuple[FileSet, ...]
    circular_buffer_size: int = 0
    filters: tuple[str, ...] = ()
    mode_name: str = ""
    task: Task | None = None
    alone: bool = False

    __repr__ = short_repr

    @property
    def limits(self) -> tuple[str, ...]:
        """Those of the filters that leave out executions, and not only what their tensors held."""
        return tuple(text for text in self.filters if text.partition("=")[0] in _LIMITS)

    @property
    def is_of_our_writer(self) -> bool:
        """Whether this project's dump writer wrote it, which tells what it left out and its end."""
        return bool(self.mode_name)

    @property
    def identity(self) -> tuple[str, str]:
        """What it has in common with its later states, and with no other run."""
        return self.directory, self.file_sets[0].prefix if self.alone else self.label

    @property
    def label(self) -> str:
        """A name that tells this run from others in the same logdir."""
        return self.run_id or os.path.basename(self.file_sets[0].prefix)

    def with_file_sets(self, added: Sequence[FileSet]) -> RunFiles:
        """Return the run with file sets that have joined it."""
        return replace(self, file_sets=(*self.file_sets, *added))


def absolute(logdir: str) -> str:
    """Return the path of a logdir that needs no current directory: that may be removed."""
    if urls.is_url(logdir):
        return logdir
    with contextlib.suppress(OSError):  # it has been removed
        return os.path.abspath(os.path.expanduser(logdir))
    return logdir


def list_runs(logdir: str | os.PathLike[str]) -> list[RunFiles]:
    """Return the runs in `logdir` and in directories up to three levels below, oldest first.

    Links in `logdir` itself to directories elsewhere count as directories.

    Raises:
        LogdirError: `logdir` is missing, is not a directory, cannot be listed, or holds no run.
    """
    path = os.path.expanduser(urls.without_secrets(os.fspath(logdir)))
    closed: list[str] = []
    try:
        storage_of(path).refresh()
        found = _file_sets_below(path, closed)
    except FileNotFoundError:
        raise LogdirError(
            f"{path}: no such directory; check the path given to the dump writer"
        ) from None
    except NotADirectoryError:
        raise LogdirError(
            f"{path}: not a directory; give the directory that holds the tfdbg_events files"
        ) from None
    except MissingPackageError as error:
        raise LogdirError(f"{path}: {error.strerror}") from None
    except OSError as error:
        raise LogdirError(f"{path}: cannot be listed: {error.strerror}") from None
    runs = [run for directory, file_sets in found for run in _runs_of(directory, file_sets)]
    if not runs:
        raise EmptyLogdirError(f"{path}: {_why_empty(path, closed)}")
    return sorted(runs, key=age)


def _why_empty(path: str, closed: Sequence[str]) -> str:
    if closed:
        more = f" and {len(closed) - 1:,} more" if len(closed) > 1 else ""
        return f"holds no tfdbg_events files that can be found: {closed[0]}{more} cannot be listed"
    return (
        "holds no tfdbg_events files; a program writes them after "
        f"tfdbg_tui.enable_dump_debug_info({path!r})"
    )


def age(run: RunFiles) -> tuple[float, str]:
    """Return a key by which runs sort in the order in which they began."""
    return run.started_at or 0.0, run.file_sets[0].prefix


def closed_directories(logdir: str | os.PathLike[str]) -> list[str]:
    """Return the directories below a logdir that cannot be listed, so that `list_runs` cannot."""
    closed: list[str] = []
    _file_sets_below(os.path.expanduser(urls.without_secrets(os.fspath(logdir))), closed)
    return closed


def split(run: RunFiles) -> list[RunFiles]:
    """Return each process of a run as a run of its own, to be read alone."""
    members = [
        (file_set, *_read_metadata(file_set.path(filesets.METADATA))) for file_set in run.file_sets
    ]
    return [replace(_run_files(run.directory, [member]), alone=True) for member in members]


def new_file_sets(run: RunFiles, strangers: set[str]) -> list[FileSet]:
    """Return the file sets of a run that have appeared in its directory since.

    Args:
        run: The run.
        strangers: Prefixes of file sets known to be of other runs; is added to.
    """
    try:
        found, _ = _listed(run.directory)
    except OSError:
        return []
    added, known = [], set(run.file_sets)
    for file_set in found:
        if file_set in known or file_set.prefix in strangers:
            continue
        metadata, _ = _read_metadata(file_set.path(filesets.METADATA))
        if metadata is None:
            continue  # not written yet: look again next time
        if metadata.tfdbg_run_id == run.run_id:
            added.append(file_set)
        else:
            strangers.add(file_set.prefix)
    return added


def _file_sets_below(path: str, closed: list[str]) -> list[tuple[str, list[FileSet]]]:
    """Return the file sets of a directory and of those below it; raises OSError for the first.

    Args:
        path: The directory.
        closed: Gets those below it that cannot be listed.
    """
    file_sets, level = _listed(path, links=True)
    found = [(path, file_sets)]
    for _ in range(_SEARCH_DEPTH):
        below: list[str] = []
        for directory in level[: _SEARCH_LIMIT - len(found)]:
            try:
                file_sets, directories = _listed(directory)
            except OSError:  # vanished, or not ours to read: the others count
                closed.append(directory)
                continue
            found.append((directory, file_sets))
            below += directories
        level = below
    return found


def _listed(directory: str, *, links: bool = False) -> tuple[list[FileSet], list[str]]:
    """Return the file sets in a directory, and the directories in it; raises OSError.

    Args:
        directory: The directory.
        links: Whether links to directories elsewhere count as directories.
    """
    listing = storage_of(directory).list(directory)
    file_sets = filesets.file_sets_of(directory, listing.names)
    below = [os.path.join(directory, name) for name in sorted(listing.directories)]
    return file_sets, below + (_leading_elsewhere(directory, listing.links) if links else [])


def _leading_elsewhere(directory: str, links: Sequence[str]) -> list[str]:
    """Return one link to each directory that neither lies in this one nor holds it."""
    here = os.path.realpath(directory)
    targets: dict[str, str] = {}
    for link in (os.path.join(directory, name) for name in sorted(links)):
        target = os.path.realpath(link)
        if os.path.commonpath([target, here]) not in (target, here):
            targets.setdefault(target, link)
    return list(targets.values())


def _runs_of(directory: str, file_sets: Sequence[FileSet]) -> list[RunFiles]:
    groups: dict[str, list[_Member]] = {}
    for file_set in file_sets:
        metadata, started_at = _read_metadata(file_set.path(filesets.METADATA))
        run_id = metadata.tfdbg_run_id if metadata else ""
        groups.setdefault(run_id or file_set.prefix, []).append((file_set, metadata, started_at))
    return [_run_files(directory, members) for members in groups.values()]


def _run_files(directory: str, members: Sequence[_Member]) -> RunFiles:
    known = [(metadata, at) for _, metadata, at in members if metadata and at is not None]
    first = min(known, key=lambda pair: pair[1], default=None)
    return RunFiles(
        directory=directory,
        run_id=first[0].tfdbg_run_id or None if first else None,
        tensorflow_version=first[0].tensorflow_version or None if first else None,
        started_at=first[1] if first else None,
        file_sets=tuple(file_set for file_set, _, _ in members),
        circular_buffer_size=first[0].circular_buffer_size if first else 0,
        filters=_filters([metadata for metadata, _ in known]),
        mode_name=first[0].mode_name if first else "",
        task=_task(first[0]) if first else None,
    )


def _task(metadata: DebugMetadata) -> Task | None:
    if not metadata.task_type:
        return None
    size = metadata.num_tasks or None
    return Task(metadata.task_type, metadata.task_index, metadata.cluster, size)


def _filters(processes: Sequence[DebugMetadata]) -> tuple[str, ...]:
    """Return the arguments by which the writers of a run left events out."""
    found = []
    for metadata in processes:
        found += [f"op_regex={metadata.op_regex!r}"] * bool(metadata.op_regex)
        found += ["tensor_dtypes"] * bool(metadata.filters_dtypes)
        found += [f"every={metadata.every}"] * (metadata.every > 1)
        found += [f"{name}={limit}" for name in _LIMITS[1:] if (limit := getattr(metadata, name))]
    return tuple(dict.fromkeys(found))


def _read_metadata(path: str) -> tuple[DebugMetadata | None, float | None]:
    """Return the metadata record and its time; (None, None) where it cannot be read.

    What was not recorded stands before it where the disk was full as the writer began.
    """
    try:
        data = storage_of(path).read_start(path, _METADATA_LIMIT)
        for _, payload in tfrecord.records(data, check=True):
            event = DebugEvent.decode(payload)
            if event.debug_metadata:
                return DebugMetadata.decode(event.debug_metadata), sane_time(event.wall_time)
    except (OSError, tfrecord.CorruptRecordError, codec.DecodeError):
        pass
    return None, None
