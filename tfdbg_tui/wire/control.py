"""What somebody beside the program asks of its dump writer: a small JSON file in the logdir.

It says how things are to be, not what to do: the writer reads it again when it has changed.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

_NAME = "recording.json"


@dataclass(frozen=True, slots=True)
class Control:
    """How the recording of a run is to go on.

    Attributes:
        recording: Whether anything is recorded.
        values_of: Names of tensors, or source lines, whose elements are recorded.
    """

    recording: bool = True
    values_of: tuple[str, ...] = ()


def control_path(logdir: str) -> str:
    """Return where the file is."""
    return os.path.join(logdir, _NAME)


def encode(control: Control, run_id: str) -> str:
    """Return the text of the file; the id of the run tells it from another in the same logdir."""
    return json.dumps(
        {
            "run_id": run_id,
            "recording": control.recording,
            "values_of": list(control.values_of),
        }
    )


def decode(text: str, run_id: str) -> Control | None:
    """Return what the text of the file says; None where it is about another run.

    Raises:
        ValueError: It is damaged.
    """
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    if found.get("run_id") != run_id:
        return None
    recording, values_of = found.get("recording"), found.get("values_of")
    if not isinstance(recording, bool) or not isinstance(values_of, list):
        raise ValueError("'recording' is true or false, and 'values_of' a list")
    if not all(isinstance(name, str) and name for name in values_of):
        raise ValueError("'values_of' is a list of names")
    return Control(recording, tuple(values_of))
