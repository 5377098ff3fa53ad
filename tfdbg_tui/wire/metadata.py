"""Metadata files as others than their writers need them: what they tell, and adding to them."""

from __future__ import annotations

import os

from tfdbg_tui.wire import tfrecord
from tfdbg_tui.wire.events import DebugEvent, DebugMetadata, Omission

SIZE_LIMIT = 1 << 20
"""What a damaged file has beyond so many bytes is not read."""


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
        found = _events(file.read(SIZE_LIMIT))
    return any(Omission.decode(e.omission).kind == kind for e in found if e.omission)


def has_ended(path: str) -> bool:
    """Return whether the last word of a metadata file on the dump is that it has ended.

    Raises:
        OSError: It cannot be read.
        ValueError: It is damaged.
    """
    with open(path, "rb") as file:
        return says_ended(file.read(SIZE_LIMIT))


def says_ended(data: bytes) -> bool:
    """Return whether the last word of a metadata file's content is that the dump has ended.

    Raises:
        ValueError: It is damaged.
    """
    *_, last = (event.debug_metadata for event in _events(data) if event.debug_metadata)
    return bool(DebugMetadata.decode(last).ended)


def _events(data: bytes) -> list[DebugEvent]:
    return [DebugEvent.decode(payload) for _, payload in tfrecord.records(data)]
