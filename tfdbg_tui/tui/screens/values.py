"""A tensor itself: where its NaN and ∞ are, and its elements, long ones cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from textual.binding import Binding
from textual.content import Content

from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    import numpy.typing as npt
    from textual.binding import BindingType

    from tfdbg_tui.tui.terminal.text import Charset

_LISTED = 20  # bad elements
_IN_FULL = 2000  # elements; of larger tensors the first and last of each dimension
_EDGE = 4
_WIDTH = 72  # fits an 80-column terminal
_DIGITS = 4


class ValuesScreen(BoxScreen):
    """The elements of a tensor.

    Args:
        name: Its name.
        tensor: The tensor.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "dismiss", "close")]

    def __init__(self, name: str, tensor: npt.NDArray[Any], charset: Charset) -> None:
        title = charset.safe(f"{name}  {tensor.dtype} {list(tensor.shape)}")
        super().__init__(Content(title), charset)
        self._tensor = tensor

    def text(self) -> Content:
        """See `BoxScreen`."""
        return Content("\n".join(map(self.charset.safe, tensor_lines(self._tensor))))


def tensor_lines(tensor: npt.NDArray[Any]) -> list[str]:
    """Return where the bad elements of a tensor are, and its elements."""
    lines = []
    if np.issubdtype(tensor.dtype, np.inexact):
        bad = np.argwhere(~np.isfinite(tensor))
        lines = [f"{place}  {tensor[tuple(place)]}" for place in bad[:_LISTED].tolist()]
        if len(bad) > _LISTED:
            lines.append(f"and {len(bad) - _LISTED:,} more")
        if lines:
            lines = [f"{len(bad):,} of {tensor.size:,} elements are NaN or infinite:", *lines, ""]
    text = np.array2string(tensor, _WIDTH, _DIGITS, threshold=_IN_FULL, edgeitems=_EDGE)
    return [*lines, *text.split("\n")]
