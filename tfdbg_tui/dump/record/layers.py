"""Numbers the layers and modules of one file set, as they are called."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.tensorflow import layers
from tfdbg_tui.wire import events, filesets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.dump.record.recorder import Recorder
    from tfdbg_tui.dump.record.variables import VariableRecords
    from tfdbg_tui.dump.scope import Scope

_MAX_OBJECTS = 10_000
_MAX_NUMBERS = 100_000
"""Programs may make modules in every step, each with a name of its own."""


class LayerNumbers:
    """Numbers layers by what is recorded of them, and of those that they are called in.

    So a model that is made again is not another one.

    Args:
        recorder: Takes the records.
        variables: Records the variables of layers.
        scope: Which layers are recorded.
    """

    def __init__(self, recorder: Recorder, variables: VariableRecords, scope: Scope) -> None:
        self._recorder = recorder
        self._variables = variables
        self._scope = scope
        self._paths: dict[int, tuple[str, ...]] = {0: ()}
        self._in_scope = {0} if scope.has_layer(()) else set()
        self._numbers: dict[tuple[int, layers.Description], int] = {}
        # By the number of the outer one and the id of an object, which another may get later.
        self._known: dict[tuple[int, int], tuple[weakref.ref[Any], int]] = {}

    def number(self, called: Iterable[Any]) -> int:
        """Return the number of the innermost of the layers that are called, outermost first."""
        number, outer = 0, None
        for layer in called:
            if layer is outer:
                continue  # the next method of the same
            known = self._known.get((number, id(layer)))
            if known is not None and known[0]() is layer:
                number = known[1]
            else:
                number = self._add(number, outer, layer)
            outer = layer
        return number

    def is_in_scope(self, number: int) -> bool:
        """Return whether what a layer computes is recorded; 0 stands for what is in no layer."""
        return number in self._in_scope

    def ask_again(self) -> None:
        """Have the variables recorded that layers have made since they were called first."""
        for known, number in list(self._known.values()):
            self._ask(number, known())

    def _ask(self, number: int, layer: Any) -> None:
        with contained():  # What a layer raises costs its variables alone.
            self._variables.of_layer(number, layer)

    def _add(self, outer_number: int, outer: Any, layer: Any) -> int:
        key = outer_number, layers.describe(layer, outer)
        with self._recorder.definitions_lock:
            number = self._numbers.get(key)
            if number is None:
                if len(self._numbers) >= _MAX_NUMBERS:
                    return outer_number
                number = self._numbers[key] = len(self._numbers) + 1
                self._paths[number] = (*self._paths[outer_number], key[1].name)
                if self._scope.has_layer(self._paths[number]):
                    self._in_scope.add(number)
                payload = events.Layer(number, *key[:1], *key[1]).encode()
                self._recorder.define(filesets.GRAPHS, events.DebugEvent(layer=payload))
            if len(self._known) >= _MAX_OBJECTS:
                self._known.clear()
            self._known[outer_number, id(layer)] = weakref.ref(layer), number
        self._ask(number, layer)
        return number
