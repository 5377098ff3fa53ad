"""Records that a file holds as repetitions of others, made from these; see `wire.repetitions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.logdir.files import frames
from tfdbg_tui.logdir.files.chunk import Chunk
from tfdbg_tui.logdir.files.gather import PADDING, Bytes, Ints, blocks
from tfdbg_tui.wire import codec, repetitions, tfrecord
from tfdbg_tui.wire.events import DebugEvent, GraphExecutionTrace, Repetitions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WIDTHS = {"wall_time": 8, "step": repetitions.STEP_SIZE, "serial": 8, "iteration": 4}
MAX_BYTES = 1 << 27
"""No writer repeats more at once: a larger number is damage, whatever the checksum."""

_WALL_TIME, _STEP, _SERIAL, _ITERATION = (
    np.frombuffer(codec.varint(tag), np.uint8)
    for tag in (
        DebugEvent.tag("wall_time"),
        DebugEvent.tag("step"),
        GraphExecutionTrace.tag("execution_serial"),
        GraphExecutionTrace.tag("iteration"),
    )
)
_SHORTEST = 48
"""No record of a trace has fewer bytes of payload."""


class Records(NamedTuple):
    """Records that follow each other; what stands for their checksums is not right.

    Attributes:
        data: Their bytes, and `PADDING` behind them.
        starts: Where the payload of each starts.
        ends: Where it ends.
    """

    data: Bytes
    starts: Ints
    ends: Ints

    @property
    def size(self) -> int:
        """How many bytes they have."""
        return len(self.data) - PADDING


class _Group(NamedTuple):
    """The records of an execution, and where in them each field of its stamp is, by its name.

    Attributes:
        records: The records.
        places: Positions, ``[records, bytes]``; none for a field that the records do not have.
    """

    records: Records
    places: Mapping[str, Ints]


def rows_with_repetitions(chunk: Chunk) -> Ints:
    """Return the rows of a chunk whose records tell of repetitions before them."""
    if chunk.large is not None:
        return np.zeros(0, np.int64)
    size = len(repetitions.MARK)
    marks = blocks(chunk.data, chunk.ends - size, size)
    marked = np.flatnonzero((marks == np.frombuffer(repetitions.MARK, np.uint8)).all(axis=1))
    told = [repetitions.appended_size(chunk.payload(row)) > 0 for row in marked.tolist()]
    rows: Ints = marked[np.array(told, bool)]
    return rows


def own_record(payload: bytes) -> Records:
    """Return a record without what tells of repetitions."""
    return _framed(_own_part(payload))


def with_repetitions(payload: bytes, before: Callable[[int, int], bytes]) -> Records:
    """Return the repetitions that come before a record, and the record itself.

    Args:
        payload: That of the record.
        before: ``before(distance, size)`` returns bytes that begin so far before the record.

    Raises:
        ValueError: They cannot be made, as something is damaged.
        OSError: The file cannot be read any more.
    """
    own = _own_part(payload)
    told = Repetitions.decode(DebugEvent.decode(payload[len(own) :]).repetitions)
    executions = np.frombuffer(told.executions, "<u4").reshape(-1, 3).astype(np.int64)
    which, caused, iterations = executions.T
    _check(told, which, caused)
    groups = [
        _group(before(distance, size), size)
        for distance, size in zip(told.distances, told.sizes, strict=True)
    ]
    stamps = {
        "wall_time": _bytes_of(told.wall_times, "<f8")[caused],
        "step": np.array([_step_bytes(step) for step in told.steps], np.uint8)[caused],
        "serial": _bytes_of(told.serials, "<i8")[caused],
        "iteration": _bytes_of(iterations, "<u4"),
    }
    return _together(groups, which, stamps, _framed(own))


def _own_part(payload: bytes) -> bytes:
    return payload[: len(payload) - repetitions.appended_size(payload)]


def _check(told: Repetitions, which: Ints, caused: Ints) -> None:
    """Check that what tells of repetitions does not contradict itself.

    Raises:
        codec.DecodeError: It does.
    """
    sizes = np.array(told.sizes, float)
    if not (
        len(which)
        and len(told.distances) == len(sizes) > which.max()
        and len(told.wall_times) == len(told.steps) == len(told.serials) > caused.max()
        and (sizes > 0).all()
        and (np.array(told.distances, float) >= sizes).all()
        and sizes[which].sum() <= MAX_BYTES
    ):
        raise codec.DecodeError("the repetitions in it contradict themselves")


def _group(data: bytes, size: int) -> _Group:
    """Return the records that are repeated.

    Raises:
        codec.DecodeError: They are not what can be repeated.
    """
    padded = np.frombuffer(data.ljust(size + PADDING, b"\0"), np.uint8)
    bounds = frames.walk(padded, size)
    chunk = Chunk.between(bounds, base=0, data=padded)
    if bounds[-1] != size or not chunk.intact().all():
        raise codec.DecodeError("the records that are repeated are damaged")
    records = _own_records(chunk, size)
    return _Group(records, _places(records))


def _own_records(chunk: Chunk, size: int) -> Records:
    """Return the records of a chunk; of the first only its own part."""
    payload = chunk.payload(0)
    appended = repetitions.appended_size(payload)
    if not appended:
        return Records(chunk.data[: size + PADDING], chunk.starts, chunk.ends)
    first = own_record(payload)
    rest = chunk.data[int(chunk.ends[0]) + tfrecord.FOOTER_SIZE : size + PADDING]
    starts, ends = chunk.starts - appended, chunk.ends - appended
    starts[0] = first.starts[0]
    return Records(np.concatenate((first.data[: first.size], rest)), starts, ends)


def _places(records: Records) -> dict[str, Ints]:
    """Return where each field of the stamps is; see `_Group`.

    A record begins with its time and the step, if there is one, and ends with the number of the
    execution and the iteration, if there is one.

    Raises:
        codec.DecodeError: These do not.
    """
    data, starts, ends = records
    if (ends - starts).min() < _SHORTEST:
        raise codec.DecodeError("the records that are repeated are too short")
    begins = {"wall_time": starts, "step": starts + 9}
    tags = {"wall_time": _WALL_TIME, "step": _STEP, "serial": _SERIAL, "iteration": _ITERATION}
    begins["iteration"] = ends - 4 - len(_ITERATION)
    has_iteration = _hold(data, begins["iteration"], _ITERATION)
    last = begins["iteration"] if has_iteration else ends
    begins["serial"] = last - 8 - len(_SERIAL)
    found = {
        name: (at + len(tags[name]))[:, None] + np.arange(_WIDTHS[name])
        for name, at in begins.items()
        if _hold(data, at, tags[name])
    }
    if not found.keys() >= {"wall_time", "serial"}:
        raise codec.DecodeError("the records that are repeated have other fields")
    return found


def _hold(data: Bytes, at: Ints, tag: Bytes) -> bool:
    """Return whether there is a tag at each of some positions."""
    return bool((blocks(data, at, len(tag)) == tag).all())


def _framed(payload: bytes) -> Records:
    """Return a record with zeros for checksums."""
    data = b"".join((len(payload).to_bytes(8, "little"), bytes(4), payload, bytes(4 + PADDING)))
    start = np.array([tfrecord.HEADER_SIZE], np.int64)
    return Records(np.frombuffer(data, np.uint8), start, start + len(payload))


def _together(
    groups: Sequence[_Group], which: Ints, stamps: Mapping[str, Bytes], own: Records
) -> Records:
    """Return executions with their stamps, and a record behind them.

    Args:
        groups: The records of some executions.
        which: Which of them each execution repeats.
        stamps: The fields of the stamp of each execution, ``[executions, bytes]``.
        own: The record.
    """
    parts = [group.records.data[: group.records.size].tobytes() for group in groups]
    pieces = [parts[number] for number in which.tolist()]
    data = np.frombuffer(bytearray().join([*pieces, own.data.tobytes()]), np.uint8)
    sizes = np.array([group.records.size for group in groups], np.int64)[which]
    begins = np.cumsum(sizes) - sizes
    starts, ends = [own.starts + sizes.sum()], [own.ends + sizes.sum()]
    for number, group in enumerate(groups):
        of = np.flatnonzero(which == number)
        at = begins[of, None]
        starts.append((at + group.records.starts).reshape(-1))
        ends.append((at + group.records.ends).reshape(-1))
        for name, places in group.places.items():
            data[at[..., None] + places] = stamps[name][of, None]
    return Records(data, np.sort(np.concatenate(starts)), np.sort(np.concatenate(ends)))


def _bytes_of(numbers: Sequence[float] | Ints, dtype: str) -> Bytes:
    """Return the bytes of each of some numbers, ``[numbers, bytes]``."""
    array = np.array(numbers, dtype)
    return array.view(np.uint8).reshape(len(array), array.itemsize)


def _step_bytes(step: int) -> list[int]:
    return list(repetitions.step_bytes(max(step, 0)))
