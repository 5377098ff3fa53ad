"""Where eager code makes a tensor, as one number."""

from __future__ import annotations

from typing import Any, NamedTuple


class OutputPlace(NamedTuple):
    """What outputs of eager code have in common: numbers, or arrays of them."""

    kind: Any
    stack: Any
    slot: Any

    @property
    def number(self) -> Any:
        """The three in one: 20 bits of the slot, 24 of the stack, and the kind."""
        return (self.kind << 24 | self.stack) << 20 | self.slot

    @classmethod
    def of(cls, number: Any) -> OutputPlace:
        """Return the place with a number, or those with an array of them."""
        return cls(number >> 44, number >> 20 & 0xFFFFFF, number & 0xFFFFF)
