"""Adding to a metadata file from another process than its writer's."""

from __future__ import annotations

import os

from tfdbg_tui.wire import tfrecord
from tfdbg_tui.wire.events import DebugEvent, Omission


def append(path: str, payload: bytes) -> None:
    """Append one record to a metadata file in a single write, which other writers do not split.

    Raises:
        OSError: The file is not there, or there is no room for the record.
    """
    record = tfrecord.frame(payload)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        if os.write(fd, record) != len(record):
            raise OSError(f"{path}: a record was cut off")
    finally:
        os.close(fd)


def tells(path: str, kind: str) -> bool:
    """Return whether a metadata file has an omission of a kind.

    Raises:
        OSError: It cannot be read.
        ValueError: It is damaged.
    """
    with open(path, "rb") as file:
        decoded = [DebugEvent.decode(payload) for _, payload in tfrecord.records(file.read())]
    return any(Omission.decode(e.omission).kind == kind for e in decoded if e.omission)
