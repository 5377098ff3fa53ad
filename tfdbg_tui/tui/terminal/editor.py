"""Opening a source line in the user's editor.

The path comes out of a logdir, which is untrusted: ``+!command``, ``-c!command``, ``http://host``
and ``host:file`` mean something to editors.  An absolute path of a regular file does not.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import stat
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_GOTO = ("code", "code-insiders", "codium", "cursor", "windsurf")
_COLON = ("hx", "helix", "subl", "zed")


class EditorError(Exception):
    """A line that cannot be opened in an editor; the message says why."""


def existing_file(path: str) -> str:
    """Return the absolute path, without links, of a file that a logdir names.

    Raises:
        EditorError: It is no regular file of this machine, or its name means something to editors.
    """
    try:
        found = os.sep + os.path.realpath(path, strict=True).lstrip(os.sep)
        is_file = stat.S_ISREG(os.stat(found).st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise EditorError(f"no such file on this machine: {path}")
    if not found.isprintable() or ":" in found.split(os.sep)[1]:
        raise EditorError("the name of this file is not safe to hand to an editor")
    return found


def is_users(file: str, logdirs: Sequence[str]) -> bool:
    """Whether a file lies where the user works, rather than elsewhere or in a logdir itself."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it has been removed
        return False
    in_logdir = any(_is_inside(file, logdir) for logdir in logdirs)
    return here != os.sep and _is_inside(file, here) and not in_logdir


def _is_inside(file: str, directory: str) -> bool:
    return os.path.commonpath([file, os.path.realpath(directory)]) == os.path.realpath(directory)


def command(environ: Mapping[str, str], file: str, line: int) -> list[str]:
    """Return the command that opens a line of a file, as of `existing_file`.

    Where the user has named no editor, that is vi, as for other programs.

    Args:
        environ: The environment.
        file: Path of the file.
        line: Number of the line, from 1.

    Raises:
        EditorError: What the user has named is no command.
    """
    named = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        editor = shlex.split(named)
    except ValueError as error:
        raise EditorError(f"EDITOR is not readable: {error}") from None
    if not any(editor[:1]):
        raise EditorError("set EDITOR to the editor to open the file with")
    name, line = os.path.basename(editor[0]), max(1, line)
    if name in _GOTO:
        return [*editor, "--goto", f"{file}:{line}"]
    if name in _COLON:
        return [*editor, f"{file}:{line}"]
    return [*editor, f"+{line}", file]


def run(command: Sequence[str]) -> str:
    """Run an editor and wait for it; return why it cannot be started, "" where it can.

    Nothing is raised: Textual would not take the terminal back.
    """
    try:
        with _interrupted_alone():
            subprocess.run(command, check=False)
    except OSError as error:
        reason = f"{command[0]}: cannot be started: {error.strerror}"
        return f"{reason}; $EDITOR names the editor"
    return ""


@contextlib.contextmanager
def _interrupted_alone() -> Iterator[None]:
    """Let the keys that interrupt or quit, which reach this process too, be for the editor."""
    numbers = [number for number in signal.Signals if number.name in ("SIGINT", "SIGQUIT")]
    # Functions, as the editor would ignore what this process ignores.
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
