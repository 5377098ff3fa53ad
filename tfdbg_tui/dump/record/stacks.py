"""Code locations: a stack trace becomes a few bytes that refer to frames on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.record.layers import LayerNumbers
from tfdbg_tui.dump.record.stack_frames import StackFrameRecords, reference_of
from tfdbg_tui.dump.tensorflow import (
    autograph,
    keras_nodes,
    layers,
    locations,
    own_frames,
    tape_hooks,
)
from tfdbg_tui.dump.tensorflow.expressions import running_expression
from tfdbg_tui.dump.tensorflow.locations import Location
from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType, FrameType

    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.record.stack_frames import Frame
    from tfdbg_tui.dump.record.variables import VariableRecords
    from tfdbg_tui.dump.scope import Scope
    from tfdbg_tui.wire.expressions import Expression

_MAX_CACHED_STACKS = 50_000


class _Code(NamedTuple):
    """What is asked about the code of running frames, found out once.

    Attributes:
        code: The code: as long as it is kept, no other gets its id.
        is_text: Whether its names are UTF-8.
        may_call_layer: See `layers.may_call`.
        is_installed: Whether it is of the installation; of AutoGraph's, what it was made of.
    """

    code: CodeType
    is_text: bool
    may_call_layer: bool
    is_installed: bool


class _Stack:
    """A stack of running frames.

    Attributes:
        location: Where in the program that is.
        then: The stack that was asked for after it, if both have been seen before.
    """

    __slots__ = ("_instructions", "location", "then")

    def __init__(self, location: Location) -> None:
        self._instructions: tuple[tuple[CodeType, int], ...] = ()
        self.location = location
        self.then: _Stack | None = None

    def seen_again(self, frame: FrameType) -> None:
        """Note what is compared by `is_of`: most stacks of ops of graphs are seen once."""
        if not self._instructions:
            callers = _callers(frame)
            self._instructions = tuple((caller.f_code, caller.f_lasti) for caller in callers)

    def is_of(self, frame: FrameType | None) -> bool:
        """Return whether a frame and its callers run the same instructions."""
        for code, instruction in self._instructions:
            if frame is None or frame.f_code is not code or frame.f_lasti != instruction:
                return False
            frame = frame.f_back
        return frame is None


class CodeLocations:
    """Finds the code locations of running frames and of ops, and records their stack frames.

    Args:
        recorder: Takes the records.
        host: Name of this machine.
        variables: Records the variables of layers that are called.
        scope: Which ops are recorded.
    """

    def __init__(
        self, recorder: Recorder, host: str, variables: VariableRecords, scope: Scope
    ) -> None:
        self._head = events.CodeLocation(host).encode()
        self._file_set = object()
        self._frames = StackFrameRecords(recorder, host)
        self._stacks: dict[tuple[int, ...], _Stack] = {}
        self._latest: _Stack | None = None
        self._built: dict[tuple[bytes, keras_nodes.Built], bytes] = {}
        # By ids: the hash of a code object takes longer than all the rest, and what is compiled
        # again from the same text, in another file even, is equal.
        self._codes: dict[int, _Code] = {}
        self._references: dict[int, bytes] = {}  # by what `_key` has of a frame
        self._generated: dict[tuple[int, str], bytes] = {}  # by that, and the user's file
        self._scope = scope
        self._layers = LayerNumbers(recorder, variables, scope)

    def here(self, frame: FrameType) -> Location:
        """Return the location of a running frame and its callers.

        Where a line of the program runs again, all that takes time is to find it: mostly after the
        same one as before, else by its key.
        """
        latest = self._latest
        stack = latest.then if latest is not None else None
        if stack is None or not stack.is_of(frame):
            stack = self._found(frame, latest)
        self._latest = stack
        location = stack.location
        varies = location.layer_calls or self._scope.layers
        return self._in_layer(location, frame) if varies else location

    def _found(self, frame: FrameType, latest: _Stack | None) -> _Stack:
        """Return the stack of a frame and its callers by its key.

        Args:
            frame: The frame.
            latest: The stack before.
        """
        key = _key(frame)
        stack = self._stacks.get(key)
        if stack is None:
            return self._add(frame, key)
        stack.seen_again(frame)
        if latest is not None:
            latest.then = stack
        return stack

    def give_back(self) -> None:
        """Let go of what makes it quick to find the location of a line that runs again."""
        self._latest = None
        self._stacks.clear()
        self._built.clear()
        self._codes.clear()
        self._references.clear()
        self._generated.clear()

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
        if (path, line, function) in map(self._frames.frame, frames):
            return location.encoded
        built_at = self._frames.reference((path, line, f"{function}{events.BUILDS}{name})"))
        return b"".join((self._head, *frames[:before], built_at, *frames[before:]))

    def _is_limited_gradient(self, location: Location) -> bool:
        """Return whether a gradient is computed whose layer decides if it is recorded."""
        return bool(self._scope.layers) and location.gradient_depth is not None

    def _add(self, frame: FrameType, key: tuple[int, ...]) -> _Stack:
        """Intern the location of a running frame and its callers, given its key."""
        if len(self._stacks) >= _MAX_CACHED_STACKS:
            self.give_back()
        callers = list(_callers(frame))
        codes = [self._code(caller.f_code) for caller in callers]
        left_out = autograph.files_left_out()
        references = [
            b"" if code.code.co_filename in left_out else self._reference_to(place, caller, code)
            for place, caller, code in zip(key, callers, codes, strict=True)
        ]
        program = tuple(filter(None, reversed(references)))
        may_call = (depth for depth, code in enumerate(codes) if code.may_call_layer)
        calls = layers.call_depths(callers, may_call)
        library_calls = _library_calls(calls, codes, references)
        location = Location(
            self._file_set,
            b"".join((self._head, *program)),
            all(code.is_text for code in codes),
            calls,
            tape_hooks.depth_of_gradient(frame),
            self._scope.has_stack(self._frames.frame(reference) for reference in program),
            library_calls,
            program if library_calls else (),
        )
        stack = self._stacks[key] = _Stack(location)
        return stack

    def _code(self, code: CodeType) -> _Code:
        known = self._codes.get(id(code))
        if known is None:
            known = self._codes[id(code)] = _Code(
                code,
                locations.has_text_names(code),
                layers.may_call(code),
                locations.is_installed(autograph.users_file(code.co_filename)),
            )
        return known

    def _reference_to(self, place: int, frame: FrameType, code: _Code) -> bytes:
        """Return what a CodeLocation names a running frame by; nothing if it is of the writer.

        Args:
            place: What `_key` has of the frame.
            frame: The frame.
            code: Its code.
        """
        known = self._references.get(place)
        if known is not None:
            return known
        if autograph.is_generated(frame.f_code.co_filename):
            return self._reference_to_generated(place, frame, code)
        is_own = frame.f_code.co_filename.startswith(own_frames.OWN_DIRECTORY)
        known = b"" if is_own else self._frames.reference(*_running(frame, code))
        self._references[place] = known
        return known

    def _reference_to_generated(self, place: int, frame: FrameType, code: _Code) -> bytes:
        """Return what a CodeLocation names a frame by that AutoGraph has made.

        One code may be of functions in several files.

        Args:
            place: What `_key` has of the frame.
            frame: The frame.
            code: Its code.
        """
        file = str(frame.f_globals.get("__file__") or "")
        known = self._generated.get((place, file))
        if known is None:
            users = autograph.users_place(*_running(frame, code), file)
            known = self._generated[place, file] = self._frames.reference(*users)
        return known

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

    def ask_layers_again(self) -> None:
        """See `LayerNumbers.ask_again`."""
        self._layers.ask_again()

    def of_frames(self, frames: Iterable[Frame]) -> bytes:
        """Return the serialized CodeLocation of (file, line, function) frames, outermost first."""
        return b"".join((self._head, *map(self._frames.reference, frames)))

    def user_line(self, location: bytes) -> str:
        """Return ``file:line in function`` of the innermost frame of the user's own, or ""."""
        for frame_id in reversed(events.CodeLocation.decode(location).stack_frame_ids):
            path, line, function = self._frames.frame(reference_of(frame_id))
            if not locations.is_installed(path):
                return f"{path}:{line} in {function}"
        return ""


def _running(frame: FrameType, code: _Code) -> tuple[Frame, Expression | None]:
    """Return a running frame, and the expression that it is in if it is of the user's code.

    Args:
        frame: The frame.
        code: Its code.
    """
    path, name = frame.f_code.co_filename, locations.as_text(frame.f_code.co_name)
    # Between two lines, where a handler of a signal may run, Python knows of no line.
    found = path, frame.f_lineno or frame.f_code.co_firstlineno, name
    return found, None if code.is_installed else running_expression(frame)


def _library_calls(
    calls: Iterable[int], codes: Sequence[_Code], references: Sequence[bytes]
) -> tuple[int, ...]:
    """Return `Location.library_calls`.

    Args:
        calls: How many calls out from the innermost frame the calls of layers are, innermost first.
        codes: Those of all frames, innermost first.
        references: What they are named by; nothing for one that is not recorded.
    """
    found, begin = [], 0
    for depth in calls:
        if not references[depth] or not all(code.is_installed for code in codes[begin:depth]):
            break
        found.append(sum(map(bool, references[depth + 1 :])))
        begin = depth
    return tuple(found)


def _forward_layer(frame: FrameType, location: Location) -> int:
    """Return the number of the layer of the op of a graph whose gradient is computed; 0 if none."""
    assert location.gradient_depth is not None
    op = tape_hooks.forward_op(frame, location.gradient_depth)
    noted = locations.noted_location(op) if op is not None else None
    return noted.layer if noted is not None else 0


def _key(frame: FrameType | None) -> tuple[int, ...]:
    """Return what tells apart the stacks of running frames: where their next instructions are.

    A code object holds its instructions, so an offset added to its id is in no other object.
    """
    key: list[int] = []
    while frame is not None:
        key.append(id(frame.f_code) + frame.f_lasti)
        frame = frame.f_back
    return tuple(key)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its callers, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back
