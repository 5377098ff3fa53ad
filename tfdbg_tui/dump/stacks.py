"""Code locations: a stack trace becomes a few bytes that refer to interned frames and files.

Source text is kept in full for the user's own files.  Files of the Python installation (standard
library and site-packages, so TensorFlow and Keras too) are recorded by path only: they are the
same everywhere, and they are nine tenths of the text in a dump of TensorFlow's.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import os
import sys
import sysconfig
import traceback
import uuid
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump import tensorflow_internals
from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType

    from tfdbg_tui.dump.recorder import Recorder

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INSTALLATION = tuple(
    os.path.join(os.path.abspath(path), "")
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_paths().get(name))
)
_MAX_CACHED_STACKS = 50_000


class CodeLocations:
    """Interns the stack frames and source files of one file set."""

    def __init__(self, recorder: Recorder, host: str) -> None:
        self._recorder = recorder
        self._host = host
        # Frame ids must be unique in a run, which may have several file sets.
        self._prefix = uuid.uuid4().hex[:4] + "."
        self._numbers = itertools.count()
        self._files: dict[str, int] = {}
        self._frames: dict[tuple[str, int, str], str] = {}
        self._stacks: dict[tuple[int, ...], bytes] = {}
        # Code objects whose ids are in a key of `_stacks`, so that no other gets their id.  By id:
        # what is compiled again from the same text, in another file even, is equal.
        self._kept_alive: dict[int, CodeType] = {}

    def here(self, frame: FrameType | None) -> bytes:
        """Return the serialized CodeLocation of a running frame and its callers.

        The walk compares code objects and instruction offsets, so that a line of the program
        that runs again costs a dictionary look-up.
        """
        innermost = frame
        key: list[int] = []
        append = key.append
        while frame is not None:
            # The hash of a code object takes longer than all the rest; see `_kept_alive`.
            append(id(frame.f_code))
            append(frame.f_lasti)
            frame = frame.f_back
        stack = tuple(key)
        location = self._stacks.get(stack)
        if location is None:
            self._keep_alive(innermost)
            if _is_text(innermost):
                # TensorFlow's extraction maps frames of AutoGraph's generated code to the user's.
                frames = _frames(tensorflow_internals.extract_stack())
            else:
                frames = _python_frames(innermost)
            while frames and frames[-1][0].startswith(_OWN_DIRECTORY):
                frames.pop()
            location = self.of_frames(frames)
            if len(self._stacks) >= _MAX_CACHED_STACKS:
                self._stacks.clear()
                self._kept_alive.clear()
                self._keep_alive(innermost)
            self._stacks[stack] = location
        return location

    def _keep_alive(self, frame: FrameType | None) -> None:
        while frame is not None:
            self._kept_alive[id(frame.f_code)] = frame.f_code
            frame = frame.f_back

    def of_op(self, op: Any) -> bytes:
        """Return the serialized CodeLocation where a graph op was created."""
        return self.of_frames(_frames(op.traceback))

    def of_frames(self, frames: Iterable[tuple[str, int, str]]) -> bytes:
        """Return the serialized CodeLocation of (file, line, function) frames, outermost first."""
        ids = [self._frames.get(frame) or self._intern(frame) for frame in frames]
        return events.CodeLocation(self._host, ids).encode()

    def user_line(self, location: bytes) -> str:
        """Return ``file:line in function`` of the innermost frame of the user's own, or ""."""
        places = {frame_id: frame for frame, frame_id in self._frames.items()}
        for frame_id in reversed(events.CodeLocation.decode(location).stack_frame_ids):
            path, line, function = places[frame_id]
            if not _is_installed(_absolute(path)):
                return f"{path}:{line} in {function}"
        return ""

    def _intern(self, frame: tuple[str, int, str]) -> str:
        path, line, function = frame
        file_index = self._file_index(_absolute(path), path)
        frame_id = f"{self._prefix}{next(self._numbers):x}"
        place = events.FileLineCol(file_index, line, function)
        payload = events.StackFrameWithId(frame_id, place).encode()
        event = events.DebugEvent(stack_frame_with_id=payload)
        # Two threads may intern one frame twice: harmless, as ids never are shared.
        self._recorder.define(filesets.STACK_FRAMES, event)
        self._frames[frame] = frame_id
        return frame_id

    def _file_index(self, path: str, name: str) -> int:
        with self._recorder.definitions_lock:
            index = self._files.get(path)
            if index is None:
                index = self._files[path] = len(self._files)
                lines = [] if _is_installed(path) else _source_lines(path, name)
                payload = events.SourceFile(path, self._host, lines).encode()
                event = events.DebugEvent(source_file=payload)
                self._recorder.define(filesets.SOURCE_FILES, event)
            return index


def without_unreadable(extract_stack: Callable[[int], Any]) -> Callable[[int], Any]:
    """Wrap TensorFlow's `extract_stack`: none where the name of a file or function is not UTF-8.

    Reading such a stack ends the process with a segmentation fault (TensorFlow 2.16 to 2.19), or
    raises.  The program might never read it; the dump reads the stack of every op.
    """

    def extract(stacklevel: int = 1) -> Any:
        return extract_stack(stacklevel + 1) if _is_text(sys._getframe(1)) else None

    # Error messages show the frames that are not in a file of TensorFlow's.
    code = extract.__code__
    extract.__code__ = code.replace(co_filename=extract_stack.__code__.co_filename)
    return extract


def _is_text(frame: FrameType | None) -> bool:
    """Whether the names in a frame and its callers are UTF-8."""
    while frame is not None:
        code = frame.f_code
        for name in (code.co_filename, code.co_name):
            if not name.isascii() and name != _text(name):
                return False
        frame = frame.f_back
    return True


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _python_frames(frame: FrameType | None) -> list[tuple[str, int, str]]:
    """Return (file, line, function) of a frame and its callers, outermost first."""
    return [
        (caller.f_code.co_filename, line, _text(caller.f_code.co_name))
        for caller, line in reversed(list(traceback.walk_stack(frame)))
    ]


def _frames(stack: Iterable[Any] | None) -> list[tuple[str, int, str]]:
    """Return (file, line, function) of the frames of a stack of TensorFlow's."""
    return [(frame.filename, frame.lineno, frame.name) for frame in stack or ()]


def _absolute(path: str) -> str:
    """Return the absolute path of a file, which may stand in a directory that is gone."""
    with contextlib.suppress(OSError):
        path = os.path.abspath(path)
    return _text(path)


def _is_installed(path: str) -> bool:
    return path.startswith(_INSTALLATION) or path.startswith(_OWN_DIRECTORY)


def _source_lines(path: str, name: str) -> list[str]:
    """Return the text of a Python file, notebook cell or ``-c`` script; [] where there is none."""
    lines = linecache.getlines(path if path.endswith(".py") and name == _text(name) else name)
    return "".join(lines).split("\n") if lines else []
