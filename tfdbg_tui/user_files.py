"""Where the user's own files lie."""

from __future__ import annotations

import os


def config_path(name: str) -> str:
    """Return the path of one of the user's settings, below ``$XDG_CONFIG_HOME`` or ``~/.config``.

    Args:
        name: Name of the file, which need not be there.
    """
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
    return os.path.join(os.path.expanduser(config), "tfdbg-tui", name)
