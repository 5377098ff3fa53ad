"""What is sent of a frame: only cells that change, and the same picture as if all were sent."""

from __future__ import annotations

import random
import re

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from tfdbg_tui.tui.terminal.changes import ShownCells, _look

WIDTH, HEIGHT = 30, 4
CONSOLE = Console(color_system="truecolor", force_terminal=True, width=WIDTH, height=HEIGHT)
STYLES = [Style.parse(text) for text in ("", "bold red", "green on blue", "reverse", "on #102030")]

Grid = dict[tuple[int, int], tuple[str, str]]


class Screen:
    """A terminal that knows what this project sends: where to, colours, text."""

    def __init__(self) -> None:
        self.cells: Grid = {}
        self._look = {"attributes": "", "colour": "39", "background": "49"}

    def write(self, text: str) -> int:
        x = y = 0
        for move, codes, plain in re.findall(r"\x1b\[(\d+;\d+)H|\x1b\[([\d;]*)m|([^\x1b]+)", text):
            if move:
                y, x = (int(number) - 1 for number in move.split(";"))
            elif plain:
                for character in plain:
                    self.cells[x, y] = (character, str(sorted(self._look.items())))
                    x += cell_len(character)
            else:
                self._turn(codes.split(";"))
        return len(text)

    def _turn(self, codes: list[str]) -> None:
        while codes:
            code = codes.pop(0)
            if code == "0":
                self._look = {"attributes": "", "colour": "39", "background": "49"}
            elif code in ("38", "48"):
                field = "colour" if code == "38" else "background"
                self._look[field] = ";".join([code, *codes[:4]])
                del codes[:4]
            elif (code[0] in "349" and len(code) == 2) or code.startswith("10"):
                background = code.startswith(("4", "10"))
                self._look["background" if background else "colour"] = code
            else:
                self._look["attributes"] += f";{code}"


def strip(random_: random.Random) -> Strip:
    text = "".join(random_.choice("abc  漢é") for _ in range(12))
    parts = [Segment(part, random_.choice(STYLES)) for part in (text[:4], text[4:9], text[9:])]
    return Strip(parts).adjust_cell_length(WIDTH, STYLES[0])


def frame(strips: list[Strip], lines: list[int]) -> ChopsUpdate:
    chops = [{0: line} for line in strips]
    return ChopsUpdate(chops, [(y, 0, WIDTH) for y in lines], [[WIDTH]] * HEIGHT)


def test_the_picture_is_the_same_as_if_all_were_sent() -> None:
    random_ = random.Random(7)
    shown, real = ShownCells(), Screen()
    strips = [strip(random_) for _ in range(HEIGHT)]
    layout = LayoutUpdate([[line] for line in strips], Region(0, 0, WIDTH, HEIGHT))
    real.write(shown.changes(layout).render_segments(CONSOLE))
    for _ in range(60):
        changed = random_.sample(range(HEIGHT), 2)
        for y in changed:
            strips[y] = strip(random_)
        real.write(shown.changes(frame(strips, changed)).render_segments(CONSOLE))
        whole = Screen()
        whole.write(ShownCells().changes(frame(strips, [*range(HEIGHT)])).render_segments(CONSOLE))
        for place, cell in whole.cells.items():
            assert real.cells[place] == cell


def test_what_stays_is_not_sent_until_the_screen_is_unknown() -> None:
    strips = [strip(random.Random(3)) for _ in range(HEIGHT)]
    shown = ShownCells()
    update = frame(strips, [0, 1, 2, 3])
    whole = shown.changes(update).render_segments(CONSOLE)
    assert shown.changes(update).render_segments(CONSOLE) == ""
    shown.forget()
    assert shown.changes(update).render_segments(CONSOLE) == whole


def test_looks_are_those_of_the_style() -> None:
    look = _look(Style.parse("bold underline #010203 on red"), ColorSystem.TRUECOLOR)
    assert look == ("1;4", "38;2;1;2;3", "41")
