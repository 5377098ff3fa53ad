"""Of which layers eager ops were, for the ops that compute their gradients later."""

from __future__ import annotations

_MOST = 1 << 16
"""Tensors that are remembered at least; twice as many at most."""

_Key = int | tuple[int, ...]


class ForwardLayers:
    """Knows an op again by what it made, or by all that it took."""

    def __init__(self) -> None:
        self._recent: dict[_Key, int] = {}
        self._before: dict[_Key, int] = {}

    @property
    def are_known(self) -> bool:
        """Whether any op is remembered."""
        return bool(self._recent)

    def note(self, taken: tuple[int, ...], made: tuple[int, ...], layer: int) -> None:
        """Remember an op.

        Args:
            taken: Numbers of its inputs.
            made: Numbers of its outputs.
            layer: Number of the layer in whose call it ran.
        """
        if len(self._recent) >= _MOST:
            self._before, self._recent = self._recent, {}
        if taken:  # else it would be the answer for any op of which nothing is known
            self._recent[taken] = layer
        for number in made:
            self._recent[number] = layer

    def find(self, taken: tuple[int, ...], made: tuple[int, ...]) -> int:
        """Return the layer of an op; 0 where it is not known.

        Args:
            taken: Numbers of its inputs, or none.
            made: Numbers of its outputs, or none.
        """
        key: _Key = made[0] if made else taken
        return self._recent.get(key) or self._before.get(key, 0)
