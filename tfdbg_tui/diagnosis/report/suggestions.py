"""Changes of the user's expressions that would have kept tensors finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import TensorEvent, stack_id_of
from tfdbg_tui.diagnosis.locations import Location, location_of, source_lines
from tfdbg_tui.diagnosis.report.loaded import is_loaded
from tfdbg_tui.diagnosis.rules.edits import (
    Occurrence,
    Occurrences,
    for_keras,
    imports_tensorflow,
    suggestion,
)
from tfdbg_tui.wire.events import BUILDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.roots import Causes
    from tfdbg_tui.diagnosis.rules.model import Defect
    from tfdbg_tui.logdir import Layer


class Suggestions:
    """Finds the change of an expression that a rule has for it.

    Args:
        dataflow: Where tensors come from and go to.
        causes: The roots of its alerts.
        layer_of: Returns the layer of a tensor.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        causes: Causes,
        layer_of: Callable[[TensorEvent], Layer | None],
    ) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._causes = causes
        self._layer_of = layer_of
        self._occurrences = Occurrences(dataflow.run, dataflow.timeline.alike)

    def of(self, event: TensorEvent, rule: Defect, called: Location | None) -> str | None:
        """Return the change of the user's expression: where the op, or its inputs, were made.

        Args:
            event: The first bad tensor.
            rule: What explains it.
            called: Where the op was called whose gradient it belongs to.
        """
        if not rule.edits or is_loaded(self._run, event):
            return None
        run = self._run
        inputs = [p.event for p in self._dataflow.producers(event) if p.event]
        places = [
            (location_of(run, stack_id_of(run, place)), self._occurrences.of(place))
            for place in (event, *map(self._dataflow.origin, inputs))
        ]
        for location, occurrence in (*places[:1], (called, None), *places[1:]):
            found = self._at(event, rule, location, occurrence)
            if found is not None:
                return found
        return None

    def at(self, event: TensorEvent, rule: Defect, location: Location | None) -> str | None:
        """Return the change of the user's expression on one line; None where none fits.

        Args:
            event: A bad tensor that the line has made.
            rule: What explains it.
            location: The line.
        """
        return self._at(event, rule, location, self._occurrences.of(event))

    def _at(
        self,
        event: TensorEvent,
        rule: Defect,
        location: Location | None,
        occurrence: Occurrence | None,
    ) -> str | None:
        """Return the change of the user's expression on one line.

        Args:
            event: The first bad tensor.
            rule: What explains it.
            location: The line.
            occurrence: Which one the op is of those that the line makes, where that is known.
        """
        if location is None:
            return None
        summary = self._causes.summary(event)
        dtype = summary.dtype if summary else None
        for host in self._run.hosts:
            lines = source_lines(self._run, host, location.file)
            found = suggestion(
                lines, location.line, rule.edits, occurrence, dtype, location.expression
            )
            if found is not None and (
                not imports_tensorflow(lines) or self._is_symbolic(event, location)
            ):
                found = for_keras(found)
            if found is not None:
                return found
        return None

    def _is_symbolic(self, event: TensorEvent, location: Location) -> bool:
        """Whether a line gives symbolic tensors of Keras 3 to an operation that is no layer."""
        layer = self._layer_of(event)
        return layer is not None and not layer.dtype_policy and BUILDS in location.function
