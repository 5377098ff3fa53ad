"""Hooks into the sessions of TensorFlow 1."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import tensorflow as tf
from tensorflow.python.client.session import BaseSession

from tfdbg_tui.dump.tensorflow import objects, own
from tfdbg_tui.dump.tensorflow.function_defs import SINGLE_THREADED
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import attribute, declare
from tfdbg_tui.dump.tensorflow.session_callables import CALL, ProgramsCallable, Wanted
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Wrappers

_DO_RUN = declare(
    BaseSession,
    "_do_run",
    *("self", "handle", "target_list", "fetch_list", "feed_dict", "options", "run_metadata"),
)
_DO_CALL = declare(BaseSession, "_do_call", "self", "fn", "args")
_MAKE_CALLABLE = declare(
    BaseSession, "make_callable", "self", "fetches", "feed_list", "accept_options"
)
_MAKE_CALLABLE_FROM_OPTIONS = declare(
    BaseSession, "_make_callable_from_options", "self", "callable_options"
)

target_of = attribute(BaseSession, "sess_str")
"""Returns the address of the process that a session computes in; empty for this one."""


_ONLY_RUN = "only Session.run is"
_KNOWN = "_tfdbg_tui"
"""The attribute of a callable with how it was made."""
_CALLABLES = "Session._make_callable_from_options"
_OLDER = "it was made before the dump was on"
_ON_DEVICES = "its values stay on devices"
_FEWEST_OPTIMIZED = 4
"""TensorFlow's `kDefaultMinGraphNodes`."""


class Execute(Protocol):
    """Lets a session run what it is asked for, with the feeds of the program."""

    def __call__(self, targets: Any, fetches: Any, added: Any, *, is_programs: bool = False) -> Any:
        """Return the values of some fetches.

        Args:
            targets: The ops to run.
            fetches: The tensors.
            added: What is fed besides, by references of tensors; nothing where nothing is recorded.
            is_programs: Whether it is what the program has asked for.
        """


class SessionHooks:
    """Tells of runs of sessions."""

    def __init__(self, listener: SafeListener) -> None:
        self._listener = listener

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return (
            (_DO_RUN, self._do_run),
            (_DO_CALL, _do_call),
            (_MAKE_CALLABLE, self._make_callable),
            (_MAKE_CALLABLE_FROM_OPTIONS, self._make_callable_from_options),
            (CALL, self._call),
        )

    def _do_run(self, original: Any) -> Any:
        def do_run(
            this: Any,
            handle: Any,
            targets: Any,
            fetches: Any,
            feeds: Any,
            options: Any,
            run_metadata: Any,
        ) -> Any:
            if handle is not None:
                self._listener.tell("session_skipped", this, "Session.partial_run", _ONLY_RUN)
                return original(this, handle, targets, fetches, feeds, options, run_metadata)

            def execute(
                targets: Any, fetches: Any, added: Any, *, is_programs: bool = False
            ) -> Any:
                told = (options, run_metadata) if is_programs else (None, None)
                return original(this, None, targets, fetches, {**feeds, **added}, *told)

            return self._run(this, Wanted(targets, fetches, list(feeds)), execute)

        return do_run

    def _run(self, session: Any, wanted: Wanted, execute: Execute) -> Any:
        """Let a session compute what the program wants, and what records that."""
        if _is_single_threaded(session):
            self._listener.tell(
                "session_skipped", session, "Session.run", omissions.BY_SINGLE_THREAD
            )
            run = None
        else:
            run = self._listener.tell("session_run_begins", session, wanted)
        if run is None:
            return execute(wanted.targets, wanted.fetches, {}, is_programs=True)
        plan, added = run.plan, run.feeds
        try:
            if run.switch is not None:
                with contextlib.suppress(tf.errors.OpError):
                    execute([run.switch], [], {})
            if plan.before or plan.step is not None:
                steps = [plan.step] if plan.step is not None else []
                # What it cannot read the program's run cannot either, which says so itself.
                with contextlib.suppress(tf.errors.OpError):
                    values = execute(plan.before, steps, added)
                    self._listener.tell("session_counted", run, values)
            targets = [*plan.targets, *plan.along]
            outputs = execute(targets, plan.fetches, added, is_programs=True)
        except BaseException as error:
            again = self._listener.tell("session_plan_again", session, wanted, error)
            if again is not None:
                with contextlib.suppress(tf.errors.OpError):
                    if sinks := [*again.before, *again.along]:
                        execute(sinks, [], added)
                    run.computed_again = True
            self._listener.tell("session_run_fails", session, run, error)
            raise
        self._listener.tell("session_run_ends", run, wanted.fetches, outputs)
        return outputs

    def _make_callable(self, original: Any) -> Any:
        def make_callable(
            this: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False
        ) -> Any:
            with LeftOutOfTracebacks():
                made = original(this, fetches, feed_list, accept_options)
            if feed_list is not None:
                return made  # TensorFlow itself makes that a call of `run`.

            def call(*args: Any, **kwargs: Any) -> Any:
                with LeftOutOfTracebacks():
                    if args or (kwargs and not accept_options):
                        return made(*args, **kwargs)  # raises
                    return this.run(fetches, **kwargs)

            return call

        return make_callable

    def _make_callable_from_options(self, original: Any) -> Any:
        def make_callable_from_options(this: Any, callable_options: Any) -> Any:
            if not _is_single_threaded(this):
                # Once the session has taken over the graph, no op may call another function.
                self._listener.tell("session_extends", this)
            with LeftOutOfTracebacks():
                made = original(this, callable_options)
            known = self._listener.attempt(
                _CALLABLES, ProgramsCallable, this, callable_options, original
            )
            setattr(made, _KNOWN, known)
            return made

        return make_callable_from_options

    def _call(self, original: Any) -> Any:
        def call(this: Any, *args: Any, **kwargs: Any) -> Any:
            made: ProgramsCallable | None = objects.attributes(this).get(_KNOWN)
            if made is None or made.stays_on_devices:
                self._tell_skipped(this, _OLDER if made is None else _ON_DEVICES)
                return original(this, *args, **kwargs)
            wanted = self._listener.attempt(_CALLABLES, made.wanted, args)
            if wanted is None:
                return original(this, *args, **kwargs)

            def execute(
                targets: Any, fetches: Any, added: Any, *, is_programs: bool = False
            ) -> Any:
                if is_programs and not added:
                    made.forget()
                    return original(this, *args, **kwargs)
                to_call = self._listener.attempt(
                    _CALLABLES, made.with_ops, targets, fetches, added, is_programs
                )
                if to_call is None:
                    return original(this, *args, **kwargs) if is_programs else []
                try:
                    values = [*args, *map(np.asarray, added.values())]
                    return original(to_call, *values, **(kwargs if is_programs else {}))
                except tf.errors.OpError as error:
                    own.restore_names(error)
                    raise

            return self._run(made.session, wanted, execute)

        return call

    def _tell_skipped(self, made: Any, reason: str) -> None:
        """Say that a callable is not recorded, and why."""
        session = objects.attributes(made).get("_session")
        if session is not None:
            self._listener.tell("session_skipped", session, _CALLABLES, reason)


def fewest_optimized(session: Any) -> int:
    """Return how many ops a graph has to have for a session to optimize it."""
    config = _config(session)
    fewest = config.graph_options.rewrite_options.min_graph_nodes if config is not None else 0
    return int(fewest) or _FEWEST_OPTIMIZED


def _config(session: Any) -> Any:
    """Return what a session was configured with; None for nothing."""
    return objects.attributes(session).get("_config")  # that of an instance, not of its class


def _is_single_threaded(session: Any) -> bool:
    """Return whether the executor of a session has no v1 control flow."""
    config = _config(session)
    return config is not None and config.experimental.executor_type == SINGLE_THREADED


def _do_call(original: Any) -> Any:
    """Let TensorFlow find the program's op in the message of an error, not the one that ran."""

    def do_call(this: Any, fn: Any, *args: Any) -> Any:
        def call(*given: Any) -> Any:
            try:
                with LeftOutOfTracebacks():
                    return fn(*given)
            except tf.errors.OpError as error:
                own.restore_names(error)
                raise

        return original(this, call, *args)

    return do_call
