"""Of which tensors the elements themselves are recorded, whatever the mode."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LINE = re.compile(r".*\.py:\d+")
_SLOT = re.compile(r":\d+$")


class WholeTensors:
    """Ops that are chosen by their names, or by the lines that they are made in.

    Attributes:
        names: Names of ops or tensors of graphs, or types of eager ops, with ``*`` for anything;
            or source lines, as "train.py:40".
        choice: The number of this choice, the same one each time; 0 for none.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.choice = 0
        self._choices: dict[frozenset[str], int] = {frozenset(): 0}
        self._ops: dict[str, str] = {}
        self._lines: tuple[str, ...] = ()
        self._found: set[str] = set()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Those of the names that no op has that was asked for."""
        return tuple(name for name in self.names if name not in self._found)

    def choose(self, names: Sequence[str]) -> None:
        """Choose these, and no others."""
        self.names = tuple(names)
        self._lines = tuple(name for name in self.names if _LINE.fullmatch(name))
        self._ops = {name: _SLOT.sub("", name) for name in self.names if name not in self._lines}
        self.choice = self._choices.setdefault(frozenset(names), len(self._choices))

    def has(self, op_name: str, line: Callable[[], str]) -> bool:
        """Return whether an op is chosen.

        Args:
            op_name: Its name; of an eager op its type.
            line: Returns the user's line that it is made in, as "/home/me/train.py:40 in step".
        """
        place = line().partition(" in ")[0] if self._lines else ""
        found = {name for name, op in self._ops.items() if fnmatch.fnmatchcase(op_name, op)}
        found |= {name for name in self._lines if place == name or place.endswith(f"/{name}")}
        self._found |= found
        return bool(found)
