"""What a column of functions says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EAGER = "eager"
"""Said of what ran in no function."""


def told_functions(functions: Sequence[str]) -> list[str]:
    """Return what a column of functions says: nothing where none ran in one."""
    return [""] * len(functions) if set(functions) == {EAGER} else list(functions)
