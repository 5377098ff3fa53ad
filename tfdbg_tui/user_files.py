"""Where the user's own files lie."""

from __future__ import annotations

import os
import tempfile


def config_path(name: str) -> str:
    """Return the path of one of the user's settings, below ``$XDG_CONFIG_HOME`` or ``~/.config``.

    Args:
        name: Name of the file, which need not be there.
    """
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
    return os.path.join(os.path.expanduser(config), "tfdbg-tui", name)


def state_path(name: str) -> str:
    """Return the path of what the app remembers, below ``$XDG_STATE_HOME`` or ``~/.local/state``.

    Args:
        name: Name of the file, which need not be there.
    """
    state = os.environ.get("XDG_STATE_HOME") or os.path.join("~", ".local", "state")
    return os.path.join(os.path.expanduser(state), "tfdbg-tui", name)


def write_whole(path: str, text: str) -> None:
    """Write a file for its user only, so that nobody ever sees a half of it.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=directory)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
