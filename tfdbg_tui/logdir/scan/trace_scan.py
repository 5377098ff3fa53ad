"""Graph execution traces by the ten thousand: which tensor each one is of, and whether it is bad.

A trace with a value vector is recognised by its end (`trace_tail`), all others by how they begin
(`trace_head`).  What neither recognises is left to the scalar decoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.scan.scanned_traces import ScannedTraces
from tfdbg_tui.logdir.scan.trace_head import HeadScan
from tfdbg_tui.logdir.scan.trace_tail import TailLayout

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.gather import Ints
    from tfdbg_tui.logdir.scan.recognition import Decode

_MAX_LAYOUTS = 64


class TraceScan:
    """What the scan of one file has learned about the layout of its records."""

    def __init__(self) -> None:
        self._layouts: list[TailLayout] = []
        self._heads = HeadScan()

    def scan(self, chunk: Chunk, decode: Decode) -> ScannedTraces:
        """Scan the records of a chunk.

        Args:
            chunk: Records; not a single large one.
            decode: ``decode(row)`` returns the site of a record by the scalar decoder, or None
                where the record is not readable.
        """
        found = ScannedTraces(len(chunk))
        rest = np.arange(len(chunk))
        for layout in self._layouts:
            rest = layout.scan(chunk, rest, decode, found)
        while (learned := self._learn(chunk, rest)) is not None:
            self._layouts.append(learned)
            rest = learned.scan(chunk, rest, decode, found)
        self._layouts.sort(key=lambda layout: -layout.hits)
        self._heads.scan(chunk, rest, decode, found)
        return found

    def _learn(self, chunk: Chunk, rest: Ints) -> TailLayout | None:
        """Return the layout of one of some records that no known layout fits."""
        if not rest.size or len(self._layouts) >= _MAX_LAYOUTS:
            return None
        for row in (rest[0], rest[len(rest) // 2], rest[-1]):
            layout = TailLayout.of(chunk.payload(int(row)))
            if layout is not None and layout not in self._layouts:
                return layout
        return None
