"""What is not on record of a run, as it is told to users and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not on record, for which a run without bad tensors is not clean.

    Attributes:
        kind: One of the constants in `wire.omissions` or of `gaps`, "killed" or
            "unended".
        text: What is missing, why, and since when.
        remedy: The command, or the line of the program, that would settle it; "" for none.
    """

    kind: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.text}\n{self.remedy}" if self.remedy else self.text

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {"kind": self.kind, "text": self.text, "remedy": self.remedy or None}
