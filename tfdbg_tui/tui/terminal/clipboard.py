"""Putting text on the user's clipboard, through SSH and tmux.

The terminal itself is asked to (OSC 52), wherever it runs.  tmux swallows that in its default
configuration, but takes text for its own buffer and passes it on to the terminal.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

_SECONDS = 2.0


def copy(app: App[int], text: str) -> str:
    """Put a text on the clipboard; return where it certainly is, for the user to know.

    Returns:
        ``" (tmux: prefix ])"`` where tmux holds it, else "": a terminal does not answer.
    """
    app.copy_to_clipboard(text)
    if "TMUX" not in os.environ:
        return ""
    try:
        subprocess.run(
            ["tmux", "load-buffer", "-w", "-"],
            input=text.encode(),
            check=True,
            capture_output=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return " (tmux: prefix ])"
