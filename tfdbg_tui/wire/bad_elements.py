"""Where the first bad elements of a tensor are: so many numbers of each tensor, known or not.

The length of each dimension comes first, then the place of each element in the flattened tensor;
NaN fills what is left.  Where elements are NaN, infinite ones are left out.  Of tensors with more
dimensions nothing is told.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_DIMS = 6
MAX_ELEMENTS = 8
WIDTH = MAX_DIMS + MAX_ELEMENTS
UNKNOWN = (math.nan,) * WIDTH


def numbers(shape: Sequence[int], places: Sequence[int] = ()) -> tuple[float, ...]:
    """Return what is written of a tensor.

    Args:
        shape: Length of each dimension.
        places: Of the first bad elements, in the flattened tensor.
    """
    if len(shape) > MAX_DIMS:
        return UNKNOWN
    return *_filled(shape, MAX_DIMS), *_filled(places[:MAX_ELEMENTS], MAX_ELEMENTS)


def _filled(known: Sequence[int], width: int) -> tuple[float, ...]:
    return *map(float, known), *(math.nan,) * (width - len(known))


def shape(told: Sequence[float], rank: int) -> tuple[int, ...] | None:
    """Return the shape of a tensor of some rank; None where it is not told."""
    dims = tuple(_known(told[:MAX_DIMS]))
    return dims if len(told) == WIDTH and len(dims) == rank else None


def indices(told: Sequence[float], dims: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the first bad elements of a tensor with some dimensions."""
    size = math.prod(dims)
    places = _known(told[MAX_DIMS:WIDTH])
    return tuple(_index(place, dims) for place in places if place < size)


def _known(some: Sequence[float]) -> Iterator[int]:
    return (int(number) for number in some if math.isfinite(number) and number >= 0)


def _index(place: int, dims: Sequence[int]) -> tuple[int, ...]:
    found = []
    for length in reversed(dims):
        place, within = divmod(place, length)
        found.append(within)
    return tuple(reversed(found))
