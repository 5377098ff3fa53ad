"""Records what is meant to be trained: variables of layers, and what gradients are asked for."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.tensorflow import variables
from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from tfdbg_tui.dump.record.recorder import Recorder

_MAX_KNOWN = 100_000
"""A program may make variables in every step."""

_CONNECTED, _UNCONNECTED, _LEFT_OUT = range(3)


class VariableRecords:
    """Records each variable once, and again where more is known of it.

    Of what gradients are asked for, it records what is new of one of the variables, and what is
    differentiated in each graph.

    Args:
        recorder: Takes the records.

    Attributes:
        trained: Numbers of the handles of variables of which a gradient was given.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.trained: set[int] = set()
        self._written: dict[int, events.Variable] = {}  # by the number of the handle
        self._layers: dict[int, tuple[weakref.ref[Any], weakref.ref[Any]]] = {}
        self._without_layer: set[int] = set()
        # Pairs of a handle and one of the above, and what is differentiated.
        self._answers: set[Hashable] = set()
        self._seen: set[Hashable] = set()
        self._given: dict[bytes, tuple[set[bytes], set[bytes]]] = {}

    def of_layer(self, number: int, layer: Any) -> None:
        """Note the variables of a layer that is called; those in an inner one are told by that.

        Args:
            number: Number of the layer.
            layer: A Keras layer or a module.
        """
        for variable in variables.of_layer(layer):
            handle = variables.handle_id(variable)
            if handle is not None:
                self._layers[handle] = weakref.ref(layer), weakref.ref(variable)
                trainable = variables.is_trainable(variable, layer)
                self._write(handle, variables.name_of(variable), trainable, layer=number)

    def are_of_no_layer(self, some: Iterable[Any]) -> bool:
        """Return whether any of some variables is of no layer on record; of each it says so once.

        Modules may make their variables when they are called: after they were asked for them.

        Args:
            some: The variables.
        """
        new = {handle for handle, _ in self._with_handles(some)} - self._layers.keys()
        new -= self._without_layer
        if len(self._without_layer) >= _MAX_KNOWN:
            self._without_layer.clear()
        self._without_layer |= new
        return bool(new)

    def created(self, handle: int, slot: variables.Slot) -> None:
        """Note that an optimizer makes a variable.

        Args:
            handle: Number of its handle.
            slot: What it is for.
        """
        of = variables.handle_id(slot.variable)
        if of is not None:
            self._write(handle, slot.name, False, optimizer=slot.optimizer, slot_of=of)

    def gradients_asked(
        self,
        asked: Sequence[Any],
        answers: Sequence[Any],
        watched: Iterable[Any],
        place: events.GradientRequest,
    ) -> None:
        """Note what a tape was asked for.

        Args:
            asked: The variables.
            answers: The gradient of each, or None.
            watched: All trainable variables that it has seen read.
            place: The record, without variables.
        """
        connected = {
            handle: answer is not None
            for handle, answer in zip(map(variables.handle_id, asked), answers, strict=True)
            if handle is not None
        }
        read = dict(self._with_handles(watched))
        key = tuple(connected.items()), tuple(read), place.target_graph_id, place.target_name
        if key in self._seen:
            return
        if max(len(self._seen), len(self._answers)) >= _MAX_KNOWN:
            self._seen.clear()
            self._answers.clear()
        self._seen.add(key)
        self.trained.update(handle for handle in connected if connected[handle])
        place.asked = list(connected)
        place.unconnected = [handle for handle in connected if not connected[handle]]
        place.left_out = [
            handle
            for handle, variable in read.items()
            if handle not in connected and self._may_be_trained(handle, variable)
        ]
        if not self._has_new_answer(place):
            return
        for handle, variable in (*self._with_handles(asked), *read.items()):
            if handle not in self._written:
                self._write(handle, variables.name_of(variable), variables.is_trainable(variable))
        self._define(gradient_request=place.encode())

    def _has_new_answer(self, place: events.GradientRequest) -> bool:
        """Note what became of the variables of a request; return whether anything is new in it."""
        known = len(self._answers)
        connected = set(place.asked).difference(place.unconnected)
        self._answers.add((place.target_graph_id, place.target_name))
        self._answers.update((handle, _CONNECTED) for handle in connected)
        self._answers.update((handle, _UNCONNECTED) for handle in place.unconnected)
        self._answers.update((handle, _LEFT_OUT) for handle in place.left_out)
        return len(self._answers) > known

    def gradients_given(
        self, place: bytes, makers: set[bytes], passed_on: set[bytes], left: list[int]
    ) -> None:
        """Note which eager ops made what a tape has given.

        Args:
            place: Code location of where it was asked.
            makers: Those of the ops.
            passed_on: Those of the ops whose tensors others of the tape took, too.
            left: Numbers of bad tensors of these ops that it neither gave nor used.
        """
        if len(self._given) >= _MAX_KNOWN:
            self._given.clear()
        known, known_passed_on = self._given.get(place) or (set(), set())
        new, new_passed_on = makers - known, passed_on - known_passed_on
        if place not in self._given or new or new_passed_on or left:
            self._given[place] = makers | known, passed_on | known_passed_on
            record = events.GradientsGiven(place, sorted(new), sorted(new_passed_on), left)
            self._define(gradients_given=record.encode())

    def _with_handles(self, some: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        for variable in some:
            handle = variables.handle_id(variable)
            if handle is not None:
                yield handle, variable

    def _may_be_trained(self, handle: int, variable: Any) -> bool:
        """Return whether a variable may be trained, as its layer says."""
        layer, own = (known() for known in self._layers.get(handle, (_nothing, _nothing)))
        return variables.is_trainable(own if own is not None else variable, layer)

    def _write(
        self,
        handle: int,
        name: str,
        trainable: bool,
        *,
        layer: int = 0,
        optimizer: str = "",
        slot_of: int = 0,
    ) -> None:
        record = events.Variable(handle, name, layer, int(trainable), optimizer, slot_of)
        if self._written.get(handle) == record:
            return
        if len(self._written) >= _MAX_KNOWN:
            self._written.clear()
            self._layers.clear()
        self._written[handle] = record
        self._define(variable=record.encode())

    def _define(self, **message: bytes) -> None:
        self._recorder.define(filesets.GRAPHS, events.DebugEvent(**message))  # type: ignore[arg-type]


def _nothing() -> None:
    """Stand for a reference to something that is gone."""
