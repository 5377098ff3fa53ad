"""What Alerts tells below its rows of the cause that is chosen there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import cards, iteration_text, readable_function
from tfdbg_tui.tui.widgets.cells import in_lines, indented, joined, width_of
from tfdbg_tui.tui.widgets.chips import BRIEF, brief_beside, flush_right, in_brief
from tfdbg_tui.tui.widgets.names import Column, least_width, shortened, with_columns

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Finding, Link
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_TEXT_LINES = 4  # of evidence, and of a fix
_NAME_LINES = 3
_LEAST_CHAIN = 6  # lines that are left, for the chain of a cause to be shown
_WIDE = 70


def paragraph(
    text: str, width: int, style: str, charset: Charset, lines: int = _TEXT_LINES
) -> tuple[Line, ...]:
    """Return a text in so many lines at most, one cell from the left; an ellipsis ends a cut one.

    Args:
        text: The text.
        width: Cells of a line of it.
        style: The style of all of it.
        charset: The characters to draw with.
        lines: How many lines there may be; never more than four.
    """
    if lines < 1:
        return ()
    wrapped = charset.wrapped(charset.sentence(text), width, min(lines, _TEXT_LINES))
    return tuple(((" " + line, style),) for line in wrapped)


@dataclass(frozen=True, slots=True)
class CauseSummary:
    """Lines about a cause.

    Attributes:
        snapshot: What is shown.
        finding: The cause.
        width: Cells of a line.
        charset: The characters to draw with.
    """

    snapshot: Snapshot
    finding: Finding
    width: int
    charset: Charset

    def in_few_lines(self, lines: int, title: str) -> tuple[Line, ...]:
        """Return where the cause is, its evidence and its fix.

        Args:
            lines: How many there may be, but for where it is and a line of the evidence.
            title: What is told instead of the tensor's name, if anything.
        """
        fix = self._fix(lines - 2)
        left = max(1, lines - 1 - len(fix))
        evidence = self._text(self.finding.evidence, "", min(left, lines - 1))
        return (*self._facts(title), *evidence, *fix)

    def card(self) -> tuple[Line, ...]:
        """Return the title, where it is, the evidence and the fix."""
        evidence = self._text(self.finding.evidence, "")
        return (*self._text(self.finding.title, "strong"), *self._named(), *evidence, *self._fix())

    def why(self, lines: int) -> tuple[Line, ...]:
        """Return why that happens, and the tensors of the chain, as far as lines are left."""
        why = self._text(self.finding.why, "dim", lines)
        return (*why, *self._chain(lines - len(why)))

    def _text(self, text: str, style: str, lines: int = _TEXT_LINES) -> tuple[Line, ...]:
        return paragraph(text, max(10, self.width - 2), style, self.charset, lines)

    def _fix(self, lines: int = _TEXT_LINES) -> tuple[Line, ...]:
        fix = f"fix: {cards.fix(self.finding)}" if self.finding.fix else ""
        return self._text(fix, "good", lines)

    def _facts(self, title: str) -> tuple[Line, ...]:
        """Return which tensor the cause is about, or its title, and where it is."""
        name, facts = self._name_and_place()
        room = max(min(least_width(name), self.width - 2), self.width - cell_len(facts[0][0]) - 5)
        *above, told = (
            [self.charset.sentence(title)] if title else shortened(name, room, self.charset)
        )
        while True:
            line = joined([(f" {told}", "strong"), *facts], f" {self.charset.dot} ")
            if width_of(line) <= self.width or len(facts) == 1:
                break
            facts.pop()  # part of a line's number would be another one
        return *indented(above, 1, "strong"), line

    def _named(self) -> tuple[Line, ...]:
        """Return lines with the whole name of the cause's tensor, and where it is."""
        name, facts = self._name_and_place()
        *begin, end = self.charset.name_lines(name, max(1, self.width - 2), _NAME_LINES)
        parts = [((" ", ""), (end, "strong")), *((fact,) for fact in facts if fact[0])]
        first, *others = in_lines(parts, f" {self.charset.dot} ", self.width - 1)
        above = (((" " + text, "strong"),) for text in begin)
        return (*above, first, *(((" ", ""), *line) for line in others))

    def _name_and_place(self) -> tuple[str, list[Cell]]:
        finding = self.finding
        name = self.charset.safe(self.snapshot.tensor_name(finding.event))
        place = finding.location.short if finding.location else ""
        function = readable_function(finding.graph or "")
        facts = place, iteration_text(finding.iteration), function
        return name, [(self.charset.safe(fact), "dim") for fact in facts]

    def _chain(self, lines: int) -> tuple[Line, ...]:
        """Return the tensors of the chain, one a line, in so many lines at most.

        A suspect has no chain.
        """
        if lines < _LEAST_CHAIN or not self.finding.chain:
            return ()
        room_of_links = lines - 3  # without what stands around them
        shown = self.finding.chain[:room_of_links]
        names = [self.charset.safe(self.snapshot.tensor_name(link.event)) for link in shown]
        room = self.width - BRIEF - 4
        name_width = room if self.width < _WIDE else min(room, max(map(cell_len, names)))
        links = [self._link(*link, name_width) for link in zip(shown, names, strict=True)]
        ends = accumulate(map(len, links))
        fitting = links[: sum(end <= room_of_links for end in ends)]
        more = len(self.finding.chain) - len(fitting)
        cut = (((f" {self.charset.ellipsis} {more:,} more", "faint"),),) if more else ()
        return ((), ((" chain", "dim"),), *chain.from_iterable(fitting), *cut)

    def _link(self, link: Link, name: str, width: int) -> tuple[Line, ...]:
        _, (told, style) = in_brief(link.summary, self.charset)
        is_bad = style == "bad"
        if is_bad:
            beside = width + BRIEF - 1 - least_width(name)
            told = brief_beside(link.summary, self.charset, beside)
        column = Column(told, BRIEF, flush_right=True, stays=is_bad)
        named = with_columns(name, width, [column], self.charset)
        (text,) = named.texts
        values = flush_right(text.strip(), len(text), style)
        return *indented(named.above, 2), (("  " + named.name, ""), *values, ("  ", ""))
