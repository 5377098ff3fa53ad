"""Who is told what the program does, and how: nothing that goes wrong there reaches the program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

import tensorflow as tf

from tfdbg_tui.dump.tensorflow import own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.tensorflow.session_callables import Wanted


class Listener(Protocol):
    """What the hooks tell of the program."""

    def eager_op(self, op_type: str, inputs: Any, attributes: Any, outputs: Any) -> None:
        """An eager op or function returned.

        Args:
            op_type: Its type, or the name of the function.
            inputs: The tensors that it took.
            attributes: Name and value of each attribute.
            outputs: The tensors that it made.
        """

    def call_begins(self, name: str) -> Any:
        """A function is about to be called; the result is handed to the next two."""

    def call_ends(self, call: Any, inputs: Any, outputs: Any) -> None:
        """The function returned.

        Args:
            call: What `call_begins` has returned.
            inputs: The tensors that it took.
            outputs: The tensors that it made.
        """

    def call_fails(self, call: Any, inputs: Any, error: BaseException) -> None:
        """The function raised.

        Args:
            call: What `call_begins` has returned.
            inputs: The tensors that it took.
            error: What was raised.
        """

    def function_to_run(
        self, name: str, call: Any = None, inputs: Any = (), *, stateless: bool = False
    ) -> tuple[str, list[Any]]:
        """A function is about to be called, or used in a dataset.

        Args:
            name: Its name.
            call: What `call_begins` has returned; None for a dataset.
            inputs: What it is called with.
            stateless: Whether it is for a dataset.

        Returns:
            The name of the one to run, and what it takes after the arguments.
        """

    def function_left_out(self, name: str, reason: str) -> None:
        """A function runs in a way that is not recorded."""

    def session_extends(self, session: Any) -> None:
        """A v1 session is about to take over what is new in its graph."""

    def session_run_begins(self, session: Any, wanted: Wanted) -> Any:
        """A v1 session is about to run; returns what to run along, or None.

        Args:
            session: The session.
            wanted: What the program wants of it.
        """

    def session_counted(self, run: Any, steps: Any) -> None:
        """The global step that a run counts up is known: the one element of `steps`."""

    def session_run_ends(self, run: Any, fetches: Any, outputs: Any) -> None:
        """The run returned the values of its fetches.

        Args:
            run: What `session_run_begins` has returned.
            fetches: The tensors whose values it asked for.
            outputs: Their values.
        """

    def session_plan_again(self, session: Any, wanted: Wanted, error: BaseException) -> Any:
        """The run raised; returns what records what it had computed, or None.

        Args:
            session: The session.
            wanted: What the program wants of it.
            error: What was raised.
        """

    def session_run_fails(self, session: Any, run: Any, error: BaseException) -> None:
        """The run raised.

        Args:
            session: The session.
            run: What `session_run_begins` has returned.
            error: What was raised.
        """

    def session_skipped(self, session: Any, what: str, reason: str) -> None:
        """A session runs in a way that is not recorded.

        Args:
            session: The session.
            what: What runs, for a sentence.
            reason: Why it is not recorded, in one sentence.
        """

    def function_created(self, function: Any, graph: Any, attrs: Any) -> None:
        """A graph became a runtime function.

        Args:
            function: The function.
            graph: The graph.
            attrs: Its attributes.
        """

    def gradients_asked(
        self, target: Any, asked: Any, answers: Any, watched: Any, frame: Any
    ) -> None:
        """A tape has computed gradients.

        Args:
            target: What they are of; None if that is more than one tensor.
            asked: The variables that they are of.
            answers: The gradient of each, or None.
            watched: The trainable variables that the tape has seen read.
            frame: The frame that asked for them.
        """

    def gradients_begin(self) -> bool:
        """A tape begins to compute gradients; return whether its end is to be told."""

    def gradients_end(self, given: Sequence[int], frame: Any) -> None:
        """A tape ends to compute gradients.

        Args:
            given: Numbers of the eager ones that it gives; none if it has raised.
            frame: The frame that asked for them.
        """

    def bad_read(self, number: int) -> None:
        """Python has read an eager tensor that holds NaN or ∞.

        Args:
            number: Number of the tensor.
        """

    def hook_failed(self, error: BaseException, what: str) -> None:
        """Telling one of the above has raised; raises again what is meant for the program.

        Args:
            error: What was raised.
            what: What is not on record because of it.
        """

    def skip(self, what: str, reason: str) -> None:
        """Something runs that leaves no record.

        Args:
            what: What runs, for a sentence.
            reason: Why it is not recorded, in one sentence.
        """

    def exported_as_it_is(self, error: Exception) -> None:
        """What the program exports may hold ops of ours, as taking them out has raised."""

    def function_variant(self) -> Any:
        """What tells apart the traces of one function, besides TensorFlow's own reasons."""


class SafeListener:
    """Tells a listener what the hooks see."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def tell(self, hook: str, *args: Any, **kwargs: Any) -> Any:
        """Tell the listener; what goes wrong there must not reach the program.

        Args:
            hook: Name of the method of `Listener`.
            *args: What it takes.
            **kwargs: What it takes by name.
        """
        if own.is_at_work():
            return None
        try:
            return getattr(self._listener, hook)(*args, **kwargs)
        except BaseException as error:
            self._listener.hook_failed(error, subject(hook, args))
            return None

    def attempt(self, what: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call what finds something out about the program; the same holds.

        Args:
            what: What may not be on record where it fails.
            function: What to call.
            *args: Its arguments.
        """
        try:
            return function(*args)
        except BaseException as error:
            self._listener.hook_failed(error, what)
            return None


def subject(hook: str, args: tuple[Any, ...]) -> str:
    """Say what is not on record where a hook has failed with some arguments."""
    first = args[0] if args else None
    if hook == "eager_op":
        return f"the eager op {plain_name(first)}"
    if hook == "function_to_run" or hook.startswith("call_"):
        return f"a call of {plain_name(getattr(first, 'name', first))}"
    if hook == "bad_read":
        return "what Python reads of tensors"
    if hook.startswith("gradients_"):
        return "what gradients a tape was asked for, and gave"
    if hook.startswith("session_run_") or hook == "session_counted":
        run = next((arg.call for arg in args if hasattr(arg, "call")), None)
        if run is not None:
            return f"the run {run.name}"
    found = (getattr(arg, "graph", arg) for arg in args)
    graph = next((graph for graph in found if isinstance(graph, tf.Graph)), None)
    if graph is None:
        return "functions that are traced"
    return f"the graph {getattr(graph, 'name', None) or 'of the program'}"


def plain_name(name: Any) -> str:
    """Return the name of an op type, or that of a function without what TensorFlow adds."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    return re.sub(r"^__(?:inference|forward|backward)_(.+)_\d+$", r"\1", text)
