"""What a command prints: data on standard output, on standard error how it goes."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar

from tfdbg_tui.cli import colours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Report(Protocol):
    def to_json(self) -> dict[str, object]: ...


R = TypeVar("R", bound=_Report)

_SPELLED = {"∞": "Inf", "−": "-", "→": "->", "×": "x", "·": "-", "…": "...", "±": "+/-"}
SPELLED = "tfdbg_tui.spelled"
"""How a stream without UTF-8 shows what it cannot encode: in ASCII, or as a question mark."""


def _spell(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(_SPELLED.get(character, "?") for character in text), error.end


codecs.register_error(SPELLED, _spell)


class OutputError(Exception):
    """Standard output cannot be written; the message says why."""


def put(text: str) -> bool:
    """Print a text.  Whoever has closed the pipe has seen enough, which is no error.

    Returns:
        Whether anybody may still read.

    Raises:
        OutputError: The text could not be written.
    """
    try:
        print(text, flush=True)
        return True
    except BrokenPipeError:
        silence(sys.stdout)
        return False
    except OSError as error:
        silence(sys.stdout)
        raise OutputError(f"standard output cannot be written: {error.strerror}") from None


def put_report(report: R, in_words: Callable[[R], str], *, as_json: bool) -> None:
    """Print a report: as JSON, or in words, with colours on a terminal.

    Args:
        report: The report.
        in_words: Returns it as text.
        as_json: Whether it is printed as JSON.

    Raises:
        OutputError: It could not be written.
    """
    if as_json:
        put(json.dumps(report.to_json(), indent=2))
    else:
        with as_wide_as_the_terminal():
            text = in_words(report)
        put(colours.coloured(text) if colours.wanted() else text)


@contextlib.contextmanager
def as_wide_as_the_terminal() -> Iterator[None]:
    """Make reports in words fit the terminal that they are for; where it is a pipe they stay."""
    from tfdbg_tui.diagnosis import narrowed

    is_terminal = sys.stdout and sys.stdout.isatty()  # It may be closed.
    with narrowed(shutil.get_terminal_size().columns if is_terminal else sys.maxsize):
        yield


def tell(text: str) -> None:
    """Print a line on standard error that begins with the tool's name."""
    put_error(f"tfdbg-tui: {text}")


def put_error(line: str) -> None:
    """Print a line on standard error; what a logdir has put into it cannot steer the terminal.

    Where nobody can read it, that is no reason not to go on.
    """
    from tfdbg_tui.logdir.text import printable  # With NumPy, which the command's start needs not.

    try:
        print(printable(line), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
