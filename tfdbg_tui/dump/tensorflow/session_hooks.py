"""Hooks into the sessions of TensorFlow 1."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.client.session import BaseSession

from tfdbg_tui.dump.tensorflow import objects, own
from tfdbg_tui.dump.tensorflow.function_defs import SINGLE_THREADED
from tfdbg_tui.dump.tensorflow.private import attribute, declare
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
_FEWEST_OPTIMIZED = 4
"""TensorFlow's `kDefaultMinGraphNodes`."""


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
            if _is_single_threaded(this):
                self._listener.tell(
                    "session_skipped", this, "Session.run", omissions.BY_SINGLE_THREAD
                )
                return original(this, None, targets, fetches, feeds, options, run_metadata)
            run = self._listener.tell("session_run_begins", this, targets, fetches, feeds)
            if run is None:
                return original(this, None, targets, fetches, feeds, options, run_metadata)
            plan, all_feeds = run.plan, {**feeds, **run.feeds}
            targets_along = [*plan.targets, *plan.along]
            if run.switch is not None:
                with contextlib.suppress(tf.errors.OpError):
                    original(this, None, [run.switch], [], {}, None, None)
            if plan.before or plan.step is not None:
                steps = [plan.step] if plan.step is not None else []
                # What it cannot read the program's run cannot either, which says so itself.
                with contextlib.suppress(tf.errors.OpError):
                    values = original(this, None, plan.before, steps, all_feeds, None, None)
                    self._listener.tell("session_counted", run, values)
            try:
                outputs = original(
                    this, None, targets_along, plan.fetches, all_feeds, options, run_metadata
                )
            except BaseException as error:
                again = self._listener.tell(
                    "session_plan_again", this, fetches, targets, feeds, error
                )
                if again is not None:
                    with contextlib.suppress(tf.errors.OpError):
                        if sinks := [*again.before, *again.along]:
                            original(this, None, sinks, [], all_feeds, None, None)
                        run.computed_again = True
                self._listener.tell("session_run_fails", this, run, error)
                raise
            self._listener.tell("session_run_ends", run, fetches, outputs)
            return outputs

        return do_run

    def _make_callable(self, original: Any) -> Any:
        def make_callable(
            this: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False
        ) -> Any:
            made = original(this, fetches, feed_list, accept_options)
            if feed_list is not None:
                return made  # TensorFlow itself makes that a call of `run`.

            def call(*args: Any, **kwargs: Any) -> Any:
                if args or (kwargs and not accept_options):
                    return made(*args, **kwargs)  # raises
                return this.run(fetches, **kwargs)

            return call

        return make_callable

    def _make_callable_from_options(self, original: Any) -> Any:
        def make_callable_from_options(this: Any, callable_options: Any) -> Any:
            what = "Session._make_callable_from_options"
            self._listener.tell("session_skipped", this, what, _ONLY_RUN)
            return original(this, callable_options)

        return make_callable_from_options


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
                return fn(*given)
            except tf.errors.OpError as error:
                own.restore_names(error)
                raise

        return original(this, call, *args)

    return do_call
