"""Reprs that fit on a screen, whatever a logdir holds."""

from __future__ import annotations

import dataclasses
import reprlib
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 3
_SHORT.maxstring = _SHORT.maxother = 72  # characters


def short_repr(value: Any) -> str:
    """Return the repr of a dataclass with long fields cut; fields that say nothing are left out."""
    shown = (
        f"{field.name}={_SHORT.repr(content)}"
        for field in dataclasses.fields(value)
        if field.repr and (content := getattr(value, field.name)) not in (None, "", ())
    )
    return f"{type(value).__name__}({', '.join(shown)})"
