"""What is searched for, and how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.query import TextTerm


@dataclass(frozen=True, slots=True)
class Searched:
    """A search in a pane.

    Attributes:
        pane: The pane's name.
        text: What was typed.
        term: What it means.
        total: How many rows match; None until they have been counted.
        number: Which of them the focused row is, from 1; None where it is none.
    """

    pane: str
    text: str
    term: TextTerm
    total: int | None = None
    number: int | None = None
