"""Executions of graphs that are like earlier ones, told in a few bytes each.

In a loop the records of one iteration differ from those of another in nothing but their stamp:
time, step, execution and iteration.  So only the first execution of a group of tensors in a call
need be written whole.  Later ones are *repetitions*: the next record that is written whole has
behind its event, where other readers skip it, what tells where the records to be repeated are, and
the stamp of each repetition.  They come right before that record.
"""

from __future__ import annotations

from tfdbg_tui.wire import codec
from tfdbg_tui.wire.events import DebugEvent, Repetitions

STEP_SIZE = 5
MAX_STEP = (1 << 7 * STEP_SIZE) - 1

MARK = b"TPER"
"""The last bytes of a payload behind which repetitions are told."""
_TAG = codec.varint(DebugEvent.tag("repetitions_mark"))
TAIL_SIZE = len(_TAG) + 8
"""Bytes of `DebugEvent.repetitions_mark`: its tag, the size of what is appended, and `MARK`."""


def appended(repetitions: Repetitions) -> bytes:
    """Return what is appended to the payload of the record that the repetitions come before."""
    field = DebugEvent.field("repetitions", repetitions.encode())
    return field + _TAG + (len(field) + TAIL_SIZE).to_bytes(4, "little") + MARK


def appended_size(payload: bytes) -> int:
    """Return how many bytes of a payload tell of repetitions: 0 where there are none."""
    tail = payload[-TAIL_SIZE:]
    if not (tail.startswith(_TAG) and tail.endswith(MARK)):
        return 0
    size = int.from_bytes(tail[-8:-4], "little")
    return size if TAIL_SIZE < size < len(payload) else 0


def step_bytes(step: int) -> bytes:
    """Return a step as an overlong varint, whose width does not depend on its value."""
    step = min(step, MAX_STEP)
    low = bytes((step >> 7 * i & 0x7F) | 0x80 for i in range(STEP_SIZE - 1))
    return low + bytes((step >> 7 * (STEP_SIZE - 1) & 0x7F,))
