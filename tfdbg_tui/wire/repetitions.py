"""Executions of graphs that are like earlier ones, told in a few bytes each.

In a loop the records of one iteration differ from those of another in nothing but their stamp:
time, step, execution and iteration.  So only the first execution of a group of tensors in a call
need be written whole.  Later ones are *repetitions*: the next record that is written whole has
behind its event, where other readers skip it, what tells where the records to be repeated are, and
the stamp of each repetition.  They come right before that record.
"""

from __future__ import annotations

import struct

from tfdbg_tui.wire.events import DebugEvent, Repetitions

_MARK = 0x52455054
"""The upper half of `DebugEvent.repetitions_mark`; the lower is the size of what is appended."""
_MARK_FIELD = DebugEvent.field("repetitions_mark", 0)
_MARKED = struct.Struct("<II")

STEP_SIZE = 5
MAX_STEP = (1 << 7 * STEP_SIZE) - 1

TAIL_SIZE = len(_MARK_FIELD)
"""Bytes at the end of a payload that tell whether repetitions are appended."""
TAIL_TAG = _MARK_FIELD[: -_MARKED.size]
MARK = struct.pack("<I", _MARK)
"""The last bytes of such a payload."""


def appended(repetitions: Repetitions) -> bytes:
    """Return what is appended to the payload of the record that the repetitions come before."""
    field = DebugEvent.field("repetitions", repetitions.encode())
    return field + TAIL_TAG + _MARKED.pack(len(field) + TAIL_SIZE, _MARK)


def appended_size(payload: bytes) -> int:
    """Return how many bytes of a payload tell of repetitions: 0 where there are none."""
    tail = payload[-TAIL_SIZE:]
    if len(tail) < TAIL_SIZE or not tail.startswith(TAIL_TAG):
        return 0
    size, mark = _MARKED.unpack(tail[-_MARKED.size :])
    return int(size) if mark == _MARK and TAIL_SIZE < size < len(payload) else 0


def step_bytes(step: int) -> bytes:
    """Return a step as an overlong varint, whose width does not depend on its value."""
    step = min(step, MAX_STEP)
    low = bytes((step >> 7 * i & 0x7F) | 0x80 for i in range(STEP_SIZE - 1))
    return low + bytes((step >> 7 * (STEP_SIZE - 1) & 0x7F,))
