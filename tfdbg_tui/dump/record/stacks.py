"""Code locations: a stack trace becomes a few bytes that refer to interned frames and files.

Source text is kept in full for the user's own files.  Files of the Python installation (standard
library and site-packages, so TensorFlow and Keras too) are recorded by path only: they are the
same everywhere, and they are nine tenths of the text in a dump of TensorFlow's.
"""

from __future__ import annotations

import itertools
import linecache
import traceback
import uuid
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.record.layers import LayerNumbers
from tfdbg_tui.dump.tensorflow import (
    autograph,
    keras_nodes,
    layers,
    locations,
    own_frames,
    tape_hooks,
)
from tfdbg_tui.dump.tensorflow.locations import Location
from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import CodeType, FrameType

    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.record.variables import VariableRecords
    from tfdbg_tui.dump.scope import Scope

_MAX_CACHED_STACKS = 50_000

_Frame = tuple[str, int, str]
"""File, line and function."""


class CodeLocations:
    """Interns the stack frames and source files of one file set.

    Args:
        recorder: Takes the records.
        host: Name of this machine.
        variables: Records the variables of layers that are called.
        scope: Which ops are recorded.
    """

    def __init__(
        self, recorder: Recorder, host: str, variables: VariableRecords, scope: Scope
    ) -> None:
        self._recorder = recorder
        self._host = host
        self._head = events.CodeLocation(host).encode()
        # Frame ids must be unique in a run, which may have several file sets.
        self._prefix = uuid.uuid4().hex[:4] + "."
        self._file_set = object()
        self._numbers = itertools.count()
        self._files: dict[str, int] = {}
        self._frames: dict[_Frame, bytes] = {}
        self._stacks: dict[tuple[int, ...], Location] = {}
        self._built: dict[tuple[bytes, keras_nodes.Built], bytes] = {}
        # Code objects whose ids are in a key of `_stacks`, so that no other gets their id.  By id:
        # what is compiled again from the same text, in another file even, is equal.
        self._kept_alive: dict[int, CodeType] = {}
        self._scope = scope
        self._layers = LayerNumbers(recorder, variables, scope)

    def here(self, frame: FrameType) -> Location:
        """Return the location of a running frame and its callers."""
        return self.known(frame) or self.add(frame, locations.extract_stack())

    def known(self, frame: FrameType) -> Location | None:
        """Return the location of a running frame and its callers, if `add` was called for it.

        A line of the program that runs again costs no more than this.
        """
        location = self._stacks.get(_key(frame))
        return self._in_layer(location, frame) if location else None

    def give_back(self) -> None:
        """Let go of what makes it quick to find the location of a line that runs again."""
        self._stacks.clear()
        self._built.clear()
        self._kept_alive.clear()

    def _in_layer(self, location: Location, frame: FrameType) -> Location:
        """Return a location with the layer that is called there this time."""
        if not location.layer_calls and not self._is_limited_gradient(location):
            return location
        with contained():  # What a layer of the program raises costs this fact alone.
            called = layers.called(frame, location.layer_calls)
            number = self._layers.number(called)
            if self._is_limited_gradient(location):
                number = _forward_layer(frame, location) or number
            encoded = self._with_built(location, called) if location.library_calls else location[1]
            # Half the time of _replace.
            return Location(location[0], encoded, *location[2:-1], number)
        return location

    def _with_built(self, location: Location, called: Sequence[Any]) -> bytes:
        """Return the CodeLocation with the line that has put the called layer into its model.

        Args:
            location: Where a library calls layers.
            called: All layers that are called, outermost first.
        """
        for layer, before in zip(reversed(called), location.library_calls, strict=False):
            built = keras_nodes.built_at(layer)
            if built is None:
                continue
            known = self._built.get((location.encoded, built))
            if known is None:
                known = self._inserted(location, before, built)
                self._built[location.encoded, built] = known
            return known
        return location.encoded

    def _inserted(self, location: Location, before: int, built: keras_nodes.Built) -> bytes:
        """Return a CodeLocation with a frame more; as it is, if that is there: it is built now.

        Args:
            location: That of the CodeLocation.
            before: How many of its frames come before.
            built: Where the layer was built.
        """
        path, line, function, name = built
        frames = location.frames
        if self._frames.get((path, line, function)) in frames:
            return location.encoded
        built_at = self._reference((path, line, f"{function}{events.BUILDS}{name})"))
        return b"".join((self._head, *frames[:before], built_at, *frames[before:]))

    def _is_limited_gradient(self, location: Location) -> bool:
        """Return whether a gradient is computed whose layer decides if it is recorded."""
        return bool(self._scope.layers) and location.gradient_depth is not None

    def add(self, frame: FrameType, stack: Iterable[Any] | None) -> Location:
        """Intern the location of a running frame and its callers.

        Args:
            frame: The frame.
            stack: TensorFlow's extraction of it, which knows what AutoGraph's code was made of.
        """
        readable = locations.is_text(frame)
        frames = locations.frames_of(stack) if readable else _python_frames(frame)
        program = [place for place in frames if not place[0].startswith(own_frames.OWN_DIRECTORY)]
        references = tuple(map(self._reference, program))
        calls = layers.call_depths(frame)
        library_calls = _library_calls(frame, calls, program)
        gradient = tape_hooks.depth_of_gradient(frame)
        location = Location(
            self._file_set,
            b"".join((self._head, *references)),
            readable,
            calls,
            gradient,
            self._scope.has_stack(frames),
            library_calls,
            references if library_calls else (),
        )
        if len(self._stacks) >= _MAX_CACHED_STACKS:
            self.give_back()
        for caller, _ in traceback.walk_stack(frame):
            self._kept_alive[id(caller.f_code)] = caller.f_code
        self._stacks[_key(frame)] = location
        return self._in_layer(location, frame)

    def of_op(self, op: Any) -> Location:
        """Return where a graph op was created."""
        location = locations.noted_location(op)
        if location is not None and location.file_set is self._file_set:
            return location
        # Not made while this dump was on.  TensorFlow knows, but keeps each stack that was read.
        frames = locations.frames_of(op.traceback)
        in_places = self._scope.has_stack(frames)
        return Location(self._file_set, self.of_frames(frames), True, in_places=in_places)

    def is_in_scope(self, location: Location, layer: int) -> bool:
        """Return whether what is computed in a place is recorded.

        Args:
            location: The place.
            layer: Number of the layer that it is of; 0 for none.
        """
        return location.in_places and self._layers.is_in_scope(layer)

    def of_frames(self, frames: Iterable[_Frame]) -> bytes:
        """Return the serialized CodeLocation of (file, line, function) frames, outermost first."""
        return b"".join((self._head, *map(self._reference, frames)))

    def user_line(self, location: bytes) -> str:
        """Return ``file:line in function`` of the innermost frame of the user's own, or ""."""
        places = {reference: frame for frame, reference in self._frames.items()}
        for frame_id in reversed(events.CodeLocation.decode(location).stack_frame_ids):
            path, line, function = places[_reference(frame_id)]
            if not locations.is_installed(path):
                return f"{path}:{line} in {function}"
        return ""

    def _reference(self, frame: _Frame) -> bytes:
        """Return what a serialized CodeLocation names a frame by."""
        return self._frames.get(frame) or self._intern(frame)

    def _intern(self, frame: _Frame) -> bytes:
        path, line, function = frame
        file_index = self._file_index(locations.absolute(path), path)
        frame_id = f"{self._prefix}{next(self._numbers):x}"
        place = events.FileLineCol(file_index, line, function)
        payload = events.StackFrameWithId(frame_id, place).encode()
        event = events.DebugEvent(stack_frame_with_id=payload)
        # Two threads may intern one frame twice: harmless, as ids never are shared.
        self._recorder.define(filesets.STACK_FRAMES, event)
        reference = self._frames[frame] = _reference(frame_id)
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


def _reference(frame_id: str) -> bytes:
    return events.CodeLocation.field("stack_frame_ids", [frame_id])


def _library_calls(
    frame: FrameType | None, calls: Iterable[int], frames: Sequence[_Frame]
) -> tuple[int, ...]:
    """Return `Location.library_calls`.

    Args:
        frame: The innermost frame.
        calls: How many calls out from it the calls of layers are, innermost first.
        frames: The frames that are recorded, outermost first: not all that Python has.
    """
    callers = [(caller.f_code, line) for caller, line in traceback.walk_stack(frame)]
    found, begin, end = [], 0, len(frames)
    for depth in calls:
        files = (autograph.users_file(code.co_filename) for code, _ in callers[begin:depth])
        if not all(map(locations.is_installed, files)):
            break
        code, line = callers[depth]
        place = autograph.users_frame((code.co_filename, line, code.co_name))
        at = next((at for at in range(end - 1, -1, -1) if frames[at] == place), None)
        if at is None:
            break
        found.append(at)
        begin, end = depth, at
    return tuple(found)


def _forward_layer(frame: FrameType, location: Location) -> int:
    """Return the number of the layer of the op of a graph whose gradient is computed; 0 if none."""
    assert location.gradient_depth is not None
    op = tape_hooks.forward_op(frame, location.gradient_depth)
    noted = locations.noted_location(op) if op is not None else None
    return noted.layer if noted is not None else 0


def _key(frame: FrameType | None) -> tuple[int, ...]:
    """Return what tells apart the stacks of running frames: where their next instructions are.

    A code object holds its instructions, so an offset added to its id is in no other object.  (The
    hash of a code object takes longer than all the rest; see `_kept_alive`.)
    """
    key: list[int] = []
    while frame is not None:
        key.append(id(frame.f_code) + frame.f_lasti)
        frame = frame.f_back
    return tuple(key)


def _python_frames(frame: FrameType | None) -> list[_Frame]:
    """Return (file, line, function) of a frame and its callers, outermost first."""
    return [
        (caller.f_code.co_filename, line, locations.as_text(caller.f_code.co_name))
        for caller, line in reversed(list(traceback.walk_stack(frame)))
    ]


def _source_lines(path: str, name: str) -> list[str]:
    """Return the text of a Python file, notebook cell or ``-c`` script; [] where there is none."""
    is_script = path.endswith(".py") and name == locations.as_text(name)
    lines = linecache.getlines(path if is_script else name)
    return "".join(lines).split("\n") if lines else []
