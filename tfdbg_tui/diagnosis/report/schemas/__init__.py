"""The form of the JSON output: one JSON Schema for each command that has it.

A field may be added at any time; where one goes or changes its meaning, the version goes up.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

SCHEMA_VERSION = 1


def schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema.

    Args:
        name: "info" or "diagnose" for what these commands print; "fleet" for what `diagnose` prints
            of several logdirs or a job, whose findings and gaps have all fields of a single run's.
    """
    content = _read(name)
    if name == "fleet":
        single = _read("diagnose")["$defs"]
        for own, inherited in (("root", "finding"), ("gap_of_workers", "gap")):
            for part in ("properties", "required"):
                content["$defs"][own][part] = _both(
                    single[inherited][part], content["$defs"][own][part]
                )
        content["$defs"] = {**single, **content["$defs"]}
    return content


def _both(one: Any, other: Any) -> Any:
    return {**one, **other} if isinstance(one, dict) else [*one, *other]


def _read(name: str) -> dict[str, Any]:
    text = resources.files(__name__).joinpath(f"{name}.schema.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
