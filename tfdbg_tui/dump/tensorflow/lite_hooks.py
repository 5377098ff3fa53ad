"""Hooks into interpreters of TensorFlow Lite, which compute without any op of TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import declare
from tfdbg_tui.wire import omissions

try:
    from tensorflow.lite.python.interpreter import Interpreter, SignatureRunner
except ImportError:  # It is to leave TensorFlow.
    _RUN: tuple[Declaration, ...] = ()
else:
    _RUN = declare(Interpreter, "invoke", "self"), declare(SignatureRunner, "__call__", "self")

if TYPE_CHECKING:
    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Declaration, Wrappers

_WHAT = "what TensorFlow Lite computes"


class LiteHooks:
    """Tells, once, that an interpreter runs.

    Args:
        listener: Who is told.
    """

    def __init__(self, listener: SafeListener) -> None:
        self._listener = listener
        self._is_told = False

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return tuple((hook, self._telling) for hook in _RUN)

    def _telling(self, original: Any) -> Any:
        def run(this: Any, **inputs: Any) -> Any:
            if not self._is_told:
                self._is_told = True
                self._listener.tell("skip", _WHAT, omissions.WITHOUT_OPS)
            with LeftOutOfTracebacks():
                return original(this, **inputs)

        return run
