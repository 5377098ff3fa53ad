"""When the variables of running functions may be read without changing what the program does."""

from __future__ import annotations

import sys

ARE_COPIED = sys.version_info < (3, 13)
"""Whether Python keeps a copy of the variables that are read of a frame."""


def may_be_read() -> bool:
    """Return whether the variables of frames may be read now.

    Where Python copies them, to read them takes back what a debugger has changed.
    """
    return not (ARE_COPIED and sys.gettrace() is not None)
