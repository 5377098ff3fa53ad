"""How large the files of a process may become."""

from __future__ import annotations

import contextlib
import shutil

_MORE_SHARE = 5
"""The part of the files, one fifth, that what is bad may add to them."""
_MOST_MORE = 1 << 30
"""Bytes: so much at the most."""


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
        self._most: float | None = None

    @property
    def is_raised(self) -> bool:
        """Whether the files may be larger than at first."""
        return self._most is not None

    def raise_beyond(self, size: int) -> None:
        """Let the files become a fifth larger than they are, once, for what is bad.

        Args:
            size: How many bytes they hold.
        """
        self._most = size + min(size / _MORE_SHARE, _MOST_MORE, self._free())

    def reached_by(self, size: int) -> str:
        """Return why nothing more is to be written, in one sentence; "" where it is.

        Args:
            size: How many bytes the files hold.
        """
        limit, reached = self._gigabytes, f"its files hold {size / 1e9:.3g} GB"
        if limit is not None:
            reached = f"max_gigabytes={limit:g} is reached"
        if self._most is not None:
            return f"{reached}, with what is bad" if size >= self._most else ""
        if limit is not None:
            return reached if size >= limit * 1e9 else ""
        free = self._free()
        if size <= free:
            return ""
        left = f"leave {free / 1e9:.3g} GB of their disk free (max_gigabytes sets another limit)"
        return f"{reached} and {left}"

    def _free(self) -> float:
        """Return how many bytes are free; ∞ in a directory that is not of this machine."""
        with contextlib.suppress(OSError):
            return shutil.disk_usage(self._root).free
        return float("inf")
