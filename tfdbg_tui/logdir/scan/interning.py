"""Numbering byte strings that occur over and over, many at once.

A program calls the same few ops from the same few places millions of times: each record repeats
one of some hundred stack traces.  Strings are grouped by length and compared as rows of 64-bit
words.  A hash only proposes which known string a row could be; every row is then compared with it
to the last byte, so equal numbers mean equal bytes, whatever the input.
"""

from __future__ import annotations

import numpy as np

from tfdbg_tui.logdir.definitions.numbering import Numbering
from tfdbg_tui.logdir.files.gather import Bytes, Ints, Words, blocks

_LONGEST = 1 << 14
"""Longer strings are numbered one by one: they are rare, and a group of them would need memory."""

_MAX_KNOWN = 1 << 12
"""Known strings of one length that are compared in bulk; a bound on memory for odd inputs."""

_CACHED = 1 << 20
"""Bytes compared in one go, so that temporary copies stay in the CPU's cache."""

_LAST_WORD = np.array([(1 << 8 * k) - 1 for k in range(1, 9)], np.uint64)
# Odd, and spread over all bits: multiples of the golden ratio, scrambled (as SplitMix64 does).
_weights = np.arange(1, _LONGEST // 8 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
_weights = (_weights ^ (_weights >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9) | np.uint64(1)


class _Known:
    """The strings of one length."""

    def __init__(self, words: int) -> None:
        self.numbers = np.zeros(0, np.int64)
        self._rows = np.zeros((0, words), np.uint64)
        self._hashes = np.zeros(0, np.uint64)
        self._order = np.zeros(0, np.int64)

    def find(self, rows: Words, hashes: Words) -> Ints:
        """Return the number of each row, -1 where it is not known."""
        if not len(self._order):
            return np.full(len(rows), -1, np.int64)
        place = np.searchsorted(self._hashes, hashes)
        candidate = self._order[np.minimum(place, len(self._order) - 1)]
        equal = np.empty(len(rows), bool)
        step = max(1, _CACHED // rows.strides[0])
        for at in range(0, len(rows), step):
            part = slice(at, at + step)
            equal[part] = (rows[part] == self._rows[candidate[part]]).all(axis=1)
        return np.where(equal, self.numbers[candidate], -1)

    def add(self, rows: Words, hashes: Words, numbers: Ints) -> None:
        """Remember strings that `find` did not know."""
        self._rows = np.concatenate([self._rows, rows])
        self.numbers = np.concatenate([self.numbers, numbers])
        known = np.concatenate([self._hashes, hashes])
        order = np.concatenate([self._order, np.arange(len(self._order), len(self._rows))])
        sort = np.argsort(known, kind="stable")
        self._hashes, self._order = known[sort], order[sort]


class Interner:
    """Gives each distinct byte string a number.

    Attributes:
        strings: Every distinct string by number.
    """

    def __init__(self) -> None:
        self._numbering: Numbering[bytes] = Numbering()
        self.strings = self._numbering.values
        self._known: dict[int, _Known] = {}

    def number(self, string: bytes) -> int:
        """Return the number of one string."""
        return self._numbering.number(string)

    def numbers(self, data: Bytes, starts: Ints, lengths: Ints) -> Ints:
        """Return the number of each ``data[start : start + length]``.

        Args:
            data: A buffer with at least `gather.PADDING` bytes behind the strings.
            starts: Where each string starts.
            lengths: How long each is, in bytes.
        """
        out = np.empty(len(starts), np.int64)
        if len(starts) == 0:
            return out
        short = lengths <= _LONGEST
        for length in np.flatnonzero(np.bincount(lengths[short])).tolist():
            rows = np.flatnonzero(lengths == length)
            out[rows] = self._numbers_of_length(data, starts[rows], length)
        for row in np.flatnonzero(~short).tolist():
            start = int(starts[row])
            out[row] = self.number(data[start : start + int(lengths[row])].tobytes())
        return out

    def _numbers_of_length(self, data: Bytes, starts: Ints, length: int) -> Ints:
        if length == 0:
            return np.full(len(starts), self.number(b""), np.int64)
        rows = _rows_of_words(data, starts, length)
        hashes = _hashes(rows)
        known = self._known.setdefault(length, _Known(rows.shape[1]))
        found = known.find(rows, hashes)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            found[missing] = self._add(known, rows[missing], hashes[missing], length)
        return found

    def _add(self, known: _Known, rows: Words, hashes: Words, length: int) -> Ints:
        """Number rows that are not among the known ones of their length."""
        numbers = np.array([self.number(row.tobytes()[:length]) for row in rows], np.int64)
        distinct, first = np.unique(numbers, return_index=True)
        # Of two strings with one hash only one is ever proposed; the other is numbered here each
        # time, which is right, only slow.
        first = first[np.isin(distinct, known.numbers, invert=True)]
        first = first[: _MAX_KNOWN - len(known.numbers)]
        known.add(rows[first], hashes[first], numbers[first])
        return numbers


def _hashes(rows: Words) -> Words:
    # Every fourth word of a long string: enough to touch each 36-byte id of a stack trace.
    sample = rows[:, :: 1 if rows.shape[1] <= 16 else 4]
    hashes: Words = sample @ _weights[: sample.shape[1]]
    return hashes


def _rows_of_words(data: Bytes, starts: Ints, length: int) -> Words:
    count = -(-length // 8)
    rows: Words = blocks(data, starts, count * 8).view("<u8").reshape(len(starts), count)
    if length % 8:
        rows[:, -1] &= _LAST_WORD[length % 8 - 1]
    return rows
