"""What is the dump writer's own in the program's process: names, graphs, functions, and work."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.eager.context import Context, context
from tensorflow.python.eager.record import stop_recording
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.ops.script_ops import _py_funcs

from tfdbg_tui.dump.tensorflow.graph_state import known_state, state_of
from tfdbg_tui.dump.tensorflow.private import declare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "tfdbg_tui"
"""What the names of the functions that the writer adds begin with."""

SCOPE = NAME + "/"
"""Name scope of the ops that the writer adds to graphs; they are not recorded."""

_INVOKING_OP_CALLBACKS = declare(Context, "invoking_op_callbacks").name
_FUNCS = declare(_py_funcs, "_funcs").name
_MESSAGE = declare(tf.errors.OpError(None, None, "", 0), "_message").name

_COPY_MARK = re.compile(r"_tfdbg_tui_\d+")
_OP_COPY = re.compile(rf"{SCOPE}([^\s'}}]+){_COPY_MARK.pattern}")

_numbers = itertools.count(1)
_py_func_tokens: set[str] = set()


class _Thread(threading.local):
    works = False
    adds_ops = False


_thread = _Thread()


# ---- Graphs and functions ----------------------------------------------------------------------


def new_graph() -> Any:
    """Return a new, empty graph for ops of ours, which nothing of the program's is around."""
    with tf.Graph().as_default():
        graph = FuncGraph(NAME)
    state_of(graph).is_own = True
    return graph


def is_graph(graph: Any) -> bool:
    """Return whether a graph was made by `new_graph`."""
    state = known_state(graph)
    return state is not None and state.is_own


def copy_name(name: str) -> str:
    """Return a new name for a function or an op that runs in place of one of the program's."""
    return f"{name}_tfdbg_tui_{next(_numbers)}"


def is_copy(name: str) -> bool:
    """Return whether `copy_name` returned a name."""
    return _COPY_MARK.search(name) is not None


def new_op_name() -> str:
    """Return a new name for an op of ours in a v1 graph."""
    return f"{SCOPE}op_{next(_numbers)}"


def original_name(name: str) -> str:
    """Return a name, or a text, with the program's names for what runs in place of its own."""
    return _COPY_MARK.sub("", _OP_COPY.sub(r"\1", name))


def restore_names(error: BaseException) -> None:
    """Name the program's functions and ops in the message of an error, not those that ran."""
    message = getattr(error, _MESSAGE, None)
    if isinstance(message, str):
        setattr(error, _MESSAGE, original_name(message))


def py_func_token(function: Callable[..., Any]) -> str:
    """Register a Python function for the PyFunc op; TensorFlow refers to it weakly.

    TensorFlow's own tokens are numbers, which the program sees in errors: none of them is used up.
    """
    token = f"{NAME}_{next(_numbers)}"
    getattr(_py_funcs, _FUNCS)[token] = function
    _py_func_tokens.add(token)
    return token


def is_py_func(token: str) -> bool:
    """Return whether `py_func_token` returned a token."""
    return token in _py_func_tokens


# ---- Work --------------------------------------------------------------------------------------


@contextlib.contextmanager
def work() -> Iterator[None]:
    """Nothing that this thread does meanwhile is the program's, nor seen by its gradient tapes."""
    before, _thread.works = _thread.works, True
    try:
        with stop_recording():
            yield
    finally:
        _thread.works = before


def is_at_work() -> bool:
    """Return whether this thread is in `work`."""
    return _thread.works


@contextlib.contextmanager
def adding_ops() -> Iterator[None]:
    """No op callbacks, whoever's they are, for graph ops that we add in this thread."""
    eager_context = context()
    before = getattr(eager_context, _INVOKING_OP_CALLBACKS), _thread.adds_ops
    setattr(eager_context, _INVOKING_OP_CALLBACKS, True)
    _thread.adds_ops = True
    try:
        yield
    finally:
        setattr(eager_context, _INVOKING_OP_CALLBACKS, before[0])
        _thread.adds_ops = before[1]


@contextlib.contextmanager
def scope(graph: Any) -> Iterator[None]:
    """Add ops of ours to a graph: under `SCOPE`, on no certain device, waiting for nothing."""
    with (
        adding_ops(),
        graph.as_default(),
        tf.control_dependencies(None),
        graph.name_scope(SCOPE),
        graph.device(None),
    ):
        yield


def adds_ops() -> bool:
    """Return whether this thread is in `adding_ops`."""
    return _thread.adds_ops
