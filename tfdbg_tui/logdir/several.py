"""The runs of several logdirs together."""

from __future__ import annotations

import os
from itertools import takewhile
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.discovery import LogdirError, age, list_runs
from tfdbg_tui.storage.urls import is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.discovery import RunFiles

Unlisted = tuple[str, LogdirError]
"""A path, and why it could not be listed."""


def list_runs_of(logdirs: Sequence[str]) -> tuple[list[RunFiles], list[Unlisted]]:
    """Return the runs of some logdirs, each once, oldest first; and what could not be listed."""
    found: dict[str, RunFiles] = {}
    unlisted = []
    for logdir in logdirs:
        try:
            for run in list_runs(logdir):
                found.setdefault(_real(run.file_sets[0].prefix), run)
        except LogdirError as error:
            unlisted.append((logdir, error))
    return sorted(found.values(), key=age), unlisted


def common_path(logdirs: Sequence[str]) -> str:
    """Return what is above some logdirs, or words for them where nothing is."""
    if len(logdirs) == 1:
        return logdirs[0]
    paths = [path if is_url(path) else os.path.abspath(path) for path in logdirs]
    parts = zip(*(path.split("/") for path in paths), strict=False)
    above = [names[0] for names in takewhile(lambda names: len(set(names)) == 1, parts)]
    if any(above[1:]):
        return "/".join(above)
    return f"{logdirs[0]} and {len(logdirs) - 1:,} more"


def _real(prefix: str) -> str:
    return prefix if is_url(prefix) else os.path.realpath(prefix)
