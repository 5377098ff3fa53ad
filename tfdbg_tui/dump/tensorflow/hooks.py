"""Where the dump writer hooks into TensorFlow: what tells it what the program does.

The hooks, present with these signatures in TensorFlow 2.16 to 2.21:

* op callbacks of the eager context: every eager op, in C++ fast path or not;
* ``execute.quick_execute`` and ``execute.execute_with_cancellation``: the call of a function, so
  that a call that raises is seen too;
* ``atomic_function.from_func_graph``: every FuncGraph becomes a runtime function here: traced,
  forward and backward functions, branches and loop bodies;
* ``StructuredFunctionWrapper.function``: a function that a dataset is made of; ``__init__``, where
  it is traced;
* ``function_context.make_function_context``: the cache key of traced functions, so that one
  `tf.function` may have instrumented and plain traces side by side;
* ``context._set_context_locked``: from then on, a thread has a list of op callbacks;
* ``pywrap_tfe.TFE_ContextSetExecutorForThread``: whether eager ops of a thread run later;
* ``script_ops.FuncRegistry.get``: where a graph calls a Python function, in a thread of TensorFlow;
* ``op_callbacks.should_invoke_op_callbacks``: ops of graphs have no use for ours;
* ``tf_stack.extract_stack`` and ``Operation._init``: where each op of a graph is made;
* ``Tensor.set_shape``: which graphs have shapes that TensorFlow did not find itself;
* ``imperative_grad.imperative_grad``: what gradient tapes are asked for;
* ``BaseSession._do_run``: every run of a v1 session, once TensorFlow has made lists of ops and
  tensors of whatever the program asked for; ``make_callable`` is led there;
* ``EagerTensor._numpy``: what Python reads of an eager tensor; what NumPy reads of it by itself,
  as ``np.asarray(tensor)`` does by the buffer protocol, calls nothing of Python's;
* ``Interpreter.invoke`` and ``SignatureRunner.__call__``: that TensorFlow Lite computes.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from tensorflow.python.util import traceback_utils

from tfdbg_tui.dump.tensorflow import collected_graphs, executors, exports, own_frames
from tfdbg_tui.dump.tensorflow.call_hooks import CallHooks
from tfdbg_tui.dump.tensorflow.eager_hooks import EagerHooks
from tfdbg_tui.dump.tensorflow.listener import SafeListener
from tfdbg_tui.dump.tensorflow.lite_hooks import LiteHooks
from tfdbg_tui.dump.tensorflow.op_hooks import OpHooks
from tfdbg_tui.dump.tensorflow.private import declare
from tfdbg_tui.dump.tensorflow.read_hooks import ReadHooks
from tfdbg_tui.dump.tensorflow.session_hooks import SessionHooks
from tfdbg_tui.dump.tensorflow.tape_hooks import TapeHooks

if TYPE_CHECKING:
    from tfdbg_tui.dump.tensorflow.listener import Listener
    from tfdbg_tui.dump.tensorflow.locations import Locations
    from tfdbg_tui.dump.tensorflow.private import Declaration

_EXCLUDED_PATHS = declare(traceback_utils, own_frames.EXCLUDED_PATHS)


class Hooks:
    """Installs and removes the hooks of one dump.

    Args:
        listener: Told what the program does.
        locations: Knows where ops are made.
    """

    def __init__(self, listener: Listener, locations: Locations) -> None:
        safe = SafeListener(listener)
        self._listener = listener
        self._eager = EagerHooks(listener)
        self._wrappers = (
            (_EXCLUDED_PATHS, own_frames.excluded_too),
            *CallHooks(safe, self._eager).wrappers(),
            *SessionHooks(safe).wrappers(),
            *OpHooks(safe, locations).wrappers(),
            *TapeHooks(safe).wrappers(),
            *LiteHooks(safe).wrappers(),
            *ReadHooks(safe).wrappers(),
            *self._eager.wrappers(),
            *executors.wrappers(),
        )
        self._originals: list[tuple[Declaration, Any, Any]] = []

    def install(self) -> None:
        """Start telling the listener."""
        self._eager.installed = True
        executors.forget()
        exports.keep_plain()
        collected_graphs.keep_plain()
        exports.listeners.add(self._listener)
        for hook, make in self._wrappers:
            original = inspect.getattr_static(hook.owner, hook.name)
            wrapper = make(original)
            if inspect.isfunction(wrapper):
                functools.update_wrapper(wrapper, original)
            own_frames.leave_out_of_warnings(wrapper)
            setattr(hook.owner, hook.name, wrapper)
            self._originals.append((hook, original, wrapper))
        self.watch_eager_ops(True)

    def uninstall(self) -> None:
        """Stop; every hook that nobody wrapped again is taken out."""
        self.watch_eager_ops(False)
        self._eager.installed = False
        for hook, original, wrapper in reversed(self._originals):
            if inspect.getattr_static(hook.owner, hook.name) is wrapper:
                setattr(hook.owner, hook.name, original)
        self._originals.clear()
        self._eager.restore()

    def watch_eager_ops(self, on: bool) -> None:
        """Switch the op callbacks of all threads on or off; off restores TensorFlow's speed."""
        self._eager.watch(on)
