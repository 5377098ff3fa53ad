"""When records were written, read from the file for many of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.wire import tfrecord

if TYPE_CHECKING:
    from tfdbg_tui.logdir.columns import Int64Array
    from tfdbg_tui.logdir.recordfile import RecordFile

_AT = tfrecord.HEADER_SIZE + 1  # behind the tag of DebugEvent's field 1
_WINDOW = 1 << 18
_DENSE = 4096  # records closer together than this are read in one window


_END_OF_TIME = 253402300800.0  # the year 10000, where calendars of Python end


def sane_time(seconds: float) -> float:
    """Return a time of a record; 0.0 for a number that is no date."""
    return seconds if 0.0 <= seconds < _END_OF_TIME else 0.0


def read_wall_times(file: RecordFile, offsets: Int64Array) -> npt.NDArray[np.float64]:
    """Return the wall time of the record at each offset, in seconds; 0.0 where it is gone."""
    times = np.zeros(len(offsets))
    order = np.argsort(offsets, kind="stable")
    ascending = offsets[order] + _AT
    start = 0
    while start < len(ascending):
        first = int(ascending[start])
        stop = int(np.searchsorted(ascending, first + _WINDOW - 8))
        span = int(ascending[stop - 1]) - first + 8
        if span > _DENSE * (stop - start):
            stop, span = start + 1, 8
        data = np.frombuffer(file.bytes_at(first, span), np.uint8)
        places = ascending[start:stop] - first
        places = places[places + 8 <= len(data)]
        if len(places):
            doubles = np.ndarray((len(data) - 7,), "<f8", data, 0, (1,))
            times[order[start : start + len(places)]] = doubles[places]
        start = stop
    with np.errstate(invalid="ignore"):
        sane = (times >= 0) & (times < _END_OF_TIME)
    return np.where(sane, times, 0.0)
