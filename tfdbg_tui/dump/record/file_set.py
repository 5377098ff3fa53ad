"""The files of one file set: created under a name of their own, written to, and closed together."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdbg_tui.dump.record import cluster
from tfdbg_tui.dump.record.files import (
    AppendedFile,
    FramedFile,
    PayloadFile,
    RecordSink,
    Reserve,
    RestMark,
    RingFile,
    StraightFile,
    make_directory,
)
from tfdbg_tui.wire import events, filesets
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.dump.options import Options


class WrittenFileSet:
    """Writes one file set.  Nothing is created before `open`.

    Args:
        options: What the user asked for.
        host: Host name, a part of the files' names.

    Attributes:
        reserve: Keeps a few bytes of the disk for what is to be said when it is full.
        rest: Says that nothing is missing where the process is ended.
        executions: Takes encoded executions.
        traces: Takes encoded graph execution traces.
    """

    def __init__(self, options: Options, host: str) -> None:
        self._options = options
        self._names = filesets.FileSet(_unused_prefix(options.dump_root, host))
        self._files: dict[str, RecordSink] = {}
        self.reserve = Reserve(f"{self._names.prefix}.reserve")
        self.rest = RestMark(self._names.path(filesets.REST))

    def open(self) -> None:
        """Create the files."""
        options, names = self._options, self._names
        make_directory(options.dump_root)
        for suffix in filesets.SUFFIXES[:4]:
            make: Callable[[str], RecordSink] = PayloadFile
            if suffix == filesets.METADATA:
                make = AppendedFile
            self._files[suffix] = make(names.path(suffix))
        for file in self._files.values():
            file.flush()
        full_tensors = options.mode is TensorDebugMode.FULL_TENSOR
        size = options.circular_buffer_size
        paths = names.path(filesets.EXECUTION), names.path(filesets.GRAPH_EXECUTION_TRACES)
        makers = PayloadFile, PayloadFile if full_tensors else FramedFile
        self.executions, self.traces = (
            RingFile(path, make, size) if size > 0 else StraightFile(path, make)
            for path, make in zip(paths, makers, strict=True)
        )

    @property
    def metadata_path(self) -> str:
        """Where the metadata file is."""
        return self._names.path(filesets.METADATA)

    def exists(self) -> bool:
        """Whether the files are still there."""
        return bool(tf.io.gfile.exists(self.metadata_path))

    def write_metadata(self, run_id: str, *, ended: bool) -> None:
        """Write what describes the whole dump.

        Args:
            run_id: Identifies the run.
            ended: Whether nothing comes after it, unless recording is started again.
        """
        options = self._options
        description = events.DebugMetadata(
            tf.__version__,
            "debug.Event:1",
            run_id,
            ended=int(ended),
            circular_buffer_size=max(0, options.circular_buffer_size),
            op_regex=options.op_regex.pattern if options.op_regex else "",
            filters_dtypes=int(options.tensor_dtypes is not None),
            every=options.every,
            steps=f"{options.steps[0]}..{options.steps[-1]}" if options.steps else "",
            layers=options.scope.layers,
            functions=options.scope.functions,
            lines=options.scope.lines,
            mode_name=options.mode_name,
            file_sizes=self.sizes() if ended and options.circular_buffer_size <= 0 else [],
            **cluster.task_fields(),
        )
        event = events.DebugEvent(time.time(), debug_metadata=description.encode())
        self.append_metadata(event.encode())

    def sizes(self) -> list[int]:
        """Return how many bytes each file but the metadata file holds; 0 for one that has gone."""
        paths = map(self._names.path, filesets.SUFFIXES[1:])
        return [os.path.getsize(path) if os.path.exists(path) else 0 for path in paths]

    def append_metadata(self, payload: bytes) -> None:
        """Append a record to the metadata file."""
        self._files[filesets.METADATA].write(payload)

    def write_definitions(self, definitions: Iterable[tuple[str, bytes]]) -> None:
        """Write and flush definitions, each given with the suffix of its file."""
        touched = set()
        for suffix, payload in definitions:
            self._files[suffix].write(payload)
            touched.add(suffix)
        for suffix in touched:
            self._files[suffix].flush()

    def commit(self) -> None:
        """Make what circular buffers hold permanent."""
        self.executions.commit()
        self.traces.commit()

    def close(self) -> None:
        """Close the files."""
        for file in (*self._files.values(), self.executions, self.traces):
            file.close()


def _unused_prefix(root: str, host: str) -> str:
    """Return a path prefix that no other process and no earlier dump of this one uses."""
    base = f"tfdbg_events.{int(time.time()):010d}.{host}-{os.getpid()}"
    prefix, number = base, 1
    while tf.io.gfile.exists(os.path.join(root, f"{prefix}.{filesets.METADATA}")):
        number += 1
        prefix = f"{base}-{number}"
    return os.path.join(root, prefix)
