"""The app beside a program that records: following, pausing, newer runs, the program itself."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual import events

from tfdbg_tui.diagnosis import recording
from tfdbg_tui.logdir import RunReader, list_runs, open_run
from tfdbg_tui.program import Program
from tfdbg_tui.tui.app import TfdbgApp
from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.remap import remapped
from tfdbg_tui.wire import tfrecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from textual.pilot import Pilot

    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.tui.session.session import Session

_EVENTS = ("execution", "graph_execution_traces")


@dataclass
class Writer:
    """Writes a recorded logdir anew, bit by bit: definitions at once, events when it is told."""

    source: Path
    logdir: Path
    host: str = "host"
    _left: dict[Path, bytes] = field(default_factory=dict)

    def start(self) -> None:
        self.logdir.mkdir(exist_ok=True)
        for path in self.source.iterdir():
            suffix = path.name.rpartition(".")[2]
            target = self.logdir / f"tfdbg_events.1700000000.{self.host}.{suffix}"
            target.write_bytes(b"" if suffix in _EVENTS else path.read_bytes())
            if suffix in _EVENTS:
                self._left[target] = path.read_bytes()

    def write(self, parts: int = 1, *, of: int = 10) -> None:
        """Writes some of `of` parts of what is left, torn anywhere."""
        for path, data in self._left.items():
            size = len(data) * parts // of
            with path.open("ab") as file:
                file.write(data[:size])
            self._left[path] = data[size:]


@dataclass
class Watched:
    app: TfdbgApp
    pilot: Pilot[int]

    @property
    def session(self) -> Session:
        return self.app.session

    @property
    def focus(self) -> Focus:
        return self.session.focus

    @property
    def is_read(self) -> bool:
        snapshot = self.session.snapshot
        return bool(snapshot and self.num_traces and snapshot.run.progress.complete)

    @property
    def num_traces(self) -> int:
        snapshot = self.session.snapshot
        return len(snapshot.run.graph_executions) if snapshot else 0

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], object]) -> None:
        for _ in range(800):
            await self.pilot.pause(0.02)
            if condition():
                await self.pilot.pause()
                return
        raise AssertionError(f"{self.session.waiting}\n{self.screen()}")

    async def more_than(self, traces: int) -> None:
        await self.until(lambda: self.num_traces > traces)

    async def grown_beyond(self, count: int) -> None:
        await self.until(lambda: self.session.recording.total > count)

    def screen(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    def recording_line(self) -> str:
        return self.screen().split("\n")[1]


@asynccontextmanager
async def watched(logdir: Path, **options: object) -> AsyncIterator[Watched]:
    app = TfdbgApp(str(logdir), **{"follow": True, **options})  # type: ignore[arg-type]
    async with app.run_test(size=(120, 40)) as pilot:
        yield Watched(app, pilot)


@pytest.fixture
def writer(logdirs: RecordedLogdirs, tmp_path: Path) -> Writer:
    return Writer(logdirs["mnist"], tmp_path / "logdir")


async def test_from_nothing_to_the_end(
    writer: Writer, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "_QUIET_SECONDS", math.inf)  # However busy the machine is.
    async with watched(writer.logdir) as live:
        await live.until(lambda: "Waiting for a program" in live.screen())
        writer.logdir.mkdir()
        await live.until(lambda: "Waiting for a program" in live.screen())
        writer.start()
        await live.until(lambda: live.session.snapshot)
        await live.press("3")
        for of in (10, 5, 2, 1):
            before = live.num_traces
            writer.write(of=of)
            await live.more_than(before)
            assert live.focus.graph_execution == live.num_traces - 1, "the view follows"
            await live.until(lambda: "recording" in live.recording_line())
        await live.until(lambda: live.num_traces == 320)
        assert "495 alerts" in live.screen()
        fresh = open_run(logdirs["mnist"])
        run = live.session.snapshot.run
        assert [trace.tensor_name for trace in run.graph_executions] == [
            trace.tensor_name for trace in fresh.graph_executions
        ]


async def test_keys_before_there_is_a_dump_say_so_and_do_not_stop_following(
    writer: Writer,
) -> None:
    async with watched(writer.logdir) as live:
        await live.until(lambda: "Waiting for a program" in live.screen())
        for key in ("w", "M", "V", "j", "c", "exclamation_mark"):
            await live.press("f1", "escape")  # which ends a message
            await live.press(key)
            assert "there is no dump yet" in live.screen(), key
        assert live.session.following


async def test_any_move_stops_following_and_f_re_attaches(writer: Writer) -> None:
    writer.start()
    writer.write(2)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        await live.press("3", "k")
        assert not live.session.following
        focus, before = live.focus, live.session.recording.mark
        writer.write(5)
        await live.grown_beyond(before)
        await live.until(
            lambda: f"+{live.session.recording.total - before:,} new" in live.recording_line()
        )
        assert live.focus == focus, "the view stays where it is"
        await live.press("5", "2", "3")
        assert not live.session.following
        await live.press("F")
        assert live.session.following
        assert live.focus.graph_execution == live.num_traces - 1
        assert "new, F" not in live.recording_line()
        await live.press("5", "3")
        assert live.session.following, "another pane is not another event"


async def test_both_lists_follow_whatever_pane_has_the_keys(writer: Writer) -> None:
    writer.start()
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.session.snapshot)
        for pane in ("1", "2", "3", "5"):
            await live.press(pane)
            before = live.num_traces
            writer.write(3)
            await live.more_than(before)
            executions = len(live.session.snapshot.run.executions)
            newest = executions - 1, live.num_traces - 1
            assert (live.focus.execution, live.focus.graph_execution) == newest


async def test_what_looks_the_same_is_not_drawn_again(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.start()
    writer.write(2)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read and live.session.snapshot.explanation is not None)
        monkeypatch.setattr(live.app._arrivals, "diagnosed", lambda _: None)  # it marks lines
        await live.press("3", "g")
        drawn = []
        for name in ("source_code", "stack_trace"):
            pane = live.app.parts.main.panes[name]
            pane.refresh = lambda *regions, **_: drawn.append(regions)  # type: ignore[method-assign]
        before = live.num_traces
        writer.write(5)
        await live.until(lambda: live.num_traces > before)
        assert drawn == []


async def test_pause_keeps_the_screen_while_capture_goes_on(writer: Writer) -> None:
    writer.start()
    writer.write(2)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        await live.press("p")
        shown, focus, before = live.num_traces, live.focus, live.session.recording.total
        writer.write(5)
        await live.grown_beyond(before)
        assert (live.num_traces, live.focus) == (shown, focus)
        assert "paused" in live.screen()
        await live.until(lambda: " new" in live.recording_line())
        await live.press("p")
        assert live.num_traces > shown


async def test_the_newest_is_gone_to_from_a_pause(writer: Writer) -> None:
    """`F` is what the line above says of it, also where the app followed before the pause."""
    writer.start()
    writer.write(2)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        before = live.session.recording.total
        await live.press("p")
        writer.write(5)
        await live.grown_beyond(before)
        await live.until(lambda: "new, F follows" in live.recording_line())
        await live.press("F")
        assert live.session.following
        assert not live.session.paused
        assert live.focus.graph_execution == live.num_traces - 1


async def test_what_is_announced_while_paused_is_gone_to(writer: Writer) -> None:
    writer.start()
    writer.write(2)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        assert not live.session.snapshot.alerts
        await live.press("p")
        writer.write(of=1)
        await live.until(lambda: "a goes there" in live.recording_line())
        await live.press("a")
        assert live.focus.graph_execution == 141
        assert not live.session.paused


async def test_no_frame_goes_out_before_the_terminal_has_drawn_the_last(writer: Writer) -> None:
    writer.start()
    writer.write(2)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        live.app.pace.answered()  # this terminal answers
        for of in (5, 2):
            live.app.pace.ask()
            shown = live.num_traces
            writer.write(of=of)
            await live.pilot.pause(0.5)
            assert live.num_traces == shown
            live.app.post_message(events.CursorPosition(0, 0))
            await live.more_than(shown)


async def test_until_bad_stops_at_the_root(writer: Writer) -> None:
    writer.start()
    async with watched(writer.logdir, until_bad=True) as live:
        await live.until(lambda: live.session.snapshot)
        writer.write(of=1)
        await live.until(lambda: not live.session.following)
        assert live.focus.op is not None
        assert live.focus.op.name == "Log"
        assert live.focus.graph_execution == 141


async def test_the_first_bad_tensor_announces_itself_once(writer: Writer) -> None:
    writer.start()
    async with watched(writer.logdir, bell=True) as live:
        rung = []
        live.app.bell = lambda: rung.append(True)  # type: ignore[method-assign]
        await live.until(lambda: live.session.snapshot)
        writer.write(8)
        await live.until(lambda: "first bad tensor Log:0" in live.recording_line())
        await live.press("a")
        assert live.focus.graph_execution == 141
        assert "first bad tensor" not in live.recording_line()
        before = live.session.recording.total
        writer.write(of=1)
        await live.grown_beyond(before)
        assert rung == [True]


async def test_a_newer_run_is_gone_to_at_the_newest_event(
    writer: Writer, logdirs: RecordedLogdirs
) -> None:
    writer.start()
    writer.write(3)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        await live.press("3")
        old = live.session.snapshot.run.files.label
        newer = Writer(logdirs["control_flow"], writer.logdir, host="host2")
        newer.start()
        newer.write(of=1)
        await live.until(lambda: live.session.snapshot.run.files.label != old)
        await live.until(lambda: live.focus.graph_execution == live.num_traces - 1)
        assert live.focus.pane == "graph_execution"


async def test_a_newer_run_is_offered_elsewhere(writer: Writer, logdirs: RecordedLogdirs) -> None:
    writer.start()
    writer.write(3)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        await live.press("3", "g", "j")
        old, focus = live.session.snapshot.run.files.label, live.focus
        newer = Writer(logdirs["control_flow"], writer.logdir, host="host2")
        newer.start()
        newer.write(of=1)
        await live.until(lambda: "a newer run, R opens it" in live.recording_line())
        assert (live.session.snapshot.run.files.label, live.focus) == (old, focus)
        labels = [files.label for files in list_runs(writer.logdir)]
        await live.press("R")
        assert all(label in live.screen() for label in labels)
        await live.press("escape", "R", *(["down"] if labels[-1] == old else []), "enter")
        await live.until(lambda: live.session.snapshot.run.files.label != old)
        assert "a newer run" not in live.recording_line()


async def test_deletion_and_a_new_start_in_the_same_place(
    writer: Writer, logdirs: RecordedLogdirs
) -> None:
    writer.start()
    writer.write(of=1)
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.is_read)
        shutil.rmtree(writer.logdir)
        await live.until(lambda: "deleted" in live.recording_line())
        await live.press("3")
        assert "Log" in live.screen(), "what has been read stays"
        again = Writer(logdirs["control_flow"], writer.logdir, host="again")
        again.start()
        again.write(of=1)
        label = list_runs(writer.logdir)[0].label
        await live.until(lambda: live.session.snapshot.run.files.label == label)


async def test_a_file_that_becomes_shorter_is_told_and_what_was_read_stays(writer: Writer) -> None:
    writer.start()
    writer.write(of=1)
    (traces,) = writer.logdir.glob("*.graph_execution_traces")
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.num_traces == 320)
        os.truncate(traces, traces.stat().st_size // 2)
        await live.until(lambda: "a file became shorter" in live.recording_line())
        assert "ring buffer" not in live.recording_line()
        assert live.num_traces == 320
        assert live.session.snapshot.run.num_alerts == 495


async def test_a_circular_buffer_that_replaces_its_file(writer: Writer) -> None:
    """The focused event keeps its focus while it is there, and loses it when it is not."""
    writer.start()
    writer.write(of=1)
    (traces,) = writer.logdir.glob("*.graph_execution_traces")
    records = [record for _, record in tfrecord.records(traces.read_bytes(), check=False)]
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.num_traces == 320)
        await live.press("3", "G", "k")
        op = live.focus.op
        shown: list[tuple[int, int | None]] = [(100, 98), (1, None)]
        for kept, expected in shown:
            replacement = writer.logdir / "replacement"
            replacement.write_bytes(b"".join(map(tfrecord.frame, records[-kept:])))
            replacement.rename(traces)
            await live.until(lambda kept=kept: live.num_traces == kept)  # type: ignore[misc]
            assert live.focus.graph_execution == expected
            assert live.focus.op == op


async def test_a_ring_that_holds_events_back_is_explained(writer: Writer) -> None:
    writer.start()
    async with watched(writer.logdir) as live:
        await live.press("3")
        await live.until(lambda: "ring buffer holds the events back" in live.recording_line())
        assert "writes them only when the program ends" in live.screen()


def test_the_focus_stays_on_rows_that_late_processes_move(
    tmp_path: Path, logdirs: RecordedLogdirs
) -> None:
    early, late = (Writer(logdirs["mnist"], tmp_path, host=host) for host in ("a", "b"))
    for writer in (early, late):
        writer.start()
    early.write(5)
    late.write(1)
    (files,) = list_runs(tmp_path)
    reader = RunReader(files)
    before = reader.read_all()
    focus = Focus("timeline", execution=len(before.executions) - 1, graph_execution=100)
    places = [before.executions.place(focus.execution), before.graph_executions.place(100)]
    late.write(4, of=9)
    after = reader.read_all()
    moved = remapped(focus, before, after)
    assert moved != focus
    assert [
        after.executions.place(moved.execution),
        after.graph_executions.place(moved.graph_execution),
    ] == places


# ---- A program of its own --------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A program that prints and goes on until it is stopped."""
    (tmp_path / "logdir").mkdir()
    program = Program(str(tmp_path / "logdir"), [])
    script = "import time; print('\\x1b[31mloss\\x1b[0m\\x07 0.5\\r\\nstep 1\\rstep 2', flush=True)"
    with open(program.log_path, "wb") as log:
        program._process = subprocess.Popen(
            [sys.executable, "-c", f"{script}; time.sleep(600)"],
            stdout=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    yield program
    program.stop()


async def test_what_the_program_prints(program: Program, tmp_path: Path) -> None:
    async with watched(tmp_path / "logdir", program=program) as live:
        await live.until(lambda: "the program runs" in live.recording_line())
        await live.press("O")
        await live.until(lambda: "step 2" in live.screen())
        assert "loss" in live.screen()
        assert "step 1" not in live.screen(), "drawn over"
        assert "\x1b" not in live.screen()
        assert "\x07" not in live.screen()
        program.stop()
        await live.until(lambda: "Output of the program: ended" in live.screen())
        await live.press("escape", "q")
        assert not live.app.is_running or live.app._exit


async def test_why_a_program_has_ended_without_a_record(program: Program, tmp_path: Path) -> None:
    async with watched(tmp_path / "logdir", program=program) as live:
        await live.until(lambda: "the program runs" in live.recording_line())
        Path(program.log_path).write_bytes(
            b"  File x.py\nSyntaxError: \x1b[1mnever closed\x1b[0m\n"
        )
        program.stop()
        await live.until(lambda: "before anything was recorded" in live.screen())
        assert "no data yet" not in live.screen()
        assert "O shows what it has printed" in live.screen()
        assert "SyntaxError: never closed" in live.screen()
        assert "Waiting" not in live.screen()


@pytest.mark.parametrize(("key", "runs"), [("s", False), ("l", True), ("enter", True)])
async def test_quitting_asks_what_becomes_of_the_program(
    program: Program, tmp_path: Path, key: str, runs: bool
) -> None:
    async with watched(tmp_path / "logdir", program=program) as live:
        await live.press("q")
        assert "leave it running" in live.screen()
        await live.press("c")
        assert program.running
        assert "leave it running" not in live.screen()
        await live.press("ctrl+c")
        assert "leave it running" in live.screen()
        await live.press(key)
        await live.until(lambda: live.app._exit)
        assert program.running is runs


async def test_nothing_is_asked_of_a_program_that_ends_meanwhile(
    program: Program, tmp_path: Path
) -> None:
    async with watched(tmp_path / "logdir", program=program) as live:
        await live.press("q")
        assert "leave it running" in live.screen()
        program.stop()
        await live.until(lambda: "leave it running" not in live.screen())
        assert not live.app._exit, "what has become of it stays on the screen"
        await live.press("q")
        assert live.app._exit


async def test_output_of_a_program_that_another_debugger_has_started(writer: Writer) -> None:
    writer.start()
    async with watched(writer.logdir) as live:
        await live.until(lambda: live.session.snapshot)
        await live.press("O")
        assert "tfdbg-tui run" in live.app.query_one(KeyBar).message
        run_id = live.session.snapshot.run.files.run_id
        (writer.logdir / f"program.{run_id}.log").write_bytes(b"x" * (1 << 20))
        await live.press("O")
        await live.until(lambda: "more characters" in live.screen())
        await live.press("escape")
        await live.press("q")
        assert live.app._exit
