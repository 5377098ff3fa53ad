"""From the program's threads to the files: queues, one writer thread, one file set.

The program's threads append to two deques and go on.  Every 100 ms the writer thread takes what
is in the event queue, *then* writes and flushes all definitions (which were queued before the
events that use them), then the events.  So at any moment the files are readable, nothing in them
refers to something that is not there, and a killed program loses at most its last quarter second.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import tensorflow as tf

from tfdbg_tui.dump.files import (
    FramedFile,
    PayloadFile,
    RingFile,
    StraightFile,
    make_directory,
)
from tfdbg_tui.wire import events, filesets
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.dump.options import Options

_log = logging.getLogger("tfdbg_tui")

_INTERVAL_SECONDS = 0.1
_MAX_QUEUED_BYTES = 256 << 20
"""Beyond this a thread of the program waits for the writer; only FULL_TENSOR comes near."""
_MAX_QUEUED_EVENTS = 20_000

_run_ids: dict[str, str] = {}
"""The run id of each dump root this process wrote to: TensorFlow reads one run a directory."""


class TraceBatch(Protocol):
    """One execution of some instrumented tensors of a graph, not yet encoded."""

    count: int
    nbytes: int

    def encode(self) -> Iterable[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""


class Recorder:
    """Writes one file set.

    Attributes:
        run_id: Identifies the run; the same for all file sets of a directory.
        host: Host name in code locations.
        definitions_lock: Guards the numbering of definitions.
        broken: Whether writing failed, so that nothing more is recorded.
    """

    def __init__(self, options: Options) -> None:
        root = options.dump_root
        self.run_id = options.run_id or _run_ids.setdefault(root, uuid.uuid4().hex[:8])
        self.host = socket.gethostname()
        self.definitions_lock = threading.RLock()
        self.broken = False
        self._root = root
        self._options = options
        self._definitions: deque[tuple[str, bytes]] = deque()
        self._executions: deque[bytes] = deque()
        self._traces: deque[TraceBatch] = deque()
        self._queued_bytes = 0
        self._num_executions = self._num_traces = 0
        self._drain_lock = threading.Lock()
        self._wake = threading.Event()
        self._stopped = True
        self._thread: threading.Thread | None = None
        self._keep_after_bad = options.keep_after_bad
        self._remaining: int | None = None
        self._files: dict[str, PayloadFile] = {}
        try:
            self._open(options)
        except Exception as error:
            self.fail(f"cannot write to {self._root}", error)
        self.start()

    def _open(self, options: Options) -> None:
        make_directory(self._root)
        file_set = self._file_set = filesets.FileSet(_unused_prefix(self._root, self.host))
        for suffix in filesets.SUFFIXES[:4]:
            self._files[suffix] = PayloadFile(file_set.path(suffix))
        for file in self._files.values():
            file.flush()
        full_tensors = options.mode is TensorDebugMode.FULL_TENSOR
        size = options.circular_buffer_size
        paths = file_set.path(filesets.EXECUTION), file_set.path(filesets.GRAPH_EXECUTION_TRACES)
        makers = PayloadFile, PayloadFile if full_tensors else FramedFile
        self._execution_file, self._trace_file = (
            RingFile(path, make, size) if size > 0 else StraightFile(path, make)
            for path, make in zip(paths, makers, strict=True)
        )

    def _write_metadata(self, *, ended: bool = False) -> None:
        options = self._options
        metadata = events.DebugMetadata(
            tf.__version__,
            "debug.Event:1",
            self.run_id,
            ended=int(ended),
            circular_buffer_size=max(0, options.circular_buffer_size),
            op_regex=options.op_regex.pattern if options.op_regex else "",
            filters_dtypes=int(options.tensor_dtypes is not None),
            every=options.every,
            mode_name=options.mode_name,
        )
        event = events.DebugEvent(time.time(), debug_metadata=metadata.encode())
        file = self._files[filesets.METADATA]
        file.write(event.encode())
        file.flush()

    # ---- Called by the program's threads -------------------------------------------------------

    def define(self, suffix: str, event: events.DebugEvent) -> None:
        """Queue a definition: it will be on disk before any event queued after it."""
        if not self.broken:
            event.wall_time = time.time()
            self._definitions.append((suffix, event.encode()))

    def execution(self, payload: bytes) -> None:
        """Queue the payload of an Execution record."""
        if self._frozen(1):
            return
        self._executions.append(payload)
        self._num_executions += 1
        self._queued_bytes += len(payload)
        self._slow_down()

    def traces(self, batch: TraceBatch) -> None:
        """Queue graph execution traces."""
        if self._frozen(batch.count):
            return
        self._traces.append(batch)
        self._num_traces += batch.count
        self._queued_bytes += batch.nbytes
        self._slow_down()

    def omit(self, kind: str, what: str, reason: str, graph_id: str = "") -> None:
        """Queue the fact that something is not on record.

        Args:
            kind: One of the constants in `wire.omissions`.
            what: What is not on record, as "the graph loss".
            reason: Why, in one sentence.
            graph_id: The graph that it is about, if it is about one.
        """
        omission = events.Omission(
            kind, what, reason, self._num_executions, self._num_traces, graph_id
        )
        self.define(filesets.METADATA, events.DebugEvent(omission=omission.encode()))

    def _slow_down(self) -> None:
        if self._queued_bytes < _MAX_QUEUED_BYTES:
            if len(self._executions) + len(self._traces) > _MAX_QUEUED_EVENTS:
                self._wake.set()
            return
        self._wake.set()
        while self._queued_bytes > _MAX_QUEUED_BYTES and not self.broken and not self._stopped:
            time.sleep(0.001)

    def bad_tensor_seen(self) -> None:
        """Start the countdown of `keep_after_bad`."""
        if self._remaining is None:
            self._remaining = self._keep_after_bad

    def _frozen(self, count: int) -> bool:
        if self._remaining is None:
            return False
        self._remaining -= count
        return self._remaining < 0

    def flush(self) -> None:
        """Write everything queued so far; a circular buffer's content becomes permanent."""
        with self._drain_lock:
            self._guarded(self._drain)
            self._guarded(self._commit)

    def start(self) -> None:
        """Start the writer thread."""
        self._guarded(self._write_metadata)
        if self.broken:
            return
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="tfdbg-tui-writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write everything queued so far and stop the writer thread; `start` goes on."""
        self._stopped = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self.flush()
        self._guarded(partial(self._write_metadata, ended=True))

    def close(self) -> None:
        """Close the files after `stop`."""
        self._guarded(self._close_files)
        self.broken = True

    def _close_files(self) -> None:
        for file in (*self._files.values(), self._execution_file, self._trace_file):
            file.close()

    def intact(self) -> bool:
        """Return whether the files are still there and can be written to."""
        return not self.broken and tf.io.gfile.exists(self._file_set.path(filesets.METADATA))

    def abandon(self) -> None:
        """Forget everything without touching the files: this process is a fork of their owner."""
        self.broken = self._stopped = True
        self._discard()
        _abandoned.append(self)

    def hold(self) -> None:
        """Keep the writer thread out until `release`, so that a fork finds no half-done write."""
        self._drain_lock.acquire()

    def release(self) -> None:
        """Undo `hold`."""
        self._drain_lock.release()

    # ---- The writer thread ---------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopped:
            self._wake.wait(_INTERVAL_SECONDS)
            self._wake.clear()
            with self._drain_lock:
                self._guarded(self._drain)

    def _guarded(self, action: Callable[[], None]) -> None:
        if self.broken:
            self._discard()
            return
        try:
            action()
        except Exception as error:
            self.fail(f"cannot write to {self._root}", error)

    def fail(self, what: str, error: Exception) -> None:
        """Give up recording, with one warning."""
        if self.broken:
            return
        self.broken = True
        self._discard()
        reason = next(iter(str(error).strip().splitlines()), "") or repr(error)
        _log.warning("tfdbg-tui: %s (%s); dumping is off, the program goes on", what, reason)
        _log.debug("tfdbg-tui: the error was", exc_info=error)

    def _discard(self) -> None:
        self._definitions.clear()
        self._executions.clear()
        self._traces.clear()
        self._queued_bytes = 0

    def _drain(self) -> None:
        executions = _take(self._executions)
        traces = _take(self._traces)
        self._write_definitions()
        size = sum(map(len, executions)) + sum(batch.nbytes for batch in traces)
        if traces:
            items = [item for batch in traces for item in batch.encode()]
            self._trace_file.extend(items)
        if executions:
            self._execution_file.extend([(payload, 1) for payload in executions])
        self._queued_bytes -= size

    def _write_definitions(self) -> None:
        touched = set()
        for suffix, payload in _take(self._definitions):
            self._files[suffix].write(payload)
            touched.add(suffix)
        for suffix in touched:
            self._files[suffix].flush()

    def _commit(self) -> None:
        self._execution_file.commit()
        self._trace_file.commit()


_abandoned: list[Recorder] = []
"""Recorders of a parent process: kept, so that no destructor flushes the parent's files."""


_Item = TypeVar("_Item")


def _take(queue: deque[_Item]) -> list[_Item]:
    return [queue.popleft() for _ in range(len(queue))]


def _unused_prefix(root: str, host: str) -> str:
    """Return a path prefix that no other process and no earlier dump of this one uses."""
    base = f"tfdbg_events.{int(time.time()):010d}.{host}-{os.getpid()}"
    prefix, number = base, 1
    while tf.io.gfile.exists(os.path.join(root, f"{prefix}.{filesets.METADATA}")):
        number += 1
        prefix = f"{base}-{number}"
    return os.path.join(root, prefix)
