"""Which eager ops a tape runs to compute gradients, and which of them made what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Given(NamedTuple):
    """Which eager ops made what a tape gives.

    Attributes:
        makers: Code locations of the ops.
        passed_on: Those of the ops whose tensors other ops of the tape take as well.
        left: Numbers of the bad tensors that these lines made, but the tape neither gives nor uses.
    """

    makers: set[bytes]
    passed_on: set[bytes]
    left: list[int]


class TapeOps:
    """What the tapes of a thread compute; a gradient function may ask another tape.

    Attributes:
        depth: How many tapes compute gradients now, one for another.
    """

    __slots__ = ("_bad", "_makers", "_taken", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self._makers: dict[int, bytes] = {}  # code locations, by the number of a tensor
        self._taken: set[int] = set()  # numbers of tensors
        self._bad: list[int] = []  # numbers of tensors

    def begin(self) -> None:
        """Note that a tape begins."""
        self.depth += 1

    def note(self, taken: Iterable[int], made: Iterable[int], location: bytes) -> None:
        """Note an eager op that a tape runs.

        Args:
            taken: Numbers of its inputs.
            made: Numbers of its outputs.
            location: Its code location.
        """
        self._taken.update(taken)
        self._makers.update(dict.fromkeys(made, location))

    def note_bad(self, made: Iterable[int]) -> None:
        """Note that what such an op has made is bad.

        Args:
            made: Numbers of its outputs.
        """
        self._bad.extend(made)

    def end(self, given: Iterable[int]) -> Given | None:
        """Return which ops made what a tape gives; None if it ran none.

        Args:
            given: Numbers of the tensors.
        """
        makers, taken, bad = self._makers, self._taken, self._bad
        self.depth -= 1
        if not self.depth:
            self._makers, self._taken, self._bad = {}, set(), []
        if not makers:
            return None
        known = {number for number in given if number in makers}
        lines = {makers[number] for number in known}
        passed_on = {makers[number] for number in known & taken}
        if self.depth:
            taken |= known  # by the gradient function that asked this tape
            return Given(lines, passed_on, [])
        left = [number for number in bad if number not in taken | known]
        return Given(lines, passed_on, [number for number in left if makers.get(number) in lines])
