"""From the program's threads to the files: queues, one writer thread, one file set.

The program's threads append to two deques and go on.  Every 150 ms, and when rows were taken out of
graphs, the writer thread takes what is in the event queue, *then* writes and flushes all
definitions (which were queued before the events that use them), then the events.  So at any moment
the files are readable, nothing in them refers to something that is not there, and a killed program
loses at most its last quarter second: a program that makes events faster than they are written
waits for the writer.

What could not be recorded or written is told in the metadata file; see `Omissions`.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import socket
import threading
import time
import uuid
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from tfdbg_tui.dump import locks, steps, threads, workers
from tfdbg_tui.dump.encode.repetitions import Repeats
from tfdbg_tui.dump.errors import reason_of
from tfdbg_tui.dump.record.backlog import Backlog
from tfdbg_tui.dump.record.event_writer import EventWriter
from tfdbg_tui.dump.record.file_set import WrittenFileSet
from tfdbg_tui.dump.record.held import Events, HeldEvents
from tfdbg_tui.dump.record.omitted import Omissions, Since
from tfdbg_tui.wire import events, metadata, omissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.dump.encode.batches import TraceBatch
    from tfdbg_tui.dump.encode.executions import Execution
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.threads import SystemThread

_log = logging.getLogger("tfdbg_tui")

_INTERVAL_SECONDS = 0.15
"""Longer than that of `row_queue`, so that rows are written as soon as they are taken, and both
together."""
_LONGEST_WAIT_SECONDS = 1.0
_ITEM_BYTES = 500
"""How many bytes could be written in the time that an item takes besides its bytes."""

_HEALTHY = "healthy events"
_LATE = "exit functions that the program registers before it enables a dump run after its end"

_MUCH_BYTES = 1 << 28
"""In larger files one call is written like another in few bytes as well: those of a program with
steps of half a millisecond grow by 60 MB a second otherwise."""

_run_ids: dict[str, str] = {}
"""The run id of each dump root this process wrote to: TensorFlow reads one run a directory."""


class Recorder:
    """Writes one file set.

    Attributes:
        run_id: Identifies the run; the same for all file sets of a directory.
        host: Host name in code locations.
        definitions_lock: Guards the numbering of definitions.
        broken: Whether writing failed, so that nothing more is recorded.
        failure: What could not be written, and why; "" where nothing failed.
        rest_mark: Says that nothing is missing if the process is ended now.
        each_round: Called by the writer thread before it writes, some seven times a second.
    """

    def __init__(self, options: Options) -> None:
        root = options.dump_root
        self.run_id = options.run_id or _run_ids.setdefault(root, _new_run_id(root))
        self.host = socket.gethostname()
        self.definitions_lock = locks.new()
        self.broken = False
        self.failure = ""
        self.each_round: Callable[[], None] = _nothing
        self._root = root
        self._definitions: deque[tuple[str, bytes]] = deque()
        self._executions: deque[Execution] = deque()
        self._traces: deque[TraceBatch] = deque()
        self._backlog = Backlog()
        self._num_executions = self._num_traces = 0
        self._num_written = 0, 0
        self._num_dropped = 0, 0
        self._held: HeldEvents | None = None
        self._held_since = Since("", 0, 0, None)
        self._omissions = Omissions()
        self._drain_lock = locks.new()
        self._writing_thread: int | None = None
        self._is_in_round = False  # whether the writer thread is in `each_round`
        self._wake = locks.Signal()
        self._stopped = True
        self._thread: threading.Thread | SystemThread | None = None
        self._keep_after_bad = options.keep_after_bad
        # In the modes that TensorFlow has its reader sees each record, as of its own writer.
        self._may_repeat = options.adaptive and options.circular_buffer_size <= 0
        self._is_much = False  # what the files hold
        self._remaining: int | None = None
        self._forked = False
        self._files = WrittenFileSet(options, self.host)
        self._events = EventWriter(self._files, self.lose)
        self.rest_mark = self._files.rest
        self._guarded(self._files.open)
        self.start()

    # ---- Called by the program's threads -------------------------------------------------------

    def define(self, suffix: str, event: events.DebugEvent) -> None:
        """Queue a definition: it will be on disk before any event queued after it."""
        if not self.broken:
            event.wall_time = time.time()
            self._definitions.append((suffix, event.encode()))

    def execution(self, execution: Execution) -> None:
        """Queue an execution."""
        if self._remaining is not None and self._is_frozen(1):
            return
        self._executions.append(execution)
        self._num_executions += 1
        if self._backlog.add(execution[1].nbytes + _ITEM_BYTES):
            self._wait_for_writer()

    def traces(self, batch: TraceBatch) -> None:
        """Queue graph execution traces."""
        if self._remaining is not None and self._is_frozen(batch.count):
            return
        self._traces.append(batch)
        self._num_traces += batch.count
        if self._backlog.add(batch.nbytes + _ITEM_BYTES):
            self._wait_for_writer()

    @property
    def num_executions(self) -> int:
        """How many executions were queued."""
        return self._num_executions

    @property
    def waits_for_bad(self) -> bool:
        """Whether events are written only once something is bad."""
        return self._held is not None

    @property
    def num_bytes(self) -> int:
        """About how many bytes the files hold, with what waits, as far as they lie here."""
        return sum(self._files.sizes()) + self._backlog.num_bytes

    @property
    def repeats(self) -> Repeats:
        """Which graph executions may be written as repetitions of others by now."""
        if not self._may_repeat:
            return Repeats.NONE
        return Repeats.ACROSS_CALLS if self._is_much else Repeats.IN_CALLS

    def omit(
        self, kind: str, what: str, reason: str, graph_id: str = "", *, count: int = 1
    ) -> bool:
        """Tell in the metadata file that something is not on record.

        Args:
            kind: One of the constants in `wire.omissions`.
            what: What is not on record, as "the graph loss".
            reason: Why, in one sentence.
            graph_id: The graph that it is about, if it is about one.
            count: How often it has happened now, or how many records were lost.

        Returns:
            Whether it is the first thing that is not on record.
        """
        since = self._from_now(reason)
        omission = since.omission(kind, what, graph_id, count)
        return self._omissions.add(time.time(), since.step, omission)

    def _from_now(self, reason: str) -> Since:
        executed, traces = self._num_dropped
        done = self._num_executions - executed, self._num_traces - traces
        return Since(reason, *done, steps.current)

    def lose(
        self, kind: str, what: str, error: Exception, graph_id: str = "", *, count: int = 1
    ) -> None:
        """Tell what an error of ours has cost; the first time with a warning.

        Args:
            kind: One of the constants in `wire.omissions`.
            what: What is not on record, as "the graph loss".
            error: The error.
            graph_id: The graph that it is about, if it is about one.
            count: How many records were lost.
        """
        reason = reason_of(error)
        if self.omit(kind, what, reason, graph_id, count=count):
            _log.warning("tfdbg-tui: not on record: %s (%s); the program goes on", what, reason)
        _log.debug("tfdbg-tui: the error was", exc_info=error)

    def write_soon(self) -> None:
        """Let the writer thread write what is queued, without waiting for it."""
        self._wake.give()

    def _wait_for_writer(self) -> None:
        """Let this thread wait, as too much is queued."""
        self._wake.give()
        while self._backlog.is_full and self._empties_queues():
            time.sleep(0.001)

    def _empties_queues(self) -> bool:
        """Return whether the writer thread does, or will: it may itself wait for this thread."""
        may_wait_for_this = self._is_in_round or self._is_writing()
        return not (may_wait_for_this or self.broken or self._stopped)

    def wait_for_bad(self, reason: str) -> None:
        """Keep the newest events in memory from now on, and write them once one is bad.

        Called by the thread that writes.

        Args:
            reason: Why, in one sentence.
        """
        self._held_since = Since(reason, *self._num_written, steps.current)
        self._held = HeldEvents(self.num_bytes)
        # At once, so that who is killed before anything is dropped has said so as well.
        self._tell_dropped(0, 0)

    def bad_tensor_seen(self) -> None:
        """Start the countdown of `keep_after_bad`."""
        if self._remaining is None:
            self._remaining = self._keep_after_bad

    def _is_frozen(self, count: int) -> bool:
        assert self._remaining is not None
        was_frozen = self._remaining < 0
        self._remaining -= count
        if self._remaining < 0 and not was_frozen:
            reason = f"keep_after_bad={self._keep_after_bad} froze the circular buffer"
            self.omit(omissions.STOPPED, "the rest of the program", reason)
        return self._remaining < 0

    def flush(self) -> None:
        """Write everything queued so far; a circular buffer's content becomes permanent."""
        if self._is_writing():
            return
        with self._alone():
            self._guarded(self._drain)
            self._guarded(self._files.commit)

    def rest(self, *, is_idle: bool) -> None:
        """Write everything queued so far, and say that it is all.

        Args:
            is_idle: Whether it is all: nothing is under way.
        """
        if self._is_writing() or not self._drain_lock.acquire(timeout=_LONGEST_WAIT_SECONDS):
            return
        try:
            self._rest(is_idle=is_idle)
        finally:
            self._drain_lock.release()

    def _rest(self, *, is_idle: bool) -> None:
        with self._alone():
            self._guarded(self._drain)
            if is_idle and self._held is None and not self.broken:
                self._guarded(lambda: self._write_omissions(all_counts=True))
                self.rest_mark.set()

    def start(self) -> None:
        """Start the writer thread."""
        self._guarded(self._begin)
        if self.broken:
            return
        self._stopped = False
        self._thread = threads.start(self._run, "writer")

    def stop(self) -> None:
        """Write everything queued so far and stop the writer thread; `start` goes on."""
        self._stopped = True
        self._wake.give()
        thread = self._thread
        if thread and not self._is_writing() and thread.ident != threading.get_ident():
            thread.join()
        self.flush()
        with contextlib.suppress(Exception):  # then the missing mark tells it
            self._end()

    def _begin(self) -> None:
        self._files.reserve.take()
        self._files.write_metadata(self.run_id, ended=False)

    def _end(self) -> None:
        self._write_omissions(all_counts=True)
        self._files.write_metadata(self.run_id, ended=True)
        self._files.reserve.free()
        self.rest_mark.clear()

    def close(self) -> None:
        """Close the files after `stop`."""
        self._guarded(self._files.close)
        self.broken = True

    def intact(self) -> bool:
        """Return whether the files are still there and can be written to."""
        return not self.broken and self._files.exists()

    def abandon(self) -> None:
        """Forget everything without touching the files: this process is a fork of their owner."""
        self.broken = self._stopped = self._forked = True
        self._discard()

    def tell_fork(self) -> None:
        """Tell in the owner's files, once, that this fork of it computes something."""
        if not self._forked:
            return
        self._forked = False
        since = self._from_now("it was forked from the recorded one")
        self._append(since.omission(omissions.FORKED, f"process {os.getpid()}"))

    def tell_late_op(self) -> None:
        """Tell that the program has computed something after the dump had ended with it."""
        self._append(self._from_now(_LATE).omission(omissions.STOPPED, "the rest of the program"))

    def _append(self, omission: events.Omission) -> None:
        """Tell something in files that are closed, or another process's."""
        event = events.DebugEvent(time.time(), omission=omission.encode())
        with contextlib.suppress(OSError):
            metadata.append(self._files.metadata_path, event.encode())

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep the writer thread out, so that a fork finds no half-done write."""
        with self._drain_lock:
            yield

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads from writing."""
        with self._drain_lock:
            self._writing_thread = threading.get_ident()
            try:
                yield
            finally:
                self._writing_thread = None

    def _is_writing(self) -> bool:
        """Return whether this thread is: it is in a finalizer, or in the handler of a signal."""
        return self._writing_thread == threading.get_ident()

    # ---- The writer thread ---------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopped:
            try:
                self._wake.wait(_INTERVAL_SECONDS)
                if not self.broken:
                    self._do_round()
                with self._alone():
                    self._guarded(self._drain)
            # Whatever it is, the thread goes on: the program waits where nobody empties queues.
            except BaseException as error:
                self._give_up(error)

    def _do_round(self) -> None:
        self._is_in_round = True
        try:
            self.each_round()
        finally:
            self._is_in_round = False

    def _guarded(self, write: Callable[[], None]) -> None:
        """Call what writes files; give up recording where they cannot be written."""
        if self.broken:
            self._discard()
            return
        try:
            write()
        except Exception as error:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        """Record nothing any more; say so in a warning, and in the metadata file if possible."""
        self.broken = True
        self._discard()
        reason = reason_of(error).rpartition("; ")[2]  # TensorFlow begins with the path
        self.failure = f"cannot write to {self._root} ({reason})"
        _log.warning("tfdbg-tui: %s; dumping is off, the program goes on", self.failure)
        _log.debug("tfdbg-tui: the error was", exc_info=error)
        self._num_executions, self._num_traces = self._num_written
        self.omit(omissions.STOPPED, "the rest of the program", self.failure)
        self._files.reserve.free()
        with contextlib.suppress(Exception):  # `stop` tries again
            self._write_omissions(all_counts=True)

    def _discard(self) -> None:
        self._definitions.clear()
        self._executions.clear()
        self._traces.clear()
        self._backlog.clear()
        self._held = None

    def _drain(self) -> None:
        begun, queued = time.monotonic(), (self._num_executions, self._num_traces)
        waiting = self._backlog.num_bytes  # what is queued meanwhile counts for the next time
        taken = Events(_take(self._executions), _take(self._traces))
        if self.rest_mark.is_set and (taken.executions or taken.traces):
            self.rest_mark.clear()
        self._files.write_definitions(_take(self._definitions))
        ready = taken if self._held is None else self._held_back(self._held, taken)
        self._events.write(ready, self.repeats)
        self._is_much = self._is_much or self.num_bytes > _MUCH_BYTES
        if self._held is None:
            self._num_written = queued
        self._write_omissions(all_counts=False)
        self._backlog.written(waiting, time.monotonic() - begun)

    def _held_back(self, held: HeldEvents, taken: Events) -> Events:
        """Return what is to be written: all that waits, if something is bad or recording ends."""
        dropped = held.add(taken).counts
        if any(dropped):
            self._tell_dropped(*dropped)
        if not (self._stopped or taken.are_bad):
            return Events([], [])
        self._held = None
        self.omit(omissions.ALL_AGAIN, _HEALTHY, "what waited is written")
        return held.all()

    def _tell_dropped(self, executed: int, traces: int) -> None:
        """Tell how many healthy events more are not on record."""
        since = self._held_since
        all_executed, all_traces = self._num_dropped
        self._num_dropped = all_executed + executed, all_traces + traces
        self._num_written = self._num_written[0] + executed, self._num_written[1] + traces
        omission = since.omission(omissions.ONLY_BAD, _HEALTHY, count=executed + traces)
        self._omissions.add(time.time(), since.step, omission)

    def _write_omissions(self, *, all_counts: bool) -> None:
        for payload in self._omissions.unwritten(all_counts=all_counts):
            self._files.append_metadata(payload)


def _new_run_id(root: str) -> str:
    """Return the id of a run that is recorded into a directory.

    Workers that record by themselves belong together, and with the process that started them.
    """
    starter = workers.starter()
    if starter is None:
        return uuid.uuid4().hex[:8]
    return hashlib.blake2b(f"{starter} {root}".encode(), digest_size=4).hexdigest()


def _nothing() -> None:
    pass


_Item = TypeVar("_Item")


def _take(queue: deque[_Item]) -> list[_Item]:
    return [queue.popleft() for _ in range(len(queue))]
