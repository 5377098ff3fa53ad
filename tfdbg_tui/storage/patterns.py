"""Patterns, as ``workers/*``, on disks and behind URLs."""

from __future__ import annotations

import glob
import os
from fnmatch import filter as fitting

from tfdbg_tui.storage import storage_of, urls


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern, and not the name of something that is there."""
    return glob.has_magic(path) and (urls.is_url(path) or not os.path.exists(path))


def matching(pattern: str) -> list[str]:
    """Return what fits a pattern, in order; of what is behind URLs the directories.

    Raises:
        OSError: It cannot be told what is there.
    """
    if not urls.is_url(pattern):
        return sorted(glob.glob(os.path.expanduser(pattern)))
    server = urls.server_of(pattern)
    found = [server]
    for part in pattern.removeprefix(server).strip("/").split("/"):
        if glob.has_magic(part):
            found = [f"{at}/{name}" for at in found for name in _directories(at, part)]
        else:
            found = [f"{at}/{part}" for at in found]
    return found


def _directories(url: str, pattern: str) -> list[str]:
    try:
        return sorted(fitting(storage_of(url).list(url).directories, pattern))
    except (FileNotFoundError, NotADirectoryError):
        return []
