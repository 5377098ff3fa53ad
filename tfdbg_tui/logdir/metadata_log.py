"""What a metadata file says of the others: what is not on record, and how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.logdir.events import Omission
from tfdbg_tui.wire import events, filesets, omissions

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile

_RECORD_LIMIT = 1 << 16
_MAX_OMISSIONS = 1000
"""Our writer tells less; what a damaged file tells beyond is left out."""


class MetadataLog:
    """Reads a metadata file as it grows.

    Args:
        file: The file.
        problems: Takes what cannot be read.

    Attributes:
        file_sizes: How many bytes the writer has left in each of the other files, by suffix; empty
            where it has not ended, or has not told it.
    """

    def __init__(self, file: RecordFile, problems: Problems) -> None:
        self._file = file
        self._problems = problems
        self._omissions: dict[Hashable, Omission] = {}
        self.file_sizes: dict[str, int] = {}

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """What is not on record, in the order in which it was noticed first."""
        return tuple(self._omissions.values())

    def read(self) -> None:
        """Read what has been added."""
        for offset, payload in self._file.heads(_RECORD_LIMIT):
            try:
                self._file.check(offset)
                event = events.DebugEvent.decode(payload)
                if event.debug_metadata:
                    sizes = events.DebugMetadata.decode(event.debug_metadata).file_sizes
                    self.file_sizes = dict(zip(filesets.SUFFIXES[1:], sizes, strict=False))
                if event.omission:
                    self._add(event, events.Omission.decode(event.omission))
            except (OSError, ValueError):
                message = f"the record at byte {offset:,} cannot be read; it is left out"
                self._problems.add(self._file.path, message)

    def _add(self, event: events.DebugEvent, found: events.Omission) -> None:
        key = (found.kind, found.what, found.reason, found.graph_id)
        first = self._omissions.get(key)
        if first is None and len(self._omissions) >= _MAX_OMISSIONS:
            return
        self._omissions[key] = Omission(
            kind=found.kind,
            what=found.what,
            reason=found.reason,
            executions=first.executions if first else found.executions,
            traces=first.traces if first else found.traces,
            step=first.step if first else event.step,
            graph_id=found.graph_id or None,
            count=found.count or (found.kind != omissions.ONLY_BAD),
        )
