"""Summarising a process that may not be readable: the step that is done for each one of a job."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.fleet.report import Unread
from tfdbg_tui.diagnosis.fleet.summarizing import summarize
from tfdbg_tui.logdir import LogdirError

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary
    from tfdbg_tui.logdir import RunFiles


def summarized(process: RunFiles) -> WorkerSummary | Unread:
    """Return the summary of a process, or why there is none."""
    path = process.file_sets[0].prefix
    try:
        return summarize(process)
    except (LogdirError, OSError) as error:
        return Unread(path, str(error))
    except Exception as error:
        if "TFDBG_TUI_TRACEBACK" in os.environ:
            raise
        return Unread(path, f"cannot be diagnosed: {type(error).__name__}: {error}")
