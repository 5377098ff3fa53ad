"""What a scan has found out about graph execution traces."""

from __future__ import annotations

import numpy as np

from tfdbg_tui.logdir.scan.recognition import UNKNOWN


class ScannedTraces:
    """What a scan found; arrays over the records of a chunk.

    Attributes:
        sites: Number of each record's site; -1 where only the scalar decoder can read it.
        bad: Which kinds of bad elements it tells of; see `values.bad_kinds`.
        serials: Serial of the execution that caused it; 0 where it has none.
        largest: Largest magnitude of a finite element; NaN where that is not on record.
    """

    def __init__(self, count: int) -> None:
        self.sites = np.full(count, UNKNOWN, np.int64)
        self.bad = np.zeros(count, np.uint8)
        self.serials = np.zeros(count, np.int64)
        self.largest = np.full(count, np.nan)
