"""Stack frames and source files: each is recorded once in a file set, and has an id from then on.

Source text is kept in full for the user's own files.  Files of the Python installation (standard
library and site-packages, so TensorFlow and Keras too) are recorded by path only: they are the
same everywhere, and they are nine tenths of the text in a dump of TensorFlow's.
"""

from __future__ import annotations

import itertools
import linecache
import uuid
from typing import TYPE_CHECKING

from tfdbg_tui.dump.tensorflow import locations
from tfdbg_tui.wire import events, expressions, filesets

if TYPE_CHECKING:
    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.wire.expressions import Expression

Frame = tuple[str, int, str]
"""File, line and function."""


class StackFrameRecords:
    """Records the stack frames and source files of one file set.

    Args:
        recorder: Takes the records.
        host: Name of this machine.
    """

    def __init__(self, recorder: Recorder, host: str) -> None:
        self._recorder = recorder
        self._host = host
        # Frame ids must be unique in a run, which may have several file sets.
        self._prefix = uuid.uuid4().hex[:4] + "."
        self._numbers = itertools.count()
        self._files: dict[str, int] = {}
        self._references: dict[tuple[Frame, Expression | None], bytes] = {}
        self._frames: dict[bytes, Frame] = {}

    def reference(self, frame: Frame, expression: Expression | None = None) -> bytes:
        """Return what a serialized CodeLocation names a frame by; records it when it is new.

        Args:
            frame: The frame.
            expression: What it runs of its line, where that is known.
        """
        return self._references.get((frame, expression)) or self._record(frame, expression)

    def frame(self, reference: bytes) -> Frame:
        """Return the frame that a CodeLocation names so."""
        return self._frames[reference]

    def _record(self, frame: Frame, expression: Expression | None) -> bytes:
        path, line, function = frame
        file_index = self._file_index(locations.absolute(path), path)
        frame_id = f"{self._prefix}{next(self._numbers):x}"
        place = events.FileLineCol(file_index, line, func=function)
        payload = expressions.to_frame(frame_id, place, expression)
        event = events.DebugEvent(stack_frame_with_id=payload)
        # Two threads may record one frame twice: harmless, as ids never are shared.
        self._recorder.define(filesets.STACK_FRAMES, event)
        reference = self._references[frame, expression] = reference_of(frame_id)
        self._frames[reference] = frame
        return reference

    def _file_index(self, path: str, name: str) -> int:
        with self._recorder.definitions_lock:
            index = self._files.get(path)
            if index is None:
                index = self._files[path] = len(self._files)
                lines = [] if locations.is_installed(path) else _source_lines(path, name)
                payload = events.SourceFile(path, self._host, lines).encode()
                event = events.DebugEvent(source_file=payload)
                self._recorder.define(filesets.SOURCE_FILES, event)
            return index


def reference_of(frame_id: str) -> bytes:
    """Return what a serialized CodeLocation names the frame with an id by."""
    return events.CodeLocation.field("stack_frame_ids", [frame_id])


def _source_lines(path: str, name: str) -> list[str]:
    """Return the text of a Python file, notebook cell or ``-c`` script; [] where there is none."""
    is_script = path.endswith(".py") and name == locations.as_text(name)
    lines = linecache.getlines(path if is_script else name)
    return "".join(lines).split("\n") if lines else []
