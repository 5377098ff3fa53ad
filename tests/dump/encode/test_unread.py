"""Eager tensors on an accelerator: how often the program waits for it, and what is on record.

No accelerator is needed: tensors in the memory of the host are treated as if they were elsewhere.
"""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tests.dump import device_programs as programs  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump.encode import eager_tensors, unread  # noqa: E402
from tfdbg_tui.dump.tensorflow import device_looks, devices, eager_tensor  # noqa: E402
from tfdbg_tui.wire import events, filesets, tfrecord  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


class Copies:
    """What is copied to the host: value vectors, by the waits for them, and whole tensors."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits = self.tensors = 0
        to_host, elements = device_looks.to_host, eager_tensor.elements

        def counted_wait(vectors: Any) -> Any:
            self.waits += bool(vectors)
            return to_host(vectors)

        def counted_tensor(tensor: Any) -> Any:
            self.tensors += 1
            return elements(tensor)

        monkeypatch.setattr(device_looks, "to_host", counted_wait)
        monkeypatch.setattr("tfdbg_tui.dump.encode.eager_tensors.elements", counted_tensor)


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Iterator[Copies]:
    monkeypatch.setattr(devices, "has_accelerator", lambda: True)
    monkeypatch.setattr(eager_tensors.EagerTensors, "_on_accelerator", lambda *_: True)
    # The writer thread would read at a time of its own.
    monkeypatch.setattr("tfdbg_tui.dump.record.recorder._INTERVAL_SECONDS", 3600.0)
    monkeypatch.setattr("tfdbg_tui.dump.record.recorder.Recorder.write_soon", lambda _: None)
    yield Copies(monkeypatch)
    dump.disable_dump_debug_info()


def enable(root: Path, mode: str = "ADAPTIVE", **options: Any) -> Any:
    return tfdbg_tui.enable_dump_debug_info(str(root), mode, -1, **options)


def executions(root: Path) -> list[tuple[Any, ...]]:
    """Return what is on record of each execution, but for numbers that differ from run to run."""
    dump.disable_dump_debug_info()
    (file_set,) = filesets.find_file_sets(str(root))
    data = Path(file_set.path(filesets.EXECUTION)).read_bytes()
    found = []
    numbers: dict[int, int] = {}
    for _, payload in tfrecord.records(data, check=True):
        execution = events.Execution.decode(events.DebugEvent.decode(payload).execution)
        ids = [*execution.input_tensor_ids, *execution.output_tensor_ids]
        found.append(
            (
                execution.op_type,
                [numbers.setdefault(number, len(numbers)) for number in ids],
                execution.tensor_debug_mode,
                execution.tensor_protos,
                execution.input_tensor_protos,
                repr((execution.minima, execution.maxima)),
                repr((execution.input_minima, execution.input_maxima)),
            )
        )
    return found


def tape_step(x: Any, variable: Any) -> Any:
    with tf.GradientTape() as tape:
        y = x
        for _ in range(10):
            y = tf.tanh(tf.matmul(y, variable))
        loss = tf.reduce_mean(y)
    variable.assign_sub(0.1 * tape.gradient(loss, variable))
    return loss


def test_a_healthy_step_waits_once_and_copies_no_tensor(tmp_path: Path, copies: Copies) -> None:
    x, variable = tf.ones([8, 8]), tf.Variable(tf.eye(8))
    handle = enable(tmp_path)
    tape_step(x, variable)
    assert (copies.waits, copies.tensors) == (0, 0)
    handle.flush()
    assert (copies.waits, copies.tensors) == (1, 0)
    assert len(executions(tmp_path)) > 60


def test_a_healthy_call_of_a_function_waits_once(tmp_path: Path, copies: Copies) -> None:
    function = tf.function(lambda x: (x * 2.0, tf.reduce_sum(x)))
    handle = enable(tmp_path)
    function(tf.ones([100, 100]))
    handle.flush()
    assert (copies.waits, copies.tensors) == (1, 0)


@pytest.mark.parametrize("mode", ["CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "ADAPTIVE"])
def test_the_same_is_on_record_as_of_the_host(
    tmp_path: Path, copies: Copies, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    found = {}
    for place in ("device", "host"):
        there = place == "device"
        monkeypatch.setattr(
            eager_tensors.EagerTensors, "_on_accelerator", lambda *_, there=there: there
        )
        x, variable = tf.constant([[1.0, 0.0]] * 2), tf.Variable([[0.0, 1.0]] * 2)
        enable(tmp_path / place, mode)
        for divisor in (1.0, *[0.0] * 12):
            tape_step(x / divisor, variable)
        tf.split(tf.math.log(x), 2)
        found[place] = executions(tmp_path / place)
    assert copies.waits == (1 if mode == "FULL_HEALTH" else 2)
    assert found["device"] == found["host"]


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
def test_the_extremes_of_each_type_are_on_record_as_of_the_host(
    tmp_path: Path, copies: Copies, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    rows = [[1.5, -2.0, 0.0], [np.inf, 0.0, 1.0], [np.nan, -np.inf, np.inf], [], [3.0]]
    inputs = [tf.constant(row) for row in rows]
    found = {}
    for there in (True, False):
        monkeypatch.setattr(
            eager_tensors.EagerTensors, "_on_accelerator", lambda *_, there=there: there
        )
        enable(tmp_path / str(there), mode, magnitudes_every=1)
        for dtype in programs.FLOATS:
            for x in inputs:
                tf.identity(tf.cast(x, dtype))
        tf.split(inputs[0], 3)
        found[there] = executions(tmp_path / str(there))
    assert (copies.waits, found[True]) == (1 if mode == "FULL_HEALTH" else 2, found[False])
    assert [each[5] for each in found[True]].count("([-2.0], [1.5])") == 11


def test_a_bad_tensor_raises_where_it_is_made(tmp_path: Path, copies: Copies) -> None:
    enable(tmp_path, on_bad="raise")
    with pytest.raises(dump.BadTensorError, match="1 -∞ of 2"):
        tf.math.log([0.0, 1.0])


def test_no_more_is_kept_than_a_bound(
    tmp_path: Path, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "MAX_KEPT_BYTES", 3 * 4000)
    enable(tmp_path)
    x = tf.ones([1000])
    first = weakref.ref(x)
    for _ in range(6):  # An input and an output: 8,000 bytes.
        x = x + 1.0
    gc.collect()
    assert copies.waits == 3
    assert first() is None


def test_a_tape_does_not_see_it(tmp_path: Path, copies: Copies) -> None:
    handle = enable(tmp_path)
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([1.0, 2.0]))
        y = -x
        kept = weakref.ref(y)
        y = -y  # whose derivative does not need it
        handle.flush()
        assert kept() is None
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]
