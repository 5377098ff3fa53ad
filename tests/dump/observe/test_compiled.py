"""What XLA compiles: when it is read, in order and not while the program waits; what is told."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump import program_listener  # noqa: E402
from tfdbg_tui.dump.observe import function_ops  # noqa: E402
from tfdbg_tui.dump.observe.compiled import CompiledBuffer  # noqa: E402
from tfdbg_tui.dump.tensorflow import devices  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 20


@tf.function
def plain(x: Any) -> Any:
    return tf.sin(x, name="outside") + compiled(x)


@tf.function(jit_compile=True)
def compiled(x: Any) -> Any:
    return tf.cos(x, name="inside")


def names_of_threads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the names of the threads that read what compiled functions leave, once they have."""
    names: set[str] = set()
    values_in = CompiledBuffer.values_in

    def noting(*args: Any) -> Any:
        names.add(threading.current_thread().name)
        return values_in(*args)

    monkeypatch.setattr(CompiledBuffer, "values_in", noting)
    return names


def run_dumped(root: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(root), "CONCISE_HEALTH", -1)
    for _ in range(CALLS):
        plain(tf.ones([3]))
        compiled(tf.ones([3]))


def is_in_order(root: Path) -> bool:
    dump.disable_dump_debug_info()
    traces = oracle.open_reader(str(root)).graph_execution_traces()
    found = [trace.op_name for trace in traces if trace.op_name in ("inside", "outside")]
    return found == ["outside", "inside", "inside"] * CALLS


def test_no_call_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = names_of_threads(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr("tfdbg_tui.dump.observe.row_queue._queue.drain", lambda: None)
        run_dumped(tmp_path)
    assert not names
    assert is_in_order(tmp_path)
    assert names


def test_a_call_waits_where_it_is_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_listener, "_MOST_LEFT", 1)
    names = names_of_threads(monkeypatch)
    run_dumped(tmp_path)
    assert threading.main_thread().name in names
    assert is_in_order(tmp_path)


@pytest.mark.parametrize("there", [True, False])
def test_that_compiling_takes_long_is_told_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    there: bool,
) -> None:
    def many(x: Any) -> Any:
        for _ in range(8):
            x = tf.cos(x)
        return x

    dump.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    monkeypatch.setattr(function_ops, "_SLOW_TO_COMPILE", 8)
    monkeypatch.setattr(devices, "has_accelerator", lambda: there)
    for function in (many, many, tf.cos):
        tf.function(function, jit_compile=True)(tf.ones([2]))
    dump.disable_dump_debug_info()
    assert sum("XLA compiles many" in text for text in caplog.messages) == there
