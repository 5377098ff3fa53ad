"""The tensors of a group as an accelerator sends them to the host: small ones of a type as one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class SentTensors(NamedTuple):
    """What each array that arrives has.

    Where there are joined tensors whose shapes are not known while tracing, the first array has
    their numbers of dimensions, and then these dimensions.  The joined ones follow, and the others.

    Attributes:
        joined: Which tensors each array has that is of several.
        alone: Which are sent as they are.
        shapes: The shapes of all, None where that is sent along.
    """

    joined: tuple[tuple[int, ...], ...]
    alone: tuple[int, ...]
    shapes: tuple[tuple[int, ...] | None, ...]

    @property
    def of_unknown_shape(self) -> list[int]:
        """The joined tensors whose shapes are sent along."""
        return [index for some in self.joined for index in some if self.shapes[index] is None]

    def tensors(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the tensors, as views of the arrays."""
        shapes, unknown = dict(enumerate(self.shapes)), self.of_unknown_shape
        if unknown:
            ranks, dimensions = np.split(arrays[0], [len(unknown)])
            parts = np.split(dimensions, np.cumsum(ranks)[:-1])
            shapes |= {i: tuple(part.tolist()) for i, part in zip(unknown, parts, strict=True)}
            arrays = arrays[1:]
        found = dict(zip(self.alone, arrays[len(self.joined) :], strict=True))
        for some, array in zip(self.joined, arrays[: len(self.joined)], strict=True):
            known = [shapes[index] or () for index in some]
            ends = np.cumsum([math.prod(shape) for shape in known])
            parts = np.split(array, ends[:-1])
            each = zip(some, parts, known, strict=True)
            found |= {index: part.reshape(shape) for index, part, shape in each}
        return [found[index] for index in range(len(self.shapes))]
