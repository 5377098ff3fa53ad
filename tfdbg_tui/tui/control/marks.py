"""Marks: places with a letter and a note, kept from one session to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.session.marks import Mark, MarksError, path_of_marks, read_marks, write_marks
from tfdbg_tui.tui.widgets.candidates import Candidate

if TYPE_CHECKING:
    from tfdbg_tui.tui.control.parts import Parts


class Marks:
    """The marks of the run that is shown.

    They are read whenever they are needed: another session may have set some.

    Args:
        parts: The app.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def set(self, text: str) -> None:
        """Mark the focused place.

        Args:
            text: A letter, and behind it a note.

        Raises:
            NowhereError: It cannot be marked; the message says why.
        """
        snapshot, focus = self._parts.session.snapshot, self._parts.session.focus
        if snapshot is None or not text:
            return
        letter, note = text[0], text[1:].strip()
        if not letter.isalnum():
            raise navigation.NowhereError(f"a mark is a letter, and not {letter}")
        place = navigation.place_of(snapshot, focus)
        mark = Mark(place, navigation.copy_text(snapshot, focus), note)
        path = path_of_marks(snapshot.run.files)
        try:
            write_marks(path, {**read_marks(path), letter: mark})
        except MarksError as error:
            raise navigation.NowhereError(str(error)) from error
        self._parts.say(f"marked as {letter}: ' and {letter} returns to {place}")

    def place(self, letter: str) -> str:
        """Return the place of a mark, as typed after ``:``.

        Raises:
            NowhereError: There is no such mark.
        """
        marks = self._known()
        if letter not in marks:
            others = f"there are {', '.join(sorted(marks))}" if marks else "m sets one"
            raise navigation.NowhereError(f"no place is marked as {letter}: {others}")
        return marks[letter].place

    def candidates(self, text: str) -> list[Candidate]:
        """Return the marks that there are, until a letter has been typed."""
        if text:
            return []
        try:
            known = self._known()
        except navigation.NowhereError:
            return []  # told where one is asked for
        return [
            Candidate(letter, "  ".join(filter(None, (mark.place, mark.name, mark.note))))
            for letter, mark in sorted(known.items())
        ]

    def _known(self) -> dict[str, Mark]:
        snapshot = self._parts.session.snapshot
        if snapshot is None:
            return {}
        try:
            return read_marks(path_of_marks(snapshot.run.files))
        except MarksError as error:
            raise navigation.NowhereError(str(error)) from error
