"""A tensor itself: where its NaN and ∞ are, and its elements, long ones cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    import numpy.typing as npt
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.tui.text import Charset

_LISTED = 20  # bad elements
_IN_FULL = 2000  # elements; of larger tensors the first and last of each dimension
_EDGE = 4
_WIDTH = 72  # fits an 80-column terminal
_DIGITS = 4


class ValuesScreen(ModalScreen[None]):
    """The elements of a tensor.

    Args:
        name: Its name.
        tensor: The tensor.
        charset: The characters to draw with.
    """

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,v,backspace", "dismiss", "close"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    DEFAULT_CSS = """
    ValuesScreen { align: center middle; }
    ValuesScreen > VerticalScroll {
        width: 104;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        padding: 0 2;
        border: round $rule-active;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    App.-ascii ValuesScreen > VerticalScroll { border: ascii $rule-active; }
    """

    def __init__(self, name: str, tensor: npt.NDArray[Any], charset: Charset) -> None:
        super().__init__()
        self._title = Content(charset.safe(f"{name}  {tensor.dtype} {list(tensor.shape)}"))
        self._text = Content("\n".join(map(charset.safe, tensor_lines(tensor))))

    def compose(self) -> ComposeResult:
        """See Textual."""
        box = VerticalScroll(Static(self._text))
        box.border_title = self._title
        box.border_subtitle = "Esc closes"
        yield box

    def action_scroll(self, rows: int) -> None:
        """Scroll by a row."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)


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
