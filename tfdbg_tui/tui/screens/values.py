"""A tensor itself: its elements as a table, with NaN and ∞ to go to, slices and a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tfdbg_tui.tui.screens.list_keys import ListKey
from tfdbg_tui.tui.screens.list_screen import ListScreen
from tfdbg_tui.tui.screens.tensor_grid import TensorGrid
from tfdbg_tui.tui.widgets.tensor_view import TensorView

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from textual.binding import BindingType

    from tfdbg_tui.tui.terminal.text import Charset

_FAR = 1 << 62  # rows and columns: beyond any edge
_KEYS = (
    ListKey("n", "bad", "go to the next element that is NaN or infinite"),
    ListKey("/", "slice", "show a part, as numpy takes it: 0, :, 3:8; nothing for all"),
    ListKey("[ ]", "tables", "go to the table before, to the next one"),
    ListKey("H", "histogram", "show how the finite elements are spread, or the elements"),
    ListKey("S", "save .npy", "write what is shown to a file"),
    ListKey("Left Right", "", "go to another column"),
)
_ASKED = {"slice": "slice", "file": "save as"}


class ValuesScreen(ListScreen[None]):
    """The elements of a tensor.

    Args:
        name: Its name.
        tensor: The tensor.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "leave", show=False),
        Binding("up,k", "move(-1, 0)", show=False),
        Binding("down,j", "move(1, 0)", show=False),
        Binding("left,h", "move(0, -1)", show=False),
        Binding("right,l", "move(0, 1)", show=False),
        Binding("g,home", f"move(-{_FAR}, -{_FAR})", show=False),
        Binding("G,end", f"move({_FAR}, {_FAR})", show=False),
        Binding("left_square_bracket", "table(-1)", show=False),
        Binding("right_square_bracket", "table(1)", show=False),
        Binding("slash", "ask('slice')", show=False),
        Binding("H", "histogram", show=False),
        Binding("S", "ask('file')", show=False),
    ]

    DEFAULT_CSS = """
    ValuesScreen Input, ValuesScreen Input:focus {
        height: 1; border: none; padding: 0 1; background: $panel;
    }
    ValuesScreen #asking { height: 1; background: $panel; }
    ValuesScreen #asking Static { width: auto; padding: 0 0 0 1; }
    """

    def __init__(self, name: str, tensor: npt.NDArray[Any], charset: Charset) -> None:
        self._tensor_name = name
        self._tensor = tensor
        self._asked = ""
        self._grid = TensorGrid(TensorView.of(tensor), charset)
        super().__init__(self._grid, _KEYS, charset)

    def title_name(self) -> str:
        """See `ListScreen`."""
        return self._tensor_name

    def title_text(self) -> str:
        """See `ListScreen`."""
        return f"{self._tensor.dtype} {list(self._tensor.shape)}"

    def idle_keys(self) -> Mapping[str, str]:
        """See `ListScreen`."""
        view = self._grid.view
        idle = {
            "n": "" if len(view.bad) else "no element here is NaN or infinite",
            "[ ]": "there is no other table" if view.tables <= 1 else "",
        }
        return {key: why for key, why in idle.items() if why}

    def on_mount(self) -> None:
        """Begin at the first bad element, if there is one."""
        self._grid.show(self._grid.view.at_first_bad())

    async def action_leave(self) -> None:
        """Ask no more, or, where nothing is asked, close."""
        if self.query(Input):
            await self.query("#asking").remove()
        else:
            self.dismiss(None)

    def action_to_bad(self, step: int) -> None:
        """Go to the next element that is NaN or infinite, or to the one before."""
        if not self.tell_idle("n"):
            before = self._grid.view.position
            self._look_at(self._grid.view.to_bad(step))
            self.show_moved(self._grid.view.position != before, step)

    def action_move(self, rows: int, columns: int) -> None:
        """Go to another row or column."""
        self._look_at(self._grid.view.moved(rows, columns))

    def action_page(self, pages: int) -> None:
        """Go a page up or down."""
        self._look_at(self._grid.view.moved(pages * max(1, self._grid.page_rows - 1)))

    def action_table(self, step: int) -> None:
        """Go to the next table, where there are more than two dimensions."""
        if self._grid.shows_histogram or not self.tell_idle("[ ]"):
            self._look_at(self._grid.view.moved(tables=step))

    def action_histogram(self) -> None:
        """Show how the finite elements are spread, or the elements again."""
        self._grid.show_histogram(not self._grid.shows_histogram)
        self.show()

    def _look_at(self, view: TensorView) -> None:
        self._grid.show(view)
        self.show()

    async def action_ask(self, what: str) -> None:
        """Ask for a slice, or for the name of a file, whatever was asked for before."""
        await self.query("#asking").remove()
        self._asked = what
        text = "" if what == "slice" else self._file_name()
        hint = "slices as numpy takes them: 0, :, 3:8" if what == "slice" else "file to write"
        asking = Input(text, placeholder=hint, compact=True)
        label = Static(f"{_ASKED[what]}:", markup=False)
        mounted = self._box.mount(Horizontal(label, asking, id="asking"))
        self.set_focus(asking)  # at once: what is typed behind the key is for it
        await mounted

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Do what has been asked for; where that cannot be done, the text stays to be corrected."""
        try:
            if self._asked == "file":
                self._save(event.value)
            elif event.value.strip():
                self._grid.show(TensorView.of(self._tensor).part(event.value))
            else:
                self._grid.show(TensorView.of(self._tensor))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            said = f"{event.value}: {reason}" if event.value.strip() else reason
            self._grid.say(self._charset.safe(said), bad=True)
        else:
            await self.query("#asking").remove()

    def _file_name(self) -> str:
        kept = [c if c.isalnum() or c in "._-" else "_" for c in self._tensor_name]
        return "".join(kept) + ".npy"

    def _save(self, path: str) -> None:
        """Write the part that is shown; a file that is there stays as it is."""
        if not path.strip():
            raise ValueError("nothing was written, as the file has no name")
        with open(path, "xb") as file:
            np.save(file, self._grid.view.elements, allow_pickle=False)
        self._grid.say(self._charset.safe(f"written to {path}"))
