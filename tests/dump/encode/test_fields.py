"""No field of a record is declared that nobody writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.encode.causes import Cause  # noqa: E402
from tfdbg_tui.dump.encode.traces import Site, whole_tensor_payload  # noqa: E402
from tfdbg_tui.wire import events, filesets, tfrecord  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


@tf.function
def quotients(x: Any, count: int) -> Any:
    for _ in tf.range(count):
        x = x / tf.reduce_max(x - x)
    return tf.split(x, 2)


@tf.function
def refused(x: Any) -> Any:
    tf.debugging.assert_positive(x)
    return x + 1.0


class Half(tf.Module):  # type: ignore[name-defined]
    def __call__(self, x: Any) -> Any:
        return x * 0.5


def program() -> None:
    Half()(tf.constant(1.0))
    tf.math.log(tf.constant([1.0, 0.0])) * 2.0
    tf.greater(tf.constant([1.0, 2.0]), 1.5)
    quotients(tf.constant([1.0, 2.0]), 3)
    tf.data.Dataset.range(3).map(lambda x: x * 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        refused(tf.constant([-1.0, 2.0]))


def fields_of(logdir: Path, suffix: str, message: Any) -> set[str]:
    """Returns the fields that have a value in some record of a file."""
    (path,) = logdir.glob(f"*.{suffix}")
    found, empty = set(), message()
    for _, payload in tfrecord.records(path.read_bytes()):
        event = events.DebugEvent.decode(payload)
        record = message.decode(event.execution or event.graph_execution_trace)
        names = message.__slots__
        found |= {name for name in names if getattr(record, name) != getattr(empty, name)}
    return found


def test_every_field_that_is_declared_is_written(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    for suffix, message in (
        (filesets.EXECUTION, events.Execution),
        (filesets.GRAPH_EXECUTION_TRACES, events.GraphExecutionTrace),
    ):
        assert fields_of(tmp_path, suffix, message) == set(message.__slots__)


def test_the_record_of_a_whole_tensor_lacks_only_what_the_tensor_itself_tells() -> None:
    payload = whole_tensor_payload(Cause(1.0, 2, 3), Site("graph", "op", 1, "device"), 4, b"proto")
    event, empty = events.DebugEvent.decode(payload), events.GraphExecutionTrace()
    trace = events.GraphExecutionTrace.decode(event.graph_execution_trace)
    names = set(events.GraphExecutionTrace.__slots__)
    lacking = {name for name in names if getattr(trace, name) == getattr(empty, name)}
    assert lacking == {"minimum_bits", "maximum_bits", "bad_elements"}
    assert (event.wall_time, event.step) == (1.0, 2)
