"""Questions whether a tensor is finite: which of them are asked to leave it out.

A loss scaler asks for NaN in gradients and skips the step, a line search takes a shorter one.  Who
only prints the answer has left out nothing.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import CONTROL
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.locations import frames_of_user
from tfdbg_tui.diagnosis.op_traits import ARRANGES, ASKS, COMBINES_ANSWERS, SELECTS_ELEMENTS
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.roots.bad_use import may_hold_nan
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Set

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.dataflow.neighbours import Node
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertPlace, Summaries

_PASSES_ANSWERS = COMBINES_ANSWERS | ARRANGES | {"All", "Any"}
_ANSWERS = 16  # that come of one question
_AROUND = 16  # executions of a line before one, and after it
_LINES = 100  # executions after one


@dataclass(frozen=True)
class Questions:
    """Tells what is left out by those who ask.

    Attributes:
        dataflow: Where tensors go to.
        summaries: Returns what was recorded of a tensor.
    """

    dataflow: Dataflow
    summaries: Summaries

    def leave_out(self, event: TensorEvent, places: Set[AlertPlace]) -> bool:
        """Whether the program asks whether a tensor is finite, and so leaves it out.

        Who asks for ∞ does not learn of NaN, and who has replaced single elements, and got bad ones
        again, has not left out all.  What Python does with a gradient after that leaves no record;
        with another tensor it may be only told, unless the program has gone on in another way.

        Args:
            event: The tensor.
            places: The places that are bad because of the same root.
        """
        blind = {"IsInf"} if may_hold_nan(self.summaries(event)) else set()
        neighbours = self.dataflow.neighbours
        takers = neighbours.uses(neighbours.of_event(event))
        for use in self.dataflow.consumers(event):
            if use.op_type in ASKS - blind:
                answers = [taker for taker in takers if taker.name == use.name]
                is_gradient = is_backward(self.dataflow.run, event)
                is_decided = is_gradient or self._decides(event, use, answers)
                if is_decided and not any(self._replaces_some(a, places) for a in answers):
                    return True
        return False

    def _decides(self, event: TensorEvent, use: Use, answers: list[Node]) -> bool:
        """Whether a branch, a loop or a select takes an answer, or Python has gone on otherwise.

        Args:
            event: The bad tensor.
            use: The op that asks whether it is finite.
            answers: Its answers, where the tensor itself is asked about.
        """
        if use.event is None and not answers:
            return True  # Out of a list, say: what takes the answer cannot be followed from here.
        followed = Worklist(answers, most=_ANSWERS)
        for answer in followed:
            for taker in self.dataflow.neighbours.uses(answer):
                is_condition = taker.op_type in SELECTS_ELEMENTS and taker.input_slot == 0
                if is_condition or taker.op_type in CONTROL:
                    return True
                if taker.is_boundary or taker.op_type in _PASSES_ANSWERS:
                    followed.add(taker)
        timeline, asked = self.dataflow.timeline, use.event or event
        row: int | None = asked.index
        if asked.kind == "graph_execution":
            row = timeline.execution_of(asked.index)
        return row is not None and self._goes_on_otherwise(row)

    def _goes_on_otherwise(self, row: int) -> bool:
        """Whether other lines have run after an execution than after others of its line."""
        alike = self.dataflow.timeline.alike(row)
        place = int(np.searchsorted(alike, row))
        rows = alike[max(0, place - _AROUND) : place + _AROUND].tolist()
        ends = itertools.pairwise([*rows, len(self.dataflow.run.executions)])
        after = [self._lines(begin + 1, min(end, begin + _LINES)) for begin, end in ends]
        mine = after[rows.index(row)]
        for lines in after:
            known = min(len(lines), len(mine))
            if lines[:known] != mine[:known]:
                return True
            # After the last one the program may have ended.
            if len(lines) != len(mine) and lines is not after[-1] and mine is not after[-1]:
                return True
        return False

    def _lines(self, begin: int, end: int) -> list[Hashable]:
        """Return which lines of the user's some executions are of.

        TensorFlow's way to a function differs in the call that traces it.
        """
        stacks = self.dataflow.run.executions.stack_ids[begin:end].tolist()
        return [self._line_of(stack) for stack in stacks]

    @cached_property
    def _line_of(self) -> Callable[[int], Hashable]:
        def line(stack_id: int) -> Hashable:
            return tuple(frames_of_user(self.dataflow.run.stack(stack_id))) or stack_id

        return cache(line)

    def _replaces_some(self, answer: Node, places: Set[AlertPlace]) -> bool:
        """Whether a select takes an answer for its condition, and what it makes is bad."""
        followed = Worklist([answer], most=_ANSWERS)
        for one in followed:
            for taker in self.dataflow.neighbours.uses(one):
                if taker.op_type in SELECTS_ELEMENTS and taker.input_slot == 0:
                    made = taker.event
                    if made is not None and place_of(self.dataflow.run, made) in places:
                        return True
                elif taker.op_type in COMBINES_ANSWERS:
                    followed.add(taker)
        return False
