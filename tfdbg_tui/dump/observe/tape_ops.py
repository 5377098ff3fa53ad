"""Which eager ops a tape runs to compute gradients, and which of them made what it gives."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class TapeOps(threading.local):
    """What the tapes of a thread compute; a gradient function may ask another tape."""

    def __init__(self) -> None:
        self._depth = 0
        self._makers: dict[int, bytes] = {}  # code locations, by the number of a tensor
        self._taken: set[int] = set()  # numbers of tensors

    def begin(self) -> None:
        """Note that a tape begins."""
        self._depth += 1

    def note(self, taken: Iterable[int], made: Iterable[int], location: bytes) -> None:
        """Note an eager op.

        Args:
            taken: Numbers of its inputs.
            made: Numbers of its outputs.
            location: Its code location.
        """
        if self._depth:
            self._taken.update(taken)
            self._makers.update(dict.fromkeys(made, location))

    def end(self, given: Iterable[int]) -> tuple[set[bytes], set[bytes]] | None:
        """Return the code locations of the ops that made what a tape gives; None if it ran none.

        With them: those of the ops whose tensors other ops of the tape take as well.

        Args:
            given: Numbers of the tensors.
        """
        makers, taken = self._makers, self._taken
        self._depth -= 1
        if not self._depth:
            self._makers, self._taken = {}, set()
        if not makers:
            return None
        known = [number for number in given if number in makers]
        passed_on = {makers[number] for number in known if number in taken}
        return {makers[number] for number in known}, passed_on
