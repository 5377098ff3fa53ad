"""Numbers for what occurs over and over: kinds of executions, sites, stack traces, strings."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Numbering(Generic[T]):
    """Gives each distinct value a number, in the order of their first appearance.

    One thread numbers; any thread may look up.

    Attributes:
        values: The distinct values by number.
        numbers: The number of each.
    """

    def __init__(self) -> None:
        self.values: list[T] = []
        self.numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        """Return the number of a value."""
        number = self.numbers.get(value)
        if number is None:
            number = len(self.values)
            self.values.append(value)
            self.numbers[value] = number  # last: whoever finds a number finds its value
        return number
