"""Executions as bytes: the program's threads note what happened, the writer thread encodes it."""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tfdbg_tui.wire import codec, events
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from tfdbg_tui.dump.encode.summaries import HealthCounts

_WALL_TIME = struct.Struct("<Bd")
_WALL_TIME_TAG = events.DebugEvent.tag("wall_time")
_SERIAL_AND_THREAD = struct.Struct("<2sQ2sI")
_SERIAL_TAG = codec.varint(events.Execution.tag("serial"))
_THREAD_TAG = codec.varint(events.Execution.tag("thread"))
_LAYER = struct.Struct("<2sI")
_LAYER_TAG = codec.varint(events.Execution.tag("layer"))
_CODE_LOCATION_TAG = codec.varint(events.Execution.tag("code_location"))
_NUM_OUTPUTS_TAG = codec.varint(events.Execution.tag("num_outputs"))
_STEP_TAG = codec.varint(events.DebugEvent.tag("step"))
_MODE_FIELDS = {mode: events.Execution.field("tensor_debug_mode", mode) for mode in TensorDebugMode}
_INPUT_IDS_TAG = codec.varint(events.Execution.tag("input_tensor_ids"))
_OUTPUT_IDS_TAG = codec.varint(events.Execution.tag("output_tensor_ids"))
_DEVICES_TAG = codec.varint(events.Execution.tag("output_tensor_device_ids"))
_EXECUTION_TAG = codec.varint(events.DebugEvent.tag("execution"))

_MAX_PLACES = 1 << 14
"""Of so many ops and places the fields that are always the same are kept."""

_SMALL_VARINTS = tuple(codec.varint(n) for n in range(1 << 14))
_CONTINUED = tuple(bytes((n & 0x7F | 0x80, n >> 7 | 0x80)) for n in range(1 << 14))


class EagerValues(NamedTuple):
    """What an Execution says of its outputs.

    Attributes:
        mode: Mode of the record.
        protos: The tensor protos, as serialized fields.
        details: The extension fields of a bad op, serialized.
        bad_slot: The first bad output.
        counts: Its counts; None where the mode does not count.
    """

    mode: TensorDebugMode
    protos: bytes = b""
    details: bytes = b""
    bad_slot: int | None = None
    counts: HealthCounts | None = None

    @property
    def nbytes(self) -> int:
        """The bytes of the fields."""
        return len(self.protos) + len(self.details)

    def read(self) -> EagerValues:
        """Return itself: nothing is left to be read."""
        return self


class OutputValues(Protocol):
    """What is, or will be, recorded of the outputs of one execution."""

    @property
    def nbytes(self) -> int:
        """About as much memory it takes in the queue."""

    def read(self) -> EagerValues:
        """Return what is recorded, waiting for an accelerator if necessary."""


Execution = tuple[
    bytes,
    OutputValues,
    tuple[int, ...],
    tuple[int, ...],
    tuple[int, ...],
    bytes,
    int,
    int,
    float,
    "int | None",
    bytes,
    int,
]
"""What is noted of an execution: the arguments of `encoded`.

Python's garbage collector stops going through plain tuples of numbers and bytes, of which many
wait, as soon as it has seen what they hold.
"""


def num_bytes(execution: Execution) -> int:
    """Return about how much memory an execution takes until it is encoded."""
    return execution[1].nbytes


def is_bad(execution: Execution) -> bool:
    """Return whether an output of an execution is bad, waiting for an accelerator if necessary."""
    return execution[1].read().bad_slot is not None


def encoded(
    head: bytes,
    values: OutputValues,
    input_ids: tuple[int, ...],
    output_ids: tuple[int, ...],
    devices: tuple[int, ...],
    location: bytes,
    serial: int,
    thread: int,
    wall_time: float,
    step: int | None,
    error: bytes,
    layer: int,
) -> bytes:
    """Return the payload of the record of an eager op, call of a function, or run of a session.

    Args:
        head: The fields that tell what was executed, serialized.
        values: What is recorded of the outputs.
        input_ids: Number of each input.
        output_ids: Number of each output.
        devices: Number of the device of each output.
        location: The serialized CodeLocation.
        serial: Number of the execution.
        thread: Number of the thread.
        wall_time: When it ended.
        step: Training step.
        error: The extension field that tells what it raised, serialized.
        layer: Number of the layer that was called; 0 for none.
    """
    known = values.read()
    body = b"".join(
        (
            _same_fields(head, known.mode, location, devices, layer),
            _packed(_INPUT_IDS_TAG, input_ids),
            _packed(_OUTPUT_IDS_TAG, output_ids),
            known.protos,
            _SERIAL_AND_THREAD.pack(_SERIAL_TAG, serial, _THREAD_TAG, thread),
            known.details,
            error,
        )
    )
    stamp = _WALL_TIME.pack(_WALL_TIME_TAG, wall_time) + (
        b"" if step is None else _STEP_TAG + _varint(step)
    )
    return b"".join((stamp, _EXECUTION_TAG, _varint(len(body)), body))


@functools.lru_cache(maxsize=_MAX_PLACES)
def _same_fields(
    head: bytes, mode: TensorDebugMode, location: bytes, devices: tuple[int, ...], layer: int
) -> bytes:
    """Return the fields that are the same whenever an op is executed in the same place."""
    return b"".join(
        (
            head,
            _NUM_OUTPUTS_TAG,
            _varint(len(devices)),
            _MODE_FIELDS[mode],
            _CODE_LOCATION_TAG,
            _varint(len(location)),
            location,
            _packed(_DEVICES_TAG, devices),
            _LAYER.pack(_LAYER_TAG, layer) if layer else b"",
        )
    )


def _varint(value: int) -> bytes:
    if value < 1 << 14:
        return _SMALL_VARINTS[value]
    if value < 1 << 28:
        return _CONTINUED[value & 0x3FFF] + _SMALL_VARINTS[value >> 14]
    return codec.varint(value)


def _packed(tag: bytes, values: tuple[int, ...]) -> bytes:
    if not values:
        return b""
    data = b"".join([_varint(value) for value in values])
    return tag + _varint(len(data)) + data
