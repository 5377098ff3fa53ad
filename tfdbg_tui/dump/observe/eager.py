"""Eager executions: what is noted of each, as it runs after every eager op."""

from __future__ import annotations

import itertools
import operator
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump import keras_steps, steps
from tfdbg_tui.dump.encode import eager_tensors, summaries
from tfdbg_tui.dump.encode.executions import EagerValues
from tfdbg_tui.dump.observe import skipped_ops
from tfdbg_tui.dump.observe.calls import Call, Moment
from tfdbg_tui.dump.observe.forward_layers import ForwardLayers
from tfdbg_tui.dump.observe.tape_ops import TapeOps
from tfdbg_tui.dump.tensorflow import executors, functions, op_types, tape_hooks
from tfdbg_tui.dump.tensorflow.eager_tensor import tensor_id
from tfdbg_tui.dump.tensorflow.function_defs import function_attributes
from tfdbg_tui.wire import events, filesets, omissions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from tfdbg_tui.dump.encode.executions import OutputValues
    from tfdbg_tui.dump.observe.graphs import GraphDefinitions
    from tfdbg_tui.dump.observe.magnitudes import MeasuredSteps
    from tfdbg_tui.dump.options import Options
    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.record.stacks import CodeLocations
    from tfdbg_tui.dump.tensorflow.locations import Location
    from tfdbg_tui.dump.whole_tensors import WholeTensors

_SKIP = b""
_device_of = operator.attrgetter("device")
_MAX_CALL_HEADS = 1 << 12
"""Of so many functions, of which there is no end, what is the same in each call is kept."""
ELEMENT_OPS = op_types.in_both(
    (
        "IteratorGetNext",
        "IteratorGetNextSync",
        "IteratorGetNextAsOptional",
        "MultiDeviceIteratorGetNextFromShard",
        "DatasetToSingleElement",
        "ReduceDataset",
    )
)
"""Types of ops, in str and bytes, that take an element out of a dataset."""


@dataclass(slots=True)
class BadTensor:
    """The first bad output of an execution.  `counts` is None where the mode does not count."""

    op_name: str
    slot: int
    counts: summaries.HealthCounts | None
    location: bytes


class _DeviceNumbers(dict[str, int]):
    """The numbers of devices by their names.

    Args:
        recorder: Takes the records of those that are new.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __missing__(self, name: str) -> int:
        with self._recorder.definitions_lock:
            number = self.setdefault(name, len(self) + 1)
            payload = events.DebuggedDevice(name, number).encode()
            self._recorder.define(filesets.GRAPHS, events.DebugEvent(debugged_device=payload))
        return number


class _Thread(threading.local):
    """A thread of the program.

    Args:
        numbers: Those of the next ones.

    Attributes:
        here: Its number, and what its tapes compute.
    """

    def __init__(self, numbers: Iterator[int]) -> None:
        self.here = next(numbers), TapeOps()


class EagerExecutions:
    """Records eager ops and calls of functions.

    Args:
        options: The user's.
        recorder: Takes the records.
        graphs: Knows which graph is behind a function.
        locations: Interns stack traces.
        measured: Says which executions are measured.
        whole_tensors: What is recorded whole.
    """

    def __init__(
        self,
        options: Options,
        recorder: Recorder,
        graphs: GraphDefinitions,
        locations: CodeLocations,
        measured: MeasuredSteps,
        whole_tensors: WholeTensors,
    ) -> None:
        self._whole_tensors = whole_tensors
        self._are_whole: dict[tuple[int, str, bytes], bool] = {}
        self._recorder = recorder
        self._graphs = graphs
        self._locations = locations
        self._serials = itertools.count(1)
        self._device_number = _DeviceNumbers(recorder).__getitem__
        self._thread = _Thread(itertools.count())
        self._heads: dict[Any, bytes] = {}
        self._call_heads: dict[str, bytes] = {}
        self._measured = measured
        self._forward_layers = ForwardLayers()
        self._tensors = eager_tensors.EagerTensors(options)
        self._watches_bad = options.watches_bad
        self._is_limited = options.scope.is_limited
        self.calls: dict[int, Call] = {}

    # ---- Function calls ------------------------------------------------------------------------

    def begin_call(self, name: str, device: str = "") -> Call:
        """Note that a function starts, so that traces can name the execution that causes them.

        Args:
            name: Its name.
            device: The device that it runs on, where that is another process's; "" for here.
        """
        graph_id = self._graphs.graph_of_function(name)
        graphs = self._graphs.reachable(graph_id) if graph_id else frozenset()
        call = Call(name, next(self._serials), graphs, device)
        self.calls[call.serial] = call
        return call

    def now(self) -> Moment:
        """Return which calls run now."""
        return Moment(time.time(), steps.current, tuple(self.calls.values()))

    @property
    def tape_ops(self) -> TapeOps:
        """What the tapes of this thread compute."""
        return self._thread.here[1]

    # ---- Records -------------------------------------------------------------------------------

    def op(
        self, op_type: Any, inputs: Sequence[Any], attributes: Any, outputs: Any
    ) -> BadTensor | None:
        """Record an eager op that has just returned; return its first bad output if it is watched.

        Args:
            op_type: Type of the op, in str or bytes; names of functions are left to `end_call`.
            inputs: Eager tensors.
            attributes: Name and value of each attribute.
            outputs: An eager tensor, a list of them, or None.
        """
        head = self._heads.get(op_type)
        if head is None:
            head = self._head(op_type, attributes)
        if head is _SKIP:
            return None
        return self._record(op_type, head, inputs, outputs, next(self._serials), steps.current, 4)

    def end_call(
        self, call: Call, inputs: Sequence[Any], outputs: Any, error: BaseException | None = None
    ) -> BadTensor | None:
        """Record a function call that has just ended; return its first bad output if watched.

        Args:
            call: The call.
            inputs: What the function took.
            outputs: What it returned.
            error: What it raised.
        """
        head = self._call_heads.get(call.name) or self._call_head(call.name)
        field = b""
        if error is not None:
            text = f"{type(error).__name__}: {error}"
            field = events.Execution.field("error", text)
        if isinstance(error, tf.errors.OutOfRangeError):
            keras_steps.out_of_data()
        step = steps.current if call.step is None else call.step
        return self._record(call.name, head, inputs, outputs, call.serial, step, 5, field, call)

    def _record(
        self,
        op_type: str,
        head: bytes,
        inputs: Sequence[Any],
        outputs: Any,
        serial: int,
        step: int | None,
        depth: int,
        error: bytes = b"",
        call: Call | None = None,
    ) -> BadTensor | None:
        if not isinstance(outputs, (list, tuple)):
            outputs = (outputs,) if outputs is not None else ()
        frame = sys._getframe(depth)
        here = self._locations.here(frame)
        location = here.encoded
        taken, made = tuple(map(tensor_id, inputs)), tuple(map(tensor_id, outputs))
        thread, tape_ops = self._thread.here
        if tape_ops.depth:
            tape_ops.note(taken, made, location)
        layer = here.layer
        if layer or here.gradient_depth is not None:  # else a call of Python less
            layer = self._layer_of(here, frame, taken, made)
        values = self._values(op_type, inputs, outputs, here, layer, call)
        if values is None:
            return None
        if tape_ops.depth and isinstance(values, EagerValues) and values.bad_slot is not None:
            tape_ops.note_bad(made)
        devices, now = tuple(map(self._device_number, map(_device_of, outputs))), time.time()
        self._recorder.execution(
            (head, values, taken, made, devices, location, serial, thread, now, step, error, layer)
        )
        if self._watches_bad:
            known = values.read()
            if known.bad_slot is not None:
                name = op_types.text(op_type)
                return BadTensor(name, known.bad_slot, known.counts, location)
        return None

    def _values(
        self,
        op_type: Any,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        here: Location,
        layer: int,
        call: Call | None,
    ) -> OutputValues | None:
        """Return what to record of outputs; None where the execution is not to be recorded.

        Args:
            op_type: See `op`.
            inputs: See `op`.
            outputs: Eager tensors.
            here: Where the op ran.
            layer: Number of the layer that it is of; 0 for none.
            call: The call that has ended; None of an eager op.
        """
        location = here.encoded
        is_whole = bool(self._whole_tensors.names) and self._is_whole(op_type, location)
        in_scope = not self._is_limited or is_whole or self._locations.is_in_scope(here, layer)
        if not in_scope and call is None:
            return None
        measured = call.measured if call else self._measured.next((op_type, location, layer))
        if in_scope and executors.is_async() and self._waits_for(outputs, call):
            what = "what an eager op or a function returned"
            self._recorder.omit(omissions.SKIPPED, what, omissions.BY_ASYNC)
            in_scope = False
        if not in_scope:
            return self._tensors.left_out(outputs)
        values = self._tensors.values(op_type, inputs, outputs, location, measured=bool(measured))
        return self._tensors.whole(values, outputs) if is_whole else values

    def _layer_of(
        self, here: Location, frame: FrameType, taken: tuple[int, ...], made: tuple[int, ...]
    ) -> int:
        """Return the number of the layer of an op: of a gradient, of the op that it is of.

        Args:
            here: Where the op ran.
            frame: The frame that ran it.
            taken: Numbers of its inputs.
            made: Numbers of its outputs.
        """
        layer = here.layer
        if here.gradient_depth is None:
            if layer:
                self._forward_layers.note(taken, made, layer)
        elif self._forward_layers.are_known:
            forward = tape_hooks.forward_tensors(frame, here.gradient_depth)
            layer = self._forward_layers.find(*forward) or layer
        return layer

    def _waits_for(self, outputs: Sequence[Any], call: Call | None) -> bool:
        """Return whether to look at outputs would keep this thread from what they may need.

        That is asked only where its ops run later than they are called.
        """
        is_session = call is not None and call.order is not None
        return not is_session and self._tensors.are_looked_at(outputs)

    def _is_whole(self, op_type: Any, location: bytes) -> bool:
        """Return whether the elements of what an op makes in a place are recorded."""
        name = op_types.text(op_type)
        key = self._whole_tensors.choice, name, location
        if key not in self._are_whole:
            self._are_whole[key] = self._whole_tensors.has(
                name, lambda: self._locations.user_line(location)
            )
        return self._are_whole[key]

    def _head(self, op_type: Any, attributes: Any) -> bytes:
        if functions.is_function_name(op_type):
            return _SKIP  # Not noted below: there is no end of functions.
        name = op_types.text(op_type)
        head = _SKIP if name in skipped_ops.EAGER else events.Execution.field("op_type", name)
        if head is not _SKIP and function_attributes(name):
            named = functions.named_by(name, attributes)
            called = list(filter(None, map(self._graphs.graph_of_function, named)))
            return head + events.Execution.field("called_graph_ids", called)  # likewise
        self._heads[op_type] = head
        return head

    def _call_head(self, name: str) -> bytes:
        head = events.Execution.field("op_type", name)
        graph_id = self._graphs.graph_of_function(name)
        if graph_id is not None:
            head += events.Execution.field("graph_id", graph_id)
        if len(self._call_heads) >= _MAX_CALL_HEADS:
            self._call_heads.clear()
        self._call_heads[name] = head
        return head
