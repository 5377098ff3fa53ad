"""How large the files of a process may become."""

from __future__ import annotations

import contextlib
import shutil


class SizeLimit:
    """Tells when the files are as large as they may be.

    Without a limit of the user's, they may take as much of their disk as they leave free: a program
    that finds the disk full fails, or loses what it saves.  That also holds for several processes
    that write to one disk, each of which then ends with a smaller part.

    Args:
        root: The directory that the files are in.
        gigabytes: The user's limit, in 10⁹ bytes; None for none.
    """

    def __init__(self, root: str, gigabytes: float | None) -> None:
        self._root = root
        self._gigabytes = gigabytes

    def reached_by(self, size: int) -> str:
        """Return why nothing more is to be written, in one sentence; "" where it is.

        Args:
            size: How many bytes the files hold.
        """
        if self._gigabytes is not None:
            reached = size >= self._gigabytes * 1e9
            return f"max_gigabytes={self._gigabytes:g} is reached" if reached else ""
        with contextlib.suppress(OSError):  # no directory of this machine
            free = shutil.disk_usage(self._root).free
            if size > free:
                return (
                    f"its files hold {size / 1e9:.3g} GB and leave {free / 1e9:.3g} GB of their "
                    "disk free (max_gigabytes sets another limit)"
                )
        return ""
