"""Puts what the sinks of a run of a session take into the order in which it was computed.

Runs share sinks, so that these cannot wait for each other in the graph.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump import locks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from tfdbg_tui.dump.observe.observed import Observed

    Needs = Mapping[Any, frozenset[Any]]


class RunOrder:
    """Hands on what groups take, each after those that its tensors are computed from.

    Where such a group is in a branch that is not taken, what needs it is kept until a loop runs,
    whose groups wait in the graph for what is before it, or until the run ends.

    Args:
        needs: What the groups need that run once.
    """

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._missing = set(needs)
        self._kept: list[tuple[Any, Callable[[], None]]] = []
        self._lock = locks.new()

    def take(self, group: Any, hand_on: Callable[[], None]) -> None:
        """Hand on what a group has taken, and what was kept for it, or keep it.

        Args:
            group: The group.
            hand_on: Does it.
        """
        with self._lock:
            if group not in self._needs:  # It runs many times.
                self._hand_on_all()
            self._kept.append((group, hand_on))
            while (place := self._ready()) is not None:
                self._hand_on(place)

    def hand_on_kept(self) -> None:
        """Hand on what is left: nothing more comes that it has to come after."""
        with self._lock:
            self._hand_on_all()

    def is_complete(self) -> bool:
        """Return whether all groups that run once have taken something."""
        return not self._missing

    def _hand_on_all(self) -> None:
        came = {group for group, _ in self._kept}
        later, self._missing = self._missing - came, came
        while self._kept:
            self._hand_on(self._ready() or 0)
        self._missing = later

    def _hand_on(self, place: int) -> None:
        group, hand_on = self._kept.pop(place)
        self._missing.discard(group)
        hand_on()

    def _ready(self) -> int | None:
        for place, (group, _) in enumerate(self._kept):
            if self._missing.isdisjoint(self._needs.get(group, ())):
                return place
        return None


def parts_of(
    items: Sequence[Observed], others: Set[str], ops: Iterable[Any]
) -> Iterator[list[Observed]]:
    """Split tensors that get sinks of their own so that the sinks can be put into an order.

    Two sinks cannot, of which each takes what is computed from what the other takes.  A part has
    what is made, by way of other sinks, of the part before it.

    Args:
        items: The tensors.
        others: Names of those that other sinks take.
        ops: Those that run, each after all that it takes.
    """
    if not others or len(items) <= 1:
        yield from [list(items)] if items else []
        return
    mine = {item.tensor.name for item in items}
    makers = {item.tensor.op for item in items}
    parts: dict[str, int] = {}  # by the name of an op: the last part that is in what it is made of
    least: dict[str, int] = {}  # and the first part in which what is made of it can be
    # What runs before the first of them is made of none.
    for op in itertools.dropwhile(lambda op: op not in makers, ops):
        before = [tensor.op.name for tensor in op.inputs]
        part = max((parts.get(name, -1) for name in before), default=-1)
        first = max((least.get(name, 0) for name in before), default=0)
        made = {tensor.name for tensor in op.outputs}
        if made & others:
            first = max(first, part + 1)
        if made & mine:
            part = max(part, first)
        parts[op.name], least[op.name] = part, first
    for part in sorted({parts[item.tensor.op.name] for item in items}):
        yield [item for item in items if parts[item.tensor.op.name] == part]


def needs_of(groups: Mapping[Any, Iterable[str]], ops: Iterable[Any]) -> Needs:
    """Return which of some groups have tensors that those of another are computed from.

    Two groups of which each has some of those need neither.

    Args:
        groups: Each with the names of its tensors.
        ops: Those that run, each after all that it takes.
    """
    bits = {name: 1 << place for place, names in enumerate(groups.values()) for name in names}
    made_of: dict[str, int] = {}  # of the inputs of an op, by its name
    needs = [0] * len(groups)
    for op in ops:
        found = 0
        for tensor in op.inputs:
            found |= made_of.get(tensor.op.name, 0) | bits.get(tensor.name, 0)
        made_of[op.name] = found
        for tensor in op.outputs:
            if tensor.name in bits:
                needs[bits[tensor.name].bit_length() - 1] |= found
    return {
        group: frozenset(
            other
            for there, other in enumerate(groups)
            if needs[here] >> there & 1 and not needs[there] >> here & 1
        )
        for here, group in enumerate(groups)
    }
