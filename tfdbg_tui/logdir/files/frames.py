"""Where the records of a TFRecord buffer start, found for many records at once.

A record's place is known only from the length of the one before.  So the walk starts at many
points of the buffer together ("lanes"): at each the next header is searched, by its checksum, and
then every lane steps from record to record until it reaches the start of the following one.  Only
an unbroken chain from the first byte, each header matching its checksum, counts.
"""

from __future__ import annotations

import functools

import numpy as np

from tfdbg_tui.logdir.files.gather import Bytes, Flags, Ints, blocks, words
from tfdbg_tui.wire import crc32c, tfrecord
from tfdbg_tui.wire.events import DebugEvent

WALL_TIME_TAG = DebugEvent.tag("wall_time")
"""First byte of every payload."""

MAX_RECORD = 1 << 31
"""No protocol-buffer message is larger: a greater length is damage, whatever its checksum."""

_LANES = 256
_STRIDE = 16  # steps between looks whether all lanes have arrived
_PROBE = 16  # records that are walked one by one to learn how long records are here
_HEADER, _FRAME = tfrecord.HEADER_SIZE, tfrecord.FRAME_SIZE


def walk(data: Bytes, size: int) -> Ints:
    """Return where each record of ``data[:size]`` starts, and where the last one ends.

    Args:
        data: The buffer, with at least `gather.PADDING` bytes after `size`.
        size: Length of what is in it; it begins with a record.

    Returns:
        Ascending positions, the first of which is 0.  The walk stops at a torn record, at one
        whose length contradicts its checksum, or where it loses the chain for another reason;
        only 0 comes back where not even one whole record is there.
    """
    probe = _walk_one_by_one(data, size, _PROBE)
    mean = (probe[-1] - probe[0]) // max(1, len(probe) - 1)
    lanes = min(_LANES, size // (8 * (mean + 1)))
    if len(probe) <= _PROBE or lanes < 4:
        return _walk_one_by_one(data, size, size)
    return _walk_lanes(data, size, _lane_starts(data, size, lanes, 2 * mean + _HEADER))


def headers_intact(data: Bytes, starts: Ints) -> Flags:
    """Return whether each position holds a record header: a length and its checksum."""
    lengths = words(data)[starts]
    checksums = words(data)[starts + 8] & np.uint64(0xFFFFFFFF)
    intact: Flags = crc32c.masked_crc32c_of_lengths(lengths) == checksums
    return intact & (lengths < MAX_RECORD)


def find_header(data: Bytes, start: int, size: int) -> int | None:
    """Return the first position from `start` where an event's record begins, or None.

    Serves to go on after damage.  What is looked for: a length of fewer than 2**32 bytes that
    matches its checksum, before a payload that begins as all events do.

    Args:
        data: A buffer.
        start: Where to begin, in bytes.
        size: How many bytes of the buffer are of the file.
    """
    if size - start <= _HEADER:
        return None
    tags = np.flatnonzero(data[start + _HEADER : size] == WALL_TIME_TAG) + start
    candidates = tags[(words(data)[tags] >> np.uint64(32)) == 0]
    found = candidates[headers_intact(data, candidates)]
    return int(found[0]) if found.size else None


@functools.lru_cache(maxsize=4096)
def is_header(header: bytes) -> bool:
    """Return whether 12 bytes are a length and its checksum."""
    length = int.from_bytes(header[:8], "little")
    crc = int.from_bytes(header[8:], "little")
    return length < MAX_RECORD and crc == crc32c.masked_crc32c(header[:8])


def _walk_one_by_one(data: Bytes, size: int, limit: int) -> Ints:
    """Return the bounds of up to `limit` + 1 records."""
    view = data.data
    bounds = [0]
    at = 0
    while at + _FRAME <= size and len(bounds) <= limit + 1:
        header = bytes(view[at : at + _HEADER])
        at += _FRAME + int.from_bytes(header[:8], "little")
        if at > size or not is_header(header):
            break
        bounds.append(at)
    return np.array(bounds, np.int64)


def _lane_starts(data: Bytes, size: int, lanes: int, window: int) -> Ints:
    """Return 0 and about `lanes` further positions of headers, ascending."""
    points = np.linspace(0, size - window - _FRAME, lanes + 1)[1:-1].astype(np.int64)
    rows = blocks(data, points, window + _HEADER + 1)
    shape = (len(points), window)
    looks_right = np.ones(shape, bool)
    for place, byte in ((4, 0), (5, 0), (6, 0), (7, 0), (_HEADER, WALL_TIME_TAG)):
        looks_right &= rows[:, place : place + window] == byte
    lane, shift = np.arange(len(points)), looks_right.argmax(axis=1)
    found = headers_intact(data, points + shift)
    if 2 * found.sum() < lanes:  # what looks right first is not right here: try all
        lane, shift = np.nonzero(looks_right)
        intact = headers_intact(data, points[lane] + shift)
        lane, first = np.unique(lane[intact], return_index=True)
        shift, found = shift[intact][first], np.ones(len(lane), bool)
    return np.unique(np.concatenate(([0], (points[lane] + shift)[found])))


def _walk_lanes(data: Bytes, size: int, starts: Ints) -> Ints:
    stops = np.append(starts[1:], size)
    # The upper half of a length is looked at with its checksum, below.
    lengths_at = np.ndarray((size + 1,), "<u4", data, 0, (1,))
    steps = [starts]
    while (steps[-1] < stops).any():
        for _ in range(_STRIDE):  # lanes that have arrived walk on; that is cut off below
            following = steps[-1] + lengths_at[steps[-1]]
            following += _FRAME
            steps.append(np.minimum(following, size, out=following))
    lanes = np.array(steps).T  # lane by lane, hence ascending while the chain holds
    positions = lanes[lanes < stops[:, None]]
    ends = positions + lengths_at[positions] + _FRAME
    holds = headers_intact(data, positions) & (ends <= size)
    holds[1:] &= ends[:-1] == positions[1:]
    count = len(holds) if holds.all() else int(np.argmin(holds))
    return np.append(positions[:count], ends[count - 1] if count else 0)
