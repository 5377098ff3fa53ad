"""The form of the JSON output: one JSON Schema for each command that has it.

A field may be added at any time; where one goes or changes its meaning, the version goes up.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

SCHEMA_VERSION = 1


def schema(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what ``tfdbg-tui COMMAND --json`` prints: info or diagnose."""
    text = resources.files(__name__).joinpath(f"{command}.schema.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
