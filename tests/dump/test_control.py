"""How recording is changed while the program runs: by calls, and by somebody beside it."""

from __future__ import annotations

import logging
import os
import shutil
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tensorflow.python.eager import context  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.dump.record.control_file import ControlFile  # noqa: E402
from tfdbg_tui.dump.record.files import StraightFile  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402
from tfdbg_tui.user_files import write_whole  # noqa: E402
from tfdbg_tui.wire import omissions  # noqa: E402
from tfdbg_tui.wire.control import Control, control_path, encode  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.tensorflow


@pytest.fixture(autouse=True)
def _disabled() -> Iterator[None]:
    yield
    tfdbg_tui.disable_dump_debug_info()


class Program:
    """A function with a loop, and how often it was traced."""

    def __init__(self) -> None:
        self.traced = 0
        self.function = tf.function(self._compute)

    def _compute(self, x: Any) -> Any:
        self.traced += 1
        y = tf.sin(x, name="wave")
        for _ in tf.range(2):
            y = tf.exp(y * 0.1)
        return tf.cos(y)

    def run(self, step: int) -> None:
        with tfdbg_tui.step(step):
            x = tf.fill([2], float(step))
            self.function(x)


def enable(directory: Path) -> Any:
    return tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1)


def whole(run: tfdbg_tui.Run) -> list[Any]:
    """Returns the name, the step and the elements of each tensor that is recorded whole."""
    traces = run.graph_executions
    rows = [i for i in range(len(traces)) if traces.site(i).mode == TensorDebugMode.FULL_TENSOR]
    return [(traces[i].tensor_name, traces[i].step, traces.tensor(i)) for i in rows]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def test_what_was_off_is_told(tmp_path: Path) -> None:
    enable(tmp_path)
    program = Program()
    for step in range(9):
        with tfdbg_tui.step(step):
            if step in (2, 6):
                tfdbg_tui.set_recording(False)
            if step == 4:
                tfdbg_tui.set_recording(True)
        program.run(step)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    assert sorted({e.step for e in run.executions}) == [0, 1, 4, 5]
    assert sorted({e.step for e in run.graph_executions}) == [0, 1, 4, 5]
    assert program.traced == 1
    assert run.is_paused
    again, end = run.pauses
    assert [run.executions[at].step for at in (again - 1, again)] == [1, 4]
    assert end == len(run.executions)
    report = diagnose(run)
    first, second = (gap.text for gap in report.gaps)
    assert report.verdict == "incomplete"
    before = sum(e.step < 2 for e in run.graph_executions)
    assert f"and {before} graph executions (step 2), as the user has asked for it" in first
    assert ", and on again in step 4" in first
    assert "(step 6), as the user has asked for it, and not on again" in second


def test_what_ran_between_two_dumps_is_told(tmp_path: Path) -> None:
    program = Program()
    for step in range(6):
        if step in (0, 4):
            enable(tmp_path)
        if step == 2:
            tfdbg_tui.disable_dump_debug_info()
        program.run(step)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    assert not run.is_paused
    assert {execution.step for execution in run.executions} == {0, 1, 4, 5}
    report = diagnose(run)
    (gap,) = report.gaps
    assert (report.verdict, gap.kind) == ("incomplete", omissions.PAUSED)
    assert "as the program disabled the dump, and enabled it again later" in gap.text


def test_files_grow_to_their_limit(tmp_path: Path) -> None:
    """In a mode that does not tell what is bad."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "NO_TENSOR", -1, max_gigabytes=3e-4)
    program, ran = Program(), [0]

    def is_full() -> bool:
        for _ in range(20):
            program.run(ran[-1])
            ran.append(ran[-1] + 1)
        return open_run(tmp_path).is_paused

    wait_for(is_full)
    unrecorded = range(ran[-1], ran[-1] + 20)
    assert is_full()
    tfdbg_tui.set_recording(True)
    wait_for(lambda: not is_full())  # Who switches it on again means it.
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    steps = {execution.step for execution in run.executions}
    assert {0, unrecorded.stop} <= steps
    assert not steps.intersection(unrecorded)
    gap = next(gap for gap in diagnose(run).gaps if gap.kind == omissions.PAUSED)
    assert "as max_gigabytes=0.0003 is reached" in gap.text


def run_until_healthy_records_are_dropped(directory: Path, program: Program) -> int:
    """Returns the number of the next step."""
    ran = [0]

    def is_full() -> bool:
        for _ in range(20):
            program.run(ran[-1])
            ran.append(ran[-1] + 1)
        return any(omission.count for omission in open_run(directory).omissions)

    wait_for(is_full)
    is_full()
    return ran[-1]


def test_what_is_bad_is_recorded_though_the_files_are_full(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, max_gigabytes=3e-4)
    program = Program()
    step = run_until_healthy_records_are_dropped(tmp_path, program)
    with tfdbg_tui.step(step):
        program.function(tf.constant([1.0, np.inf]))
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    steps = {execution.step for execution in run.executions}
    assert {0, 1, step - 1, step} <= steps
    assert len(steps) < step
    report = diagnose(run)
    assert (report.verdict, report.gaps) == ("bad", ())
    (root,) = report.roots
    assert root.step == step
    omission, again = run.omissions
    assert (omission.kind, again.kind) == (omissions.ONLY_BAD, omissions.ALL_AGAIN)
    assert not run.only_bad_reason
    assert omission.executions <= len(run.executions)
    (note,) = report.problems
    assert f"{omission.count:,} healthy records, as max_gigabytes=0.0003 is reached" in note


def test_that_only_what_is_bad_is_recorded_is_told_before_anything_is_dropped(
    tmp_path: Path,
) -> None:
    """Who is killed then has lost what waited in memory."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, max_gigabytes=1e-6)
    Program().run(0)
    wait_for(lambda: bool(open_run(tmp_path).only_bad_reason))
    run = open_run(tmp_path)
    assert [omission.count for omission in run.omissions] == [0]
    assert run.has_all_executions
    tfdbg_tui.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert (report.verdict, report.problems) == ("clean", ())


def test_where_writing_fails_what_waits_in_memory_is_not_counted_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, max_gigabytes=3e-4)
    program = Program()
    step = run_until_healthy_records_are_dropped(tmp_path, program)

    def fails(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(StraightFile, "extend", fails)
    with tfdbg_tui.step(step):
        program.function(tf.constant([1.0, np.inf]))
    wait_for(lambda: len(open_run(tmp_path).omissions) == 3)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    (stopped,) = (one for one in run.omissions if one.kind == omissions.STOPPED)
    assert (stopped.executions, stopped.traces) == (len(run.executions), len(run.graph_executions))


def test_what_was_looked_at_and_not_kept_is_clean(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, max_gigabytes=3e-4)
    step = run_until_healthy_records_are_dropped(tmp_path, Program())
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    report = diagnose(run)
    assert (report.verdict, report.gaps) == ("clean", ())
    assert run.executions[-1].step == step - 1
    assert len(report.problems) == 1


def test_a_dump_takes_no_more_of_its_disk_than_it_leaves_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enable(tmp_path)
    program = Program()
    program.run(0)
    free = SimpleNamespace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    step = run_until_healthy_records_are_dropped(tmp_path, program)
    assert "leave 1e-06 GB of their disk free" in open_run(tmp_path).only_bad_reason
    for number in range(step, step + 40):
        with tfdbg_tui.step(number):
            program.function(tf.constant([1.0, np.inf]))
    wait_for(lambda: open_run(tmp_path).is_paused)  # there is no room for all that is bad


def test_tensors_are_recorded_whole_without_tracing_again(tmp_path: Path) -> None:
    enable(tmp_path)
    program = Program()
    line = Program.run.__code__.co_firstlineno + 2
    copies = []
    for step in range(6):
        if step in (1, 4):
            tfdbg_tui.record_values("wave:0", "*/Exp", f"test_control.py:{line}")
        if step in (3, 5):
            tfdbg_tui.record_values()
        program.run(step)
        copies.append(len(context.context().list_function_names()))
    tfdbg_tui.disable_dump_debug_info()
    assert copies[1:] == [copies[1]] * 5  # The same choice has the same functions.
    run = open_run(tmp_path)
    found = [(name, step) for name, step, _ in whole(run)]
    per_step = [("wave:0", 1), ("while/Exp:0", 1), ("while/Exp:0", 1)]
    assert sorted(found) == sorted((name, step) for name, _ in per_step for step in (1, 2, 4))
    values = next(tensor for name, step, tensor in whole(run) if (name, step) == ("wave:0", 2))
    np.testing.assert_allclose(values, np.sin([2.0, 2.0]), rtol=1e-6)
    fills = [e for e in run.executions if e.op_type == "Fill"]
    is_whole = [e.outputs[0].mode == TensorDebugMode.FULL_TENSOR for e in fills]
    assert is_whole == [False, True, True, False, True, False]
    assert program.traced == 1
    assert not run.problems
    assert diagnose(run).verdict == "clean"


def test_names_that_no_tensor_has_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    enable(tmp_path)
    program = Program()
    line = Program.run.__code__.co_firstlineno + 2
    tfdbg_tui.record_values("wave:0", f"test_control.py:{line}", "loss/wave", "train.py:7")
    program.run(0)
    assert not caplog.text
    tfdbg_tui.record_values("Exp")
    assert "nothing was computed that record_values(loss/wave, train.py:7) means" in caplog.text
    caplog.clear()
    tfdbg_tui.disable_dump_debug_info()
    assert "record_values(Exp)" in caplog.text


def test_a_bad_tensor_that_is_recorded_whole_is_bad(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, on_bad="raise")
    tfdbg_tui.record_values("Log")
    log = tf.function(lambda x: tf.math.log(x) * 1.0)
    with pytest.raises(ArithmeticError, match="Log"):
        log(tf.zeros([2]))
    tfdbg_tui.disable_dump_debug_info()
    (root,) = diagnose(open_run(tmp_path)).roots
    assert (root.op_type, root.rule, root.certainty) == ("Log", "log-of-zero", "proved")


def test_the_program_follows_what_is_asked_beside_it(tmp_path: Path) -> None:
    handle = enable(tmp_path)
    program = Program()
    program.run(0)
    text = encode(Control(recording=False, values_of=("wave",)), handle.run_id)
    write_whole(control_path(str(tmp_path)), text)
    wait_for(lambda: open_run(tmp_path).is_paused)
    program.run(1)
    write_whole(control_path(str(tmp_path)), text.replace("false", "true"))
    wait_for(lambda: not open_run(tmp_path).is_paused)
    program.run(2)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    assert sorted({e.step for e in run.executions}) == [0, 2]
    assert [(name, step) for name, step, _ in whole(run)] == [("wave:0", 2)]


@pytest.mark.parametrize("text", ["{", "[" * 60_000, "[]", '{"run_id": "1", "recording": 1}'])
def test_what_is_damaged_is_told_once(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = ControlFile(str(tmp_path), "1")
    write_whole(control_path(str(tmp_path)), text)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert file.changed() is None
            file._looked_at = 0.0
    (record,) = caplog.records
    assert "recording goes on as it was" in record.getMessage()


def test_nobody_follows_links_or_what_is_asked_of_another_run(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(encode(Control(recording=False), "1"))
    os.symlink(tmp_path / "elsewhere", control_path(str(tmp_path)))
    assert ControlFile(str(tmp_path), "1").changed() is None
    os.remove(control_path(str(tmp_path)))
    write_whole(control_path(str(tmp_path)), encode(Control(recording=False), "1"))
    assert ControlFile(str(tmp_path), "2").changed() is None
    assert ControlFile(str(tmp_path), "1").changed() == Control(recording=False)
