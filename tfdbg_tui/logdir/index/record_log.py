"""The index of one file of events: what those of executions and of traces have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.files.wall_times import read_wall_times
from tfdbg_tui.logdir.index.alert_log import AlertLog
from tfdbg_tui.logdir.index.columns import AscendingColumn
from tfdbg_tui.logdir.index.magnitudes import MagnitudeLog

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tfdbg_tui.logdir.definitions.definitions import Definitions
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile
    from tfdbg_tui.logdir.index.columns import Column

_FEW = 8  # records for which setting up a scan is not worth it


class RecordLog(ABC):
    """The index of one file of events, grown chunk by chunk.

    Args:
        file: The file.
        definitions: What its records refer to.
        problems: Where problems are reported.

    Attributes:
        file: The file.
        definitions: What its records refer to.
        problems: Where problems are reported.
        offsets: Where each record starts.
        alerts: Which records hold a NaN or an infinity.
        magnitudes: The largest magnitudes on record.
    """

    def __init__(self, file: RecordFile, definitions: Definitions, problems: Problems) -> None:
        self.file = file
        self.definitions = definitions
        self.offsets = AscendingColumn()
        self.alerts = AlertLog()
        self.magnitudes = MagnitudeLog()
        self.problems = problems

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """The columns that are merged with those of other processes."""

    @abstractmethod
    def ingest(self, chunk: Chunk) -> None:
        """Index the records of a chunk."""

    def wall_times(self, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when some rows were recorded, in seconds since the epoch."""
        return read_wall_times(self.file, self.offsets.view().take(rows))

    def _skip(self, chunk: Chunk, row: int, error: Exception) -> None:
        """Report a record that cannot be read."""
        offset = self.file.stored_offset(int(chunk.offsets[row]))
        self.problems.add_record(self.file.path, offset, error)


def is_worth_scanning(chunk: Chunk) -> bool:
    """Whether a chunk holds enough records to read them all at once."""
    return chunk.large is None and len(chunk) > _FEW
