"""Python Execution Timeline: a line for each step, one box an execution; overview and details."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import TensorEvent, batch_text, breadcrumb, readable_function
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.event_rows import EventRows
from tfdbg_tui.tui.panes.overview import overview
from tfdbg_tui.tui.panes.step_lines import StepLines
from tfdbg_tui.tui.session.focusing import (
    focus_execution,
    focused_event,
    look_at_execution,
)
from tfdbg_tui.tui.terminal.text import short_device
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.cells import joined, width_of
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow, VirtualList

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from textual import events

    from tfdbg_tui.logdir import Execution, Run, TensorSummary
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_BOX = 2
_LEAST_LABEL = 4  # cells before the boxes of a line
_LEAST_TEXT = 12  # cells behind them, to tell something there
_HOST_WIDTH = 16
_LESS_IMPORTANT = ("mode", "counts", "time")  # of an execution, where not all has room
_FOOT = 6  # lines that a tall pane keeps for the focused execution, so that boxes seldom move


class ExecutionRows(EventRows):
    """The executions."""

    PANE = "timeline"
    KIND = "execution"

    def total(self, snapshot: Snapshot) -> int:
        """See `EventRows`."""
        return len(snapshot.run.executions)

    def focused(self, focus: Focus) -> int | None:
        """See `EventRows`."""
        return focus.execution

    def focus_on(self, snapshot: Snapshot, focus: Focus, index: int) -> Focus:
        """See `EventRows`."""
        return focus_execution(snapshot, focus, index)

    def look(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`."""
        if focus.subject == "execution" or focus.execution is None:
            return focus
        return look_at_execution(snapshot, focus)

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: to the stack trace of the execution."""
        if focus.execution is not None:
            focus = focus_execution(snapshot, focus, focus.execution, focus.slot)
        return replace(focus, pane="stack_trace")

    def step_sideways(self, snapshot: Snapshot, focus: Focus, step: int) -> Focus:
        """See `Rows`: to the next box."""
        position, last = self.position(snapshot, focus), self.count(snapshot, focus) - 1
        if position is None:
            return focus
        return self.select(snapshot, focus, min(max(0, position + step), last))

    def at_overview(self, snapshot: Snapshot, focus: Focus, cell: int, cells: int) -> int | None:
        """Return the row that one of the cells of an overview stands for; None for none.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            cell: Which cell, from 0.
            cells: How many there are.
        """
        if not 0 <= cell < cells:
            return None
        execution = cell * self.total(snapshot) // cells
        listed = self.listed(snapshot, focus)
        row = execution if listed is None else int(listed.rows.searchsorted(execution))
        return row if row < self.count(snapshot, focus) else None


ROWS = ExecutionRows()


class ExecutionTimeline(Pane):
    """The Python Execution Timeline pane: a page of boxes, read like text."""

    EMPTY = "No eager executions recorded."
    _inputs: frozenset[int] = frozenset()
    _steps = StepLines(np.empty(0, np.int64), 1)
    _made_of: Hashable = None

    def update(self) -> None:
        """See `VirtualList`."""
        self._inputs = self._find_inputs()
        super().update()

    @property
    def stride(self) -> int:
        """Boxes a line, at most."""
        return max(1, (self.line_width - self._label_width - 1) // _BOX)

    @property
    def _label_width(self) -> int:
        snapshot = self.session.snapshot
        if snapshot is None:
            return _LEAST_LABEL
        steps = snapshot.run.executions.steps.numbers
        step = len(_step_label(int(steps[-1]))) if len(steps) else 0
        return max(_LEAST_LABEL, len(str(ROWS.total(snapshot))) + 1, step + 1)

    def count_rows(self) -> int:
        """See `VirtualList`: the number of lines of boxes."""
        snapshot, focus = self.session.snapshot, self.session.focus
        if snapshot is None:
            return 0
        made_of = snapshot, ROWS.listing(snapshot, focus), self.stride
        if made_of != self._made_of:
            listed = ROWS.listed(snapshot, focus)
            rows = np.arange(ROWS.total(snapshot)) if listed is None else listed.rows
            marks = snapshot.run.executions.steps.numbers_of(rows)
            self._steps, self._made_of = StepLines(marks, self.stride), made_of
        return len(self._steps)

    def find_cursor(self) -> int | None:
        """See `VirtualList`: the line with the focused execution."""
        position = super().find_cursor()
        return None if position is None else self._steps.line_of(position)

    def distance(self, rows: int) -> int:
        """See `Pane`."""
        position = super().find_cursor()
        if position is None or not len(self._steps):
            return rows
        return self._steps.moved(position, rows) - position

    def _boxes(self, row: int) -> range | Sequence[int]:
        """Return the executions of a line; none where lines have become longer since `update`."""
        boxes = self._steps.boxes(row)
        listed = ROWS.listed(self.snapshot, self.session.focus)
        return boxes if listed is None else listed.rows[boxes.start : boxes.stop].tolist()

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        boxes = self._boxes(row)
        focused = self.session.focus.execution
        inputs = tuple(i for i in self._inputs if i in boxes)
        pauses = tuple(at for at in self.snapshot.run.pauses if at - 1 in boxes)
        return tuple(boxes[:1]), len(boxes), focused if focused in boxes else None, inputs, pauses

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        snapshot = self.snapshot
        executions = snapshot.run.executions
        boxes = self._boxes(row)
        if not boxes:
            return DrawnRow(())
        low, high = executions.alert_rows.searchsorted([boxes[0], boxes[-1] + 1])
        bad = set(executions.alert_rows[low:high].tolist())
        ends = {at - 1: (self.charset.pause, "match") for at in snapshot.run.pauses}
        cells: list[Cell] = [self._label(row, boxes[0])]
        for index in boxes:
            kind = executions.kind(index)
            style = "call-box underline" if kind.is_function else "box"
            if index in bad:
                style = "chip-bad underline" if kind.is_function else "chip-bad"
            elif index in self._inputs:
                style = "input"
            letter = (
                self.charset.safe(readable_function(kind.op_type).lstrip("_"))[:1].upper() or "?"
            )
            if index == self.session.focus.execution:
                cells += [(letter, "focus bold underline"), (self._pointer, "focus")]
            else:
                cells += [(letter, style), ends.get(index, (" ", "faint"))]
        return DrawnRow((*cells, *self._beside(row, width - width_of(tuple(cells)) - 1)))

    def _label(self, row: int, first: int) -> Cell:
        """Return what a line begins with: its step; where none begins, its first execution.

        Args:
            row: The line.
            first: Its first execution.
        """
        step = self._steps.step(row)
        width = self._label_width
        if step is None:
            return (f"{first:>{width}} ", "faint")
        return (f"{_step_label(step):>{width}} ", "dim")

    def _beside(self, row: int, room: int) -> Line:
        """Return what is told of a step behind its boxes: its batch, the functions it calls.

        Args:
            row: The line.
            room: How many cells there are.
        """
        step = self._steps.step(row)
        if step is None or room < _LEAST_TEXT:
            return ()
        executions = self.snapshot.run.executions
        batch = self.snapshot.run.fit_batch(step)
        kinds = (executions.kind(index) for index in self._boxes(row))
        called = dict.fromkeys(readable_function(k.op_type) for k in kinds if k.is_function)
        told = ", ".join(called)
        told = f" {self.charset.dot} ".join(filter(None, (batch and batch_text(batch), told)))
        return ((f" {self.charset.fit(self.charset.safe(told), room)}".rstrip(), "faint"),)

    @property
    def _pointer(self) -> str:
        return "<" if self.charset.ascii_only else "◀"

    def _find_inputs(self) -> frozenset[int]:
        """Return the executions that the focused tensor was computed from."""
        snapshot = self.session.snapshot
        event = focused_event(snapshot, self.session.focus) if snapshot else None
        if snapshot is None or event is None:
            return frozenset()
        made_by = (producer.event for producer in snapshot.producers(event))
        return frozenset(e.index for e in made_by if e and e.kind == "execution")

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: the overview."""
        snapshot = self.snapshot
        start = " " * self._label_width + " "
        bar = overview(snapshot, self.session.focus.execution, width - len(start) - 1, self.charset)
        return (((start, ""), *bar),) if height > 3 else ()

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: the focused execution, its outputs, its inputs where recorded."""
        snapshot, index = self.session.snapshot, self.session.focus.execution
        room = (height - 1) // 2
        if snapshot is None or index is None or not self.row_count or room <= 0:
            return ()
        execution = snapshot.execution(index)
        if execution.unreadable is not None:
            reason = self.charset.safe(f" unreadable: {execution.unreadable}")
            return self._facts(snapshot, execution, width), ((reason, "dim"),)
        outputs, given = len(execution.outputs), enumerate(execution.inputs)
        recorded = [outputs + slot for slot, summary in given if summary is not None]
        tensors = [*range(outputs), *recorded]
        count = len(tensors)
        room = min(room, max(_FOOT, 1 + count))
        if recorded:  # what made it bad is worth more than many boxes
            room = max(room, min(1 + count, height - 2))
        start = max(0, min(self.session.focus.slot, count - room + 1))
        shown = tensors[start : start + room - 1]
        facts = self._facts(snapshot, execution, width * (room - len(shown)))
        lines = [facts, *(self._tensor(execution, number) for number in shown)]
        told = self.on_blank_lines(lines, width, room - len(lines))
        return (*told, *((),) * (room - len(told)))

    def _facts(self, snapshot: Snapshot, execution: Execution, cells: int) -> Line:
        """Return what is told of an execution, without less important facts if that is too long.

        Args:
            snapshot: The run.
            execution: The execution.
            cells: How many there are for it.
        """
        count_in, count_out = len(execution.input_tensor_ids), execution.num_outputs
        device = next(iter(execution.output_devices), "")
        first = snapshot.execution(0)
        host = execution.host if len(snapshot.run.hosts) > 1 else ""
        since = execution.wall_time - first.wall_time
        event = TensorEvent("execution", execution.index, 0)
        facts = {
            "counts": (f"{count_in} in {self.charset.right} {count_out} out", "dim"),
            "pause": ("after a pause" if execution.index in snapshot.run.pauses else "", "match"),
            "step": (snapshot.step_text(event), "dim"),
            "batch": (snapshot.batch_text(event), "dim"),
            "process": (snapshot.process_text(event), "dim"),
            "host": (self.charset.fit(host, min(len(host), _HOST_WIDTH)), "dim"),
            "device": (self.charset.safe(short_device(device)), "dim"),
            "time": ("" if execution.unreadable or first.unreadable else f"{since:+.3f} s", "dim"),
            "mode": (_mode(snapshot.run, execution), "dim"),
            "layer": (self.charset.safe(breadcrumb(execution.layer, self.charset.inside)), "call"),
        }
        name: Cell = (self.charset.safe(readable_function(execution.op_type)), "strong")
        for title in (*_LESS_IMPORTANT, ""):
            line = ((" ", ""), *joined([name, *facts.values()], f" {self.charset.dot} "))
            if width_of(line) <= cells:
                break
            facts.pop(title, None)
        return line

    def _tensor(self, execution: Execution, number: int) -> Line:
        """Return the line of one of the outputs of an execution, or of its inputs after them."""
        slot = number - len(execution.outputs)
        if slot < 0:
            return self._output(execution, number)
        return self._input(slot, execution.inputs[slot])

    def _output(self, execution: Execution, slot: int) -> Line:
        summary = execution.outputs[slot]
        chosen = slot == self.session.focus.slot and len(execution.outputs) > 1
        mark = self.charset.focus if chosen else " "
        return (
            (f" {mark}:{slot}", "focus" if chosen else "dim"),
            *self._values(summary),
        )

    def _input(self, slot: int, summary: TensorSummary | None) -> Line:
        return ((f"  in {slot}", "input"), *self._values(summary))

    def _values(self, summary: TensorSummary | None) -> Line:
        facts = chips.size_and_type(summary)
        return (
            (f" {self.charset.safe(facts)}  " if facts else " ", "dim"),
            *chips.chips(summary, self.charset),
        )

    def summary(self) -> str:
        """See `Pane`."""
        snapshot, index = self.session.snapshot, self.session.focus.execution
        total = ROWS.total(snapshot) if snapshot else 0
        text = f"{total:,}" if index is None or not total else self.index_words(index, total)
        is_counted = snapshot is not None and snapshot.run.executions.steps.counted_by
        counted = f" {self.charset.dot} steps counted" if is_counted else ""
        return self.position_and_filter(text) + counted

    def on_click(self, event: events.Click) -> None:
        """Tell which box was clicked on, or meant by a click on the overview."""
        offset = event.get_content_offset(self)
        if offset is None or self.session.snapshot is None:
            return
        if 0 <= offset.y < len(self._head):
            self._overview_clicked(offset.x - self._label_width - 1)
        row = self._row_at(offset.y)
        if row is None:
            return
        box = (offset.x - self._label_width - 1) // _BOX
        if 0 <= box < len(self._boxes(row)):
            self.post_message(VirtualList.RowClicked(self, self._steps.boxes(row).start + box))

    def _overview_clicked(self, cell: int) -> None:
        cells = self.line_width - self._label_width - 2
        row = ROWS.at_overview(self.snapshot, self.session.focus, cell, cells)
        if row is not None:
            self.post_message(VirtualList.RowClicked(self, row))


def _step_label(step: int) -> str:
    return f"step {step}"


def _mode(run: Run, execution: Execution) -> str:
    """Return the mode as it was asked for: what ADAPTIVE records has the mode of its counts."""
    from tfdbg_tui.wire.modes import TensorDebugMode, mode_name

    counts = execution.mode in (TensorDebugMode.CONCISE_HEALTH, TensorDebugMode.FULL_HEALTH)
    adaptive = counts and run.files.mode_name == "ADAPTIVE"
    return run.files.mode_name if adaptive else mode_name(execution.mode)


SPEC = PaneSpec(
    name="timeline",
    title="Python Execution Timeline",
    short_title="Exec",
    rows=ROWS,
    view=ExecutionTimeline,
    tile=2,
    companions=("graph_execution", "source_code"),
    keys=("first_alert", "why", "next_alert", "producer", "consumer", "filter"),
    prefix="exec",
    total=lambda snapshot: len(snapshot.run.executions),
    beside_why=frozenset({"wide"}),
)
