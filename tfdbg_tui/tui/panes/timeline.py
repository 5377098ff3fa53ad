"""Python Execution Timeline: one box an execution, an overview of where the alerts are, details."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import readable_function
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.matching import find_number, matches
from tfdbg_tui.tui.panes.overview import overview
from tfdbg_tui.tui.panes.rows import Rows, index_within
from tfdbg_tui.tui.session.focusing import focus_execution, focus_newest, focused_event
from tfdbg_tui.tui.terminal.text import short_device
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.cells import joined
from tfdbg_tui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Hashable

    from textual import events

    from tfdbg_tui.logdir import Execution, TensorSummary
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_BOX = 2
_HOST_WIDTH = 16


class ExecutionRows(Rows):
    """The executions."""

    LISTS_EVENTS = True

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(snapshot.run.executions)

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        return focus.execution

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        return focus_execution(snapshot, focus, row)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `Rows`."""
        executions = snapshot.run.executions
        wanted = [
            matches(text, executions.kind_by_id(i).op_type) for i in range(executions.num_kinds)
        ]
        return find_number(executions.kinds, wanted, start, step)

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: to the stack trace of the execution."""
        if focus.execution is not None:
            focus = focus_execution(snapshot, focus, focus.execution, focus.slot)
        return replace(focus, pane="stack_trace")

    def step_sideways(self, snapshot: Snapshot, focus: Focus, step: int) -> Focus:
        """See `Rows`: to the next box."""
        if focus.execution is None:
            return focus
        last = self.count(snapshot, focus) - 1
        return self.select(snapshot, focus, min(max(0, focus.execution + step), last))

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`."""
        return focus_newest(snapshot, focus, executions_first=True)

    def go_to_number(self, snapshot: Snapshot, focus: Focus, number: int) -> Focus:
        """See `Rows`."""
        return self.select(snapshot, focus, index_within(number, self.count(snapshot, focus)))


class Timeline(Pane):
    """The Python Execution Timeline pane: a page of boxes, read like text."""

    EMPTY = "No eager executions recorded."
    _inputs: frozenset[int] = frozenset()

    def update(self) -> None:
        """See `VirtualList`."""
        self._inputs = self._find_inputs()
        super().update()

    @property
    def stride(self) -> int:
        """Boxes a line."""
        return max(1, (self.line_width - self._label_width - 1) // _BOX)

    @property
    def _label_width(self) -> int:
        return max(4, len(str(self._num_executions)) + 1)

    @property
    def _num_executions(self) -> int:
        snapshot = self.session.snapshot
        return len(snapshot.run.executions) if snapshot else 0

    def count_rows(self) -> int:
        """See `VirtualList`: the number of lines of boxes."""
        return -(-self._num_executions // self.stride)

    def find_cursor(self) -> int | None:
        """See `VirtualList`: the line with the focused execution."""
        focused = self.session.focus.execution
        return None if focused is None else focused // self.stride

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        first = row * self.stride
        focused = self.session.focus.execution
        here = focused is not None and first <= focused < first + self.stride
        inputs = tuple(i for i in self._inputs if first <= i < first + self.stride)
        return focused if here else None, inputs

    def row(self, row: int, width: int) -> tuple[Line, str]:
        """See `VirtualList`."""
        snapshot = self.snapshot
        executions = snapshot.run.executions
        first = row * self.stride
        last = min(first + self.stride, len(executions))
        low, high = executions.alert_rows.searchsorted([first, last])
        bad = set(executions.alert_rows[low:high].tolist())
        cells: list[Cell] = [(f"{first:>{self._label_width}} ", "faint")]
        for index in range(first, last):
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
                cells += [(letter, style), (" ", "")]
        return tuple(cells), ""

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
        lines = [self._facts(snapshot, execution)]
        if execution.unreadable is not None:
            reason = self.charset.safe(f" unreadable: {execution.unreadable}")
            return (*lines, ((reason, "dim"),))
        count = len(execution.outputs) + len(execution.inputs)
        if execution.inputs:  # what made it bad is worth more than many boxes
            room = max(room, min(1 + count, height - 2))
        start = max(0, min(self.session.focus.slot, count - room + 1))
        shown = range(start, min(start + room - 1, count))
        lines += [self._tensor(execution, number) for number in shown]
        return (*lines, *((),) * (room - len(lines)))

    def _facts(self, snapshot: Snapshot, execution: Execution) -> Line:
        count_in, count_out = len(execution.input_tensor_ids), execution.num_outputs
        device = next(iter(execution.output_devices), "")
        first = snapshot.execution(0)
        host = execution.host if len(snapshot.run.hosts) > 1 else ""
        since = execution.wall_time - first.wall_time
        facts = joined(
            [
                (f"{count_in} in {self.charset.right} {count_out} out", "dim"),
                ("" if execution.step is None else f"step {execution.step}", "dim"),
                (self.charset.fit(host, min(len(host), _HOST_WIDTH)), "dim"),
                (self.charset.safe(short_device(device)), "dim"),
                ("" if execution.unreadable or first.unreadable else f"{since:+.3f} s", "dim"),
                (_mode(execution), "dim"),
            ],
            f" {self.charset.dot} ",
        )
        name = self.charset.safe(readable_function(execution.op_type))
        return ((" ", ""), (name, "strong"), (f" {self.charset.dot} ", "faint"), *facts)

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
        total, index = self._num_executions, self.session.focus.execution
        return f"{total:,}" if index is None or not total else f"{index:,} of {total:,}"

    def on_click(self, event: events.Click) -> None:
        """Tell which box was clicked on."""
        offset = event.get_content_offset(self)
        row = self._row_at(offset.y) if offset is not None else None
        if offset is None or row is None:
            return
        box = (offset.x - self._label_width - 1) // _BOX
        index = row * self.stride + box
        if 0 <= box < self.stride and index < self._num_executions:
            self.post_message(VirtualList.RowClicked(self, index))


def _mode(execution: Execution) -> str:
    from tfdbg_tui.wire.modes import mode_name

    return mode_name(execution.mode)


SPEC = PaneSpec(
    name="timeline",
    title="Python Execution Timeline",
    short_title="Exec",
    rows=ExecutionRows(),
    view=Timeline,
    tile=2,
    companion="graph_execution",
    keys=("first_alert", "why", "next_alert", "producer", "consumer"),
    prefix="exec",
    total=lambda snapshot: len(snapshot.run.executions),
    beside_why=frozenset({"wide"}),
)
