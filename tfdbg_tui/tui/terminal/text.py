"""Text as a terminal shows it: harmless, in the terminal's character set, cut to a width in cells.

Everything a logdir says passes through `Charset.safe` before it reaches the screen: a name in it
may hold escape sequences, line breaks, or characters that the terminal cannot show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from tfdbg_tui.logdir.text import printable

_MAX_LENGTH = 2000  # no field of a row is longer; keeps absurd names from costing time

_PIECES = re.compile(r"[^(\[,=/]*[(\[,=/]|[^(\[,=/]+")  # of code, where a line of it may end

_IN_ASCII = str.maketrans(
    {"∞": "Inf", "−": "-", "×": "x", "…": "...", "→": "Right", "←": "Left", "↑": "Up", "↓": "Down"}
)


class TreeLines(NamedTuple):
    """The lines of a tree.

    Attributes:
        down: Passes a row.
        joined: A row joins it.
        begun: It goes down from a row.
        ended: It comes from above to a row.
        crossed: It crosses a ruled line.
        across: A ruled line.
    """

    down: str
    joined: str
    begun: str
    ended: str
    crossed: str
    across: str


@dataclass(frozen=True, slots=True)
class Charset:
    """The characters that the app draws with.

    Attributes:
        ascii_only: Whether the terminal shows nothing but ASCII.
        focus: Marks the focused row.
        input: Marks a row that is an input of the focused tensor.
        folded: Marks rows that are folded away.
        unfolded: Marks a row whose folded rows are shown below it.
        inf: Infinity.
        minus: A minus sign.
        times: Between a kind of value and how many there are.
        dot: Separates facts in a line; also a zero count.
        ellipsis: Where text has been cut out, or is to come.
        begin: Where its beginning has been, one cell: a path does not begin so.
        right: From here to there.
        inside: From a graph to one built in it.
        branch: From an op down to those that use its output.
        bad: Marks a source line whose ops made NaN or ∞.
        root: Marks such a line that made a root.
        pause: Where recording was off for a while.
        sticky: The frame follows the innermost one of its file.
        bars: From low to high, for overviews.
        tree: The lines of a tree.
    """

    ascii_only: bool
    focus: str
    input: str
    folded: str
    unfolded: str
    inf: str
    minus: str
    times: str
    dot: str
    ellipsis: str
    begin: str
    right: str
    inside: str
    branch: str
    bad: str
    root: str
    pause: str
    sticky: str
    bars: str
    tree: TreeLines

    def safe(self, text: str) -> str:
        """Return `text` without anything that could steer the terminal."""
        text = printable(text[:_MAX_LENGTH])
        if self.ascii_only and not text.isascii():
            return text.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode()
        return text

    def safe_lines(self, text: str) -> str:
        """Return text of several lines without anything that could steer the terminal."""
        return "\n".join(map(self.safe, text.split("\n")))

    def sentence(self, text: str) -> str:
        """Return words of diagnosis as this character set can show them."""
        text = text.replace("→", self.right).replace("-∞", self.minus + self.inf)
        return self.safe(text)

    def fit(self, text: str, width: int) -> str:
        """Return safe `text` cut or padded to exactly `width` cells; what is cut is the end."""
        text = self.safe(text)
        if cell_len(text) > width:
            text = set_cell_size(text, max(0, width - len(self.ellipsis))) + self.ellipsis
        return set_cell_size(text, max(0, width))

    def fit_name(self, name: str, width: int) -> str:
        """Return a scoped name in exactly `width` cells.

        Its last two parts stay whole as long as they fit, and then the end of them.
        """
        name = self.safe(name)
        if cell_len(name) <= width:
            return set_cell_size(name, width)
        tail = last_parts(name)
        room = width - len(self.ellipsis)
        if cell_len(tail) >= room:
            return self._cut_start(tail, width)
        head = set_cell_size(name, room - cell_len(tail) - 1) + self.ellipsis + "/"
        return set_cell_size(head + tail, width)

    def name_lines(self, name: str, width: int, most: int) -> list[str]:
        """Return a scoped name on as many lines as it needs, broken between its parts.

        Args:
            name: The name.
            width: Cells of a line.
            most: How many lines there may be; of a longer name its end is there.
        """
        lines, rest = [], self.safe(name)
        while rest and cell_len(rest) > width:
            begin = set_cell_size(rest, width).rstrip()
            cut = begin.rfind("/") + 1 or len(begin) or 1
            lines.append(rest[:cut])
            rest = rest[cut:]
        shown = [*lines, rest][-most:]
        if len(shown) <= len(lines):
            shown[0] = self.fit_path(self.ellipsis + shown[0], width)
        return shown

    def wrapped(self, text: str, width: int, most: int | None = None) -> list[str]:
        """Return safe text on lines; of those that are too many the last one says so.

        Args:
            text: The text. Code in it that is longer than a line is broken behind a parenthesis,
                a comma and the like.
            width: Cells of a line.
            most: How many lines there may be; None for any number.
        """
        lines = _wrapped(self.safe(text), width)
        if most is None or len(lines) <= most:
            return lines
        last = lines[most - 1] if most else ""
        while last and cell_len(last + self.ellipsis) > width:
            words = last.rpartition(" ")[0]
            last = words if cell_len(words) > width // 2 else last[:-1]  # of code, not all
        return [*lines[: most - 1], last + self.ellipsis] if most else []

    def fit_path(self, path: str, width: int) -> str:
        """Return a path in at most `width` cells; what is cut is its beginning."""
        path = self.safe(path)
        return path if cell_len(path) <= width else self._cut_start(path, width)

    def _cut_start(self, text: str, width: int) -> str:
        room = max(0, width - len(self.begin))
        while cell_len(text) > room:
            text = text[max(1, (len(text) - room) // 2) :]
        return set_cell_size(self.begin + text, max(0, width))


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        gap = " " if lines[-1] else ""
        pieces = [word] if cell_len(word) <= width else _PIECES.findall(word)
        for piece in pieces:
            if cell_len(lines[-1] + gap + piece) > width and lines[-1]:
                lines.append("")
                gap = ""
            lines[-1] += gap + piece
            gap = ""
            while len(lines[-1]) > 1 and cell_len(lines[-1]) > width:
                begin = set_cell_size(lines[-1], width).rstrip() or lines[-1][:1]
                lines[-1:] = [begin, lines[-1][len(begin) :]]
    return lines


def last_parts(name: str) -> str:
    """Return the last two parts of a scoped name, which tell what it is: ``dense_1/MatMul:0``."""
    return "/".join(name.split("/")[-2:])


UNICODE = Charset(
    ascii_only=False,
    focus="▶",
    input="◆",
    folded="▸",
    unfolded="▾",
    inf="∞",
    minus="−",
    times="×",
    dot="·",
    ellipsis="…",
    begin="…",
    right="→",
    inside="▸",
    branch="╰",
    bad="▌",
    root="█",
    pause="┊",
    sticky="⤓",
    bars=" ▁▂▃▄▅▆▇█",
    tree=TreeLines("│", "├", "╭", "╰", "┼", "─"),
)

ASCII = Charset(
    ascii_only=True,
    focus=">",
    input="*",
    folded="+",
    unfolded="-",
    inf="Inf",
    minus="-",
    times="x",
    dot=".",
    ellipsis="..",
    begin="<",
    right="->",
    inside=">",
    branch="`",
    bad="!",
    root="#",
    pause="=",
    sticky="v",
    bars=" .:-=+*%#",
    tree=TreeLines("|", "|", ".", "`", "+", "-"),
)


def compact(count: int) -> str:
    """Return a count in at most five characters: ``9,999``, ``12.3k``, ``123k``, ``4.5M``."""
    if count < 10_000:
        return f"{count:,}"
    value = float(count)
    for unit in "kMGTP":
        value /= 1000
        if value < 99.95:
            return f"{value:.1f}{unit}"
        if value < 999.5:
            return f"{value:.0f}{unit}"
    return f"{count:.0e}"


def short_device(name: str) -> str:
    """Return the last part of a device's name: ``CPU:0``; with its task where that tells."""
    device = name.rpartition("device:")[2] or name
    task = name.rpartition("/task:")[2].partition("/")[0]
    return f"{device} task {task}" if task not in ("", "0", name) else device
