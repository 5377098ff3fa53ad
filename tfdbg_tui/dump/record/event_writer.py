"""From what is queued of events to the bytes in their files; what cannot be encoded is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.encode import batches, executions
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.dump.encode.batches import TraceBatch
    from tfdbg_tui.dump.encode.executions import Execution
    from tfdbg_tui.dump.encode.repetitions import Repeats
    from tfdbg_tui.dump.record.file_set import WrittenFileSet
    from tfdbg_tui.dump.record.held import Events


class EventWriter:
    """Encodes events, and appends them to their files.

    Args:
        files: The files.
        lose: Tells what an error has cost; see `Recorder.lose`.
    """

    def __init__(self, files: WrittenFileSet, lose: Callable[..., Any]) -> None:
        self._files = files
        self._lose = lose

    def write(self, taken: Events, repeats: Repeats) -> None:
        """Write events.

        Args:
            taken: The events.
            repeats: Which graph executions may be written as repetitions of others.
        """
        if taken.traces:
            traces = batches.joined(taken.traces, repeats)
            encoded = [item for batch in traces for item in self._encoded(batch)]
            self._files.traces.extend(encoded)
        if taken.executions:
            self._files.executions.extend(self._encoded_executions(taken.executions))

    def _encoded(self, batch: TraceBatch) -> list[tuple[bytes, int]]:
        try:
            return list(batch.encode())
        except Exception as error:
            what = "graph executions"
            self._lose(omissions.LOST, what, error, batch.graph_id, count=batch.count)
            return []

    def _encoded_executions(self, executed: list[Execution]) -> list[tuple[bytes, int]]:
        encoded = []
        for execution in executed:
            try:
                encoded.append((executions.encoded(*execution), 1))
            except Exception as error:
                self._lose(omissions.LOST, "executions", error)
        return encoded
