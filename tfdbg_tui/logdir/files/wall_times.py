"""When records were written, read from the file for many of them at once."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.wire import tfrecord

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.gather import Ints
    from tfdbg_tui.logdir.files.record_file import RecordFile

_AT = tfrecord.HEADER_SIZE + 1  # behind the tag of `DebugEvent.wall_time`, the first field
_WINDOW = 1 << 18
_DENSE = 4096  # records closer together than this are read together


_END_OF_TIME = 253402300800.0  # the year 10000, where calendars of Python end


def sane_time(seconds: float) -> float:
    """Return a time of a record; 0.0 for a number that is no date."""
    return seconds if 0.0 <= seconds < _END_OF_TIME else 0.0


def read_wall_times(file: RecordFile, offsets: Ints) -> npt.NDArray[np.float64]:
    """Return the wall time of the record at each offset, in seconds; 0.0 where it is gone."""
    times = np.zeros(len(offsets))
    with contextlib.suppress(OSError):
        _fill(times, file, offsets)
    with np.errstate(invalid="ignore"):
        sane = (times >= 0) & (times < _END_OF_TIME)
    return np.where(sane, times, 0.0)


def _fill(times: npt.NDArray[np.float64], file: RecordFile, offsets: Ints) -> None:
    order = np.argsort(offsets, kind="stable")
    ascending = offsets[order] + _AT
    # Groups of records that lie close together.
    starts = np.flatnonzero(np.diff(ascending, prepend=-_DENSE) >= _DENSE)
    stops = np.append(starts[1:], len(ascending))
    alone = stops - starts == 1
    single = starts[alone]
    doubles = [data.ljust(8, b"\0") for data in file.bytes_at_each(ascending[single].tolist(), 8)]
    times[order[single]] = np.frombuffer(b"".join(doubles), "<f8")
    for start, stop in zip(starts[~alone].tolist(), stops[~alone].tolist(), strict=True):
        times[order[start:stop]] = _read_group(file, ascending[start:stop])


def _read_group(file: RecordFile, places: Ints) -> npt.NDArray[np.float64]:
    times = np.zeros(len(places))
    start = 0
    while start < len(places):
        first = int(places[start])
        stop = int(np.searchsorted(places, first + _WINDOW - 8))
        data = np.frombuffer(file.bytes_at(first, int(places[stop - 1]) - first + 8), np.uint8)
        there = places[start:stop] - first
        there = there[there + 8 <= len(data)]
        if len(there):
            doubles = np.ndarray((len(data) - 7,), "<f8", data, 0, (1,))
            times[start : start + len(there)] = doubles[there]
        start = stop
    return times
