"""What Linux tells of a process in `/proc/PID/stat`; see proc(5)."""

from __future__ import annotations

STATE = 0
START_TIME = 19
"""Places in what `process_stat` returns."""


def process_stat(pid: int | None) -> list[str]:
    """Return what stands behind the name of a process.

    Raises:
        OSError: There is no such process, or it is not known, or this is not Linux.
    """
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b") ")[2].decode().split()
