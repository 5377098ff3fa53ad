"""Where the user's own files lie, and how they are made so that nobody else reads them."""

from __future__ import annotations

import os
import tempfile


def config_path(name: str) -> str:
    """Return the path of one of the user's settings, below ``$XDG_CONFIG_HOME`` or ``~/.config``.

    Args:
        name: Name of the file, which need not be there.
    """
    return _user_path("XDG_CONFIG_HOME", ".config", name)


def state_path(name: str) -> str:
    """Return the path of what the app remembers, below ``$XDG_STATE_HOME`` or ``~/.local/state``.

    Args:
        name: Name of the file, which need not be there.
    """
    return _user_path("XDG_STATE_HOME", os.path.join(".local", "state"), name)


def _user_path(variable: str, usual: str, name: str) -> str:
    """Return the path of a file of ours below what a variable names, or the usual directory."""
    parent = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), usual)
    return os.path.join(os.path.expanduser(parent), "tfdbg-tui", name)


def make_private_directory(path: str) -> None:
    """Make a directory, and those above it, for its user only; what is there keeps its mode.

    Raises:
        OSError: It cannot be made.
    """
    above = os.path.dirname(os.path.abspath(path))
    if not os.path.exists(above):  # os.makedirs would leave it to the umask
        make_private_directory(above)
    os.makedirs(path, mode=0o700, exist_ok=True)


def write_whole(path: str, text: str) -> None:
    """Write a file for its user only, so that nobody ever sees a half of it.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    directory = os.path.dirname(path)
    make_private_directory(directory)
    descriptor, temporary = tempfile.mkstemp(dir=directory)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
