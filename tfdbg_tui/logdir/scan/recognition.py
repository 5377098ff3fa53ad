"""Recognising records by how they begin: the first of each kind is decoded, the others go by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.files.gather import Ints

    Decode = Callable[[int], "int | None"]

UNKNOWN = -1
"""Stands for what only the scalar decoder can tell."""


class Recognition:
    """What the scalar decoder has said of records that have two numbers in common."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], int] = {}

    def recognise(self, first: Ints, second: Ints, rows: Ints, decode: Decode) -> Ints:
        """Return what each of some records is: a number of a site or of a kind.

        Args:
            first: A number of each record, below 2**31.
            second: Another number of each, of which the low 32 bits count.
            rows: Row of each in its chunk.
            decode: ``decode(row)`` returns what a record is by the scalar decoder, or None where
                the record is not readable.

        Returns:
            `UNKNOWN` for records that begin like those that were not readable.
        """
        pairs = first << 32 | (second & 0xFFFFFFFF)
        distinct, places, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        found = np.empty(len(distinct), np.int64)
        for i, (pair, place) in enumerate(zip(distinct.tolist(), places.tolist(), strict=True)):
            key = (pair >> 32, pair & 0xFFFFFFFF)
            if key not in self._known:
                number = decode(int(rows[place]))
                if number is not None:
                    self._known[key] = number
            found[i] = self._known.get(key, UNKNOWN)
        numbers: Ints = found[inverse.reshape(-1)]
        return numbers
