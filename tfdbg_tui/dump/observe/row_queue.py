"""How groups hand over what they saw without entering Python: rows of numbers in a queue.

The queue is a stage of TensorFlow's (see `stages`), which all graphs of the process share.  When a
graph runs, each of its groups puts one row into it (see `row_ops`); several rows, where it has many
sizes to tell; with them, maybe, the elements of its tensors (see `elements`), and the iteration of
its loop.  A thread takes all of them out together every `_INTERVAL_SECONDS`.  That goes on for as
long as the process, as what was made to record may run for as long.

A number below zero in place of the iteration says that what ran until then has ended, such as a
call.  The last group of a function puts it there, or an op after the last call in it, where nothing
else runs during the call (see `last_number`); else Python puts a *mark* after the rows, which is an
eager op.

Each session of TensorFlow 1 has a stage of its own.  The thread empties it while a run is in
progress, and what is left is taken out when the run ends.

The queue is bounded: graphs that are faster than the writer wait for it.  That of a session is not:
where the program closes the session while a run goes on, nobody could take anything out.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.ma  # else np.unique imports it, when there may be no descriptor left
import numpy.typing as npt

from tfdbg_tui.dump import locks, steps, threads
from tfdbg_tui.dump.encode.elements import Words
from tfdbg_tui.dump.encode.queue_rows import (
    ITERATION,
    MARK,
    NUMBER,
    PART,
    SERIAL,
    WIDTH,
)
from tfdbg_tui.dump.observe import callbacks, taken_rows
from tfdbg_tui.dump.observe.calls import LoneCall, Moment
from tfdbg_tui.dump.observe.row_ops import NAME
from tfdbg_tui.dump.tensorflow import (
    collected_graphs,
    device_looks,
    executors,
    resources,
    stages,
)

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from tfdbg_tui.dump.encode.queue_rows import Rows
    from tfdbg_tui.dump.observe.calls import Call
    from tfdbg_tui.dump.observe.groups import Dump, Group
    from tfdbg_tui.dump.tensorflow.session_stages import SessionStage
    from tfdbg_tui.dump.threads import SystemThread

_INTERVAL_SECONDS = 0.125
_LONGEST_WAIT_SECONDS = 2.0
"""The thread may be kept from its first op by a lock that the program holds while it waits."""
_MAX_TENSORS = 1 << 12
"""So many tensors with numbers are kept."""


def watch() -> None:
    """Take rows out of the queue from now on."""
    _queue.watch()


def run_begins(stage: SessionStage) -> None:
    """Note that a run of a session, which is about to begin, may put rows into its queue."""
    _queue.run_begins(stage)


def run_ends(stage: SessionStage) -> None:
    """Take the rows that a run of a session, which has ended, has put into its queue."""
    _queue.run_ends(stage)


def take_rows(stage: SessionStage) -> None:
    """Take the rows that runs of a session have put into its queue so far."""
    _queue.take_rows(stage)


def last_number(call: Call, now: Callable[[], Moment]) -> Any:
    """Return what the last row of a call that begins is to have in place of an iteration.

    Args:
        call: The call.
        now: Returns what runs now; something else than the call, if it is to end with a mark.
    """
    return _queue.begin(call, now)


def end(call: Call, now: Callable[[], Moment], then: Callable[[], None] | None = None) -> None:
    """Note that a call puts no more rows into the queue.

    Args:
        call: The call.
        now: Returns what runs now.
        then: What is to be done once its rows have been handed to the dumps; it raises nothing.
    """
    _queue.end_call(call, now, then)


def mark(now: Callable[[], Moment], *, of_datasets: bool = True) -> None:
    """Note what runs now, to which the rows belong that were put since the last call ended.

    There are none where no call runs and no dataset has a function that puts some.

    Args:
        now: Returns what runs now.
        of_datasets: Whether that matters for rows of datasets as well.
    """
    with _queue.mark_lock:
        if (of_datasets and _queue.takes_rows_of_datasets) or now().calls:
            _queue.mark(now)


def begins() -> AbstractContextManager[Any]:
    """Return a context in which a call may be added to those in progress.

    Nobody takes another call for the only one meanwhile, nor puts a mark.
    """
    return _queue.mark_lock


def expect_rows_of_datasets() -> None:
    """Note that rows may be put from now on though no call runs."""
    _queue.takes_rows_of_datasets = True


def drain() -> None:
    """Hand what is in the queue to the dumps."""
    _queue.drain()


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Let nobody take rows or put marks, so that a fork finds no op half done."""
    # That of marks first: who puts one may have to wait until rows are taken.
    with _queue.mark_lock, _queue.lock:
        yield


def _begin_anew() -> None:
    """Begin anew in a process that was forked: the thread is not there."""
    global _queue
    _queue = _Queue(_queue.leaving)


class KeepAlive:
    """Keeps a group until its last rows have been taken, though its graph may be gone by then."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._leaving = _queue.leaving  # When the process ends, this module may be gone by then.
        _kept.add(group)

    def __del__(self) -> None:
        self._leaving.append(self._group)


_new_numbers = itertools.count(1)
"""Goes on in a process that was forked, where there may be ends of the one that it comes from."""


class _End(NamedTuple):
    """What is known of an item that ends something.

    Attributes:
        number: The item's.
        moment: Returns what ran then.
        then: What is to be done when all before it has been handed over.
    """

    number: int
    moment: Callable[[], Moment]
    then: Callable[[], None] | None = None


class _EndNumbers:
    """Numbers of ends, above zero and of 32 bits.

    One that was found in the queue comes back: to make an eager tensor takes longer than all else
    that the end of a call needs.
    """

    def __init__(self) -> None:
        self._free: list[int] = []
        self._tensors = resources.OfContexts(_MAX_TENSORS)

    def take(self) -> int:
        """Return a number that nobody has."""
        return self._free.pop() if self._free else next(_new_numbers)

    def give_back(self, number: int) -> None:
        """Note that a number will not be found again."""
        self._free.append(number)

    def tensor(self, number: int) -> Any:
        """Return an int32 tensor of the current context with a number, or its negative."""
        return self._tensors.get(resources.current_context(), (number,), resources.int32)

    def forget(self, context: Any) -> None:
        """Give back the tensors of a context that the program has thrown away."""
        self._tensors.forget(context)


class _Queue:
    def __init__(self, leaving: list[Group]) -> None:
        self.leaving = leaving
        self.takes_rows_of_datasets = False
        self.lock = locks.new()
        self.mark_lock = locks.new()
        self._contexts: list[Any] = []  # of TensorFlow's, in whose stages there may be something
        self._in_sessions: set[SessionStage] = set()  # those of runs in progress
        self._expected: deque[_End] = deque()
        self._numbers = _EndNumbers()
        self._lone: LoneCall | None = None
        self._thread: threading.Thread | SystemThread | None = None
        self._has_run = self._has_ended = False
        self._is_draining = False
        self._ends = locks.Signal()

    def watch(self) -> None:
        """Start the thread that takes rows out, if it does not run.

        For the first op of a thread TensorFlow opens a file, and crashes where there is no
        descriptor left; so that op comes now.
        """
        self._note_context()
        self._start()
        until = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not self._has_run and time.monotonic() < until:
            locks.Signal().wait(0.001)

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self.lock:
            if self._thread is None:
                self._thread = threads.start(self._run, "rows")

    def run_begins(self, stage: SessionStage) -> None:
        if self._in_sessions:
            self.drain()  # The rows so far cannot be of the new run.
        self._in_sessions.add(stage)
        self._start()

    def run_ends(self, stage: SessionStage) -> None:
        self._in_sessions.discard(stage)
        self.take_rows(stage)

    def take_rows(self, stage: SessionStage) -> None:
        with self.lock:
            self._drain_session(stage)

    def end(self) -> None:
        """Stop the thread: TensorFlow goes before threads do when the process ends."""
        self._ends.give()
        if self._thread is not None:
            self._thread.join()
            self._has_ended = True

    def _run(self) -> None:
        ends = False
        while not ends:
            if not collected_graphs.is_under_way():
                self.drain()
                _write_soon()
            self._has_run = True
            ends = self._ends.wait(_INTERVAL_SECONDS)

    def begin(self, call: Call, now: Callable[[], Moment]) -> Any:
        """Return by which number the last row of a call tells of its end; 0 if a mark will."""
        self._note_context()
        self._make_room()
        with self.mark_lock:
            if len(now().calls) > 1:
                if self._lone is not None:
                    self.mark(self._lone.moment)  # It is not alone any more.
                return self._numbers.tensor(0)
            self._lone = LoneCall(call, steps.current)
            number = self._numbers.take()
            self._expected.append(_End(number, self._lone.moment))
            return self._numbers.tensor(-number)

    def end_call(
        self, call: Call, now: Callable[[], Moment], then: Callable[[], None] | None
    ) -> None:
        with self.mark_lock:
            lone = self._lone
            if lone is not None and lone.call is call:
                lone.end = time.time()
                self._lone = None
                if then is None:
                    return
            self.mark(now, then)

    def mark(self, now: Callable[[], Moment], then: Callable[[], None] | None = None) -> None:
        if then is not None:
            self._start()
        elif not self._contexts:  # Nothing of ours has run but in sessions.
            return
        self._note_context()
        self._make_room()
        with self.mark_lock:  # Marks are in the order of their moments.
            self._lone = None  # Its last row may come before the mark or after it.
            number, moment = self._numbers.take(), now()
            self._expected.append(_End(number, lambda: moment, then))
            try:
                stages.put_number(NAME, self._numbers.tensor(-number), WIDTH)
            except BaseException:
                self._expected.pop()  # Later rows do not belong to it.
                raise

    def _make_room(self) -> None:
        """Take rows where nobody else does any more: exit functions and daemon threads go on."""
        if self._has_ended:
            self.drain()

    def drain(self) -> None:
        """Hand over what is there; what goes wrong costs these rows, and is told.

        A finalizer, or the handler of a signal, must not take what this thread is about to take:
        TensorFlow would wait for it.
        """
        with self.lock:
            if self._is_draining:
                return
            self._is_draining = True
            try:
                with executors.synchronous():
                    self._drain()
            except BaseException as error:
                _tell_loss_to_all(error)
            finally:
                self._is_draining = False

    def _drain(self) -> None:
        leaving = self.leaving.copy()
        try:
            for where in self._contexts.copy():
                found = False
                for items in stages.take_all(NAME, where):
                    found = True
                    self._hand_over(items)
                if not found and where is not resources.current_context():
                    self._forget(where)
        except BaseException as error:
            _tell_loss_to_all(error)
        finally:
            _kept.difference_update(leaving)
            del self.leaving[: len(leaving)]
        for stage in self._in_sessions.copy():
            self._drain_session(stage)

    def _drain_session(self, stage: SessionStage) -> None:
        try:
            for items in stage.take_all():
                if len(items.sizes):
                    self._hand_over(items, in_session=True)
        except BaseException as error:
            self._in_sessions.discard(stage)  # The program may have closed the session.
            _tell_loss_to_all(error)

    def _forget(self, context: Any) -> None:
        """Give back what belongs to a context that the program has thrown away."""
        self._contexts.remove(context)
        self._numbers.forget(context)
        stages.forget(context)
        device_looks.forget(context)

    def _note_context(self) -> None:
        current = resources.current_context()
        if current not in self._contexts:
            self._contexts.append(current)

    def _hand_over(self, items: stages.Items, *, in_session: bool = False) -> None:
        rows = items.numbers
        is_head = rows[:, PART] == 0
        which_item = np.cumsum(is_head) - 1
        rows[:, ITERATION] = np.maximum(items.iterations, 0)[which_item]
        rows[:, SERIAL] = rows[is_head, SERIAL][which_item]
        ends = self._ended(items.iterations)
        moments = [end.moment() for end in ends.values()]
        is_end = np.zeros(len(items.iterations), bool)
        is_end[list(ends)] = True
        when: npt.NDArray[np.int64] = np.cumsum(is_end) - is_end
        words = Words.in_order(items.words, items.sizes.astype(np.int64))
        is_told = rows[:, NUMBER] != MARK
        first = 0
        parts = [(item, end.then) for item, end in ends.items() if end.then is not None]
        for last, then in (*parts, (len(when) - 1, None)):
            taken = is_told & (which_item >= first) & (which_item <= last)
            if taken.any():
                its_words = words.of(which_item[taken & is_head])
                when_each = when[which_item[taken]]
                self._hand_over_rows(rows[taken], its_words, moments, when_each, in_session)
            if then is not None:
                then()
            first = last + 1

    def _hand_over_rows(
        self,
        rows: Rows,
        words: Words,
        moments: Sequence[Moment],
        when: npt.NDArray[np.int64],
        in_session: bool,
    ) -> None:
        numbers, which = np.unique(rows[:, NUMBER], return_inverse=True)
        groups = [callbacks.group_of(number) for number in numbers.tolist()]
        for dump in {group.dump for group in groups if group is not None}:
            own = np.array([group is not None and group.dump is dump for group in groups])[which]
            of_own = words.of(np.flatnonzero(own[rows[:, PART] == 0]))
            try:
                now = dump.now() if in_session else self._open_moment(dump)
                known = [*moments, now]
                taken_rows.hand_over(dump, groups, which[own], known, when[own], rows[own], of_own)
            except BaseException as error:
                _tell_loss(dump, error)

    def _ended(self, iterations: npt.NDArray[np.int32]) -> dict[int, _End]:
        """Return the items that end something.

        Of those that came before and were lost it does not matter when they were; nor does it of
        the last row of a call before whose end there was a mark.
        """
        ends: dict[int, _End] = {}
        known = {end.number for end in tuple(self._expected)}
        for item in np.flatnonzero(iterations < 0).tolist():
            number = -int(iterations[item])
            if number not in known:
                continue
            end = self._expected.popleft()
            while end.number != number:
                known.discard(end.number)
                if end.then is not None:
                    end.then()
                end = self._expected.popleft()
            known.discard(number)
            self._numbers.give_back(number)
            ends[item] = end
        return ends

    def _open_moment(self, dump: Dump) -> Moment:
        """Return what runs now; where a call has ended since the rows were taken, what ran then."""
        now = dump.now()
        return self._expected[0].moment() if self._expected else now


def _write_soon() -> None:
    for dump in list(callbacks.dumps):
        dump.write_soon()


def _tell_loss_to_all(error: BaseException) -> None:
    for dump in list(callbacks.dumps):
        if dump.active:  # A dump that was stopped has its rows.
            _tell_loss(dump, error)


def _tell_loss(dump: Dump, error: BaseException) -> None:
    dump.hook_failed(error, "graph executions")


_kept: set[Group] = set()
"""The groups of `KeepAlive`s.  Without it, garbage collection would clear the weak references by
which groups are looked up before it calls `__del__`."""

_queue = _Queue([])
atexit.register(lambda: _queue.end())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
