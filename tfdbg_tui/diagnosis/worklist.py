"""How a graph is searched: what is still to be looked at, each thing once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

T = TypeVar("T", bound="Hashable")


class Worklist(Generic[T]):
    """Yields things, the last ones added first, and those that are added meanwhile; each once.

    Attributes:
        seen: All that were added.

    Args:
        start: The first ones.
        most: As soon as so many were added, no further one is yielded: graphs may be large.
    """

    def __init__(self, start: Iterable[T], most: float = math.inf) -> None:
        self.seen: set[T] = set()
        self._waiting: list[T] = []
        self._most = most
        self.add(*start)

    def add(self, *some: T) -> None:
        """Add what is to be looked at, unless it was added before."""
        for one in some:
            if one not in self.seen:
                self.seen.add(one)
                self._waiting.append(one)

    def __iter__(self) -> Iterator[T]:
        while self._waiting and len(self.seen) < self._most:
            yield self._waiting.pop()
