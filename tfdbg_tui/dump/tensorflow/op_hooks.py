"""Hooks into the making of graphs: where each op is made, and whose shapes are set by hand."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.util import tf_stack

from tfdbg_tui.dump.tensorflow import graph_ops, graph_state, locations, own
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import declare

if TYPE_CHECKING:
    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Wrappers

_SET_SHAPE = declare(tf.Tensor, "set_shape", "self", "shape")
_EXTRACT_STACK = declare(tf_stack, "extract_stack", "stacklevel")
_INIT = declare(tf.Operation, "_init", "self", "graph")

_LOCATIONS = "where ops are made"


class _Thread(threading.local):
    """Attributes: location: Where the op is made that the thread makes now."""

    location: locations.Location | None = None


class OpHooks:
    """Notes where ops are made.

    Args:
        listener: Told of what fails.
        known: Knows the locations.
    """

    def __init__(self, listener: SafeListener, known: locations.Locations) -> None:
        self._listener = listener
        self._locations = known
        self._thread = _Thread()

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return (
            (_SET_SHAPE, self._set_shape),
            (_EXTRACT_STACK, self._extract_stack),
            (_INIT, self._operation_init),
        )

    def _set_shape(self, original: Any) -> Any:
        what = "the true shapes of a graph"

        def set_shape(this: Any, shape: Any) -> None:
            is_users = self._listener.attempt(what, locations.is_users, sys._getframe(1))
            before = this.shape if is_users else None
            with LeftOutOfTracebacks():
                original(this, shape)
            if is_users:
                self._listener.attempt(what, _doubt_changed_shape, this, before)

        return set_shape

    def _extract_stack(self, original: Any) -> Any:
        """Find out where an op is made; give no stack that would end the process when it is read.

        The program might never read it; messages of errors do.
        """

        def extract_stack(stacklevel: int = 1) -> Any:
            if own.adds_ops():
                return None  # Nobody asks where an op of ours was made.
            frame = sys._getframe(1)
            if frame.f_code.co_name != graph_ops.MAKES_OP:
                return original(stacklevel + 1) if locations.is_text(frame) else None
            frame = sys._getframe(stacklevel)
            location = self._listener.attempt(_LOCATIONS, self._locations.here, frame)
            self._thread.location = location
            return original(stacklevel + 1) if location is None or location.readable else None

        # Error messages show the frames that are not in a file of TensorFlow's.
        code = extract_stack.__code__
        extract_stack.__code__ = code.replace(co_filename=original.__code__.co_filename)
        return extract_stack

    def _operation_init(self, original: Any) -> Any:
        """Note where an op is made once there is an object for it."""

        def init(this: Any, graph: Any) -> None:
            original(this, graph)
            location = self._thread.location
            self._thread.location = None
            if location is None and not own.adds_ops():  # TensorFlow has imported it
                location = self._listener.attempt(
                    _LOCATIONS, self._locations.here, sys._getframe(1)
                )
            if location is not None:
                locations.note_location(this, location)

        return init


def _doubt_changed_shape(tensor: Any, before: Any) -> None:
    # Unknown shapes differ from themselves.
    if repr(tensor.shape) != repr(before):
        graph_state.doubt_shapes(tensor.graph)
