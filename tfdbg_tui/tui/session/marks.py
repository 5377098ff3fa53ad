"""Places of a run that the user has marked, each by a letter, and where they are kept."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.tui.session.run_key import key_of_run
from tfdbg_tui.user_files import state_path, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfdbg_tui.logdir import RunFiles


class MarksError(ValueError):
    """Marks cannot be read or kept; the message says why."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked place.

    Attributes:
        place: Where it is, as typed after ``:``.
        name: What was there.
        note: What the user has written; "" for nothing.
    """

    place: str
    name: str
    note: str = ""


def path_of_marks(files: RunFiles) -> str:
    """Return the file that holds the marks of a run."""
    return state_path(os.path.join("marks", f"{key_of_run(files)}.json"))


def read_marks(path: str) -> dict[str, Mark]:
    """Return the marks of a file by their letters; none where there is no file.

    Raises:
        MarksError: It holds something else.
    """
    try:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        return {str(letter): Mark(**fields) for letter, fields in table.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise MarksError(f"{path}: the marks cannot be read: {error}") from error


def write_marks(path: str, marks: Mapping[str, Mark]) -> None:
    """Keep marks.

    Raises:
        MarksError: The file cannot be written.
    """
    table = {letter: asdict(mark) for letter, mark in sorted(marks.items())}
    try:
        write_whole(path, json.dumps(table, indent=1, ensure_ascii=False))
    except OSError as error:
        raise MarksError(f"{path}: the marks cannot be kept: {error.strerror}") from error
