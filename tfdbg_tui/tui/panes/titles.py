"""What titles over columns, and on chips, mean in the language of filters."""

from __future__ import annotations

_FIELDS = {
    "tensor": "name",
    "op type": "type",
    "function": "fn",
    "-": "neg",
    "0": "zero",
    "+": "pos",
}


def field_of_title(title: str) -> str:
    """Return the field that a title names; the title itself where it is none of them."""
    text = title.partition(" in ")[0].lower().replace("\N{MINUS SIGN}", "-")
    text = text.replace("\N{INFINITY}", "inf")
    return _FIELDS.get(text, text)
