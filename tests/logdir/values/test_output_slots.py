"""The true output slots where TensorFlow's writer has left outputs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.logdir.synthetic import execution_record, read, vector_proto, write_logdir
from tfdbg_tui.logdir import TensorSummary
from tfdbg_tui.logdir.values.output_slots import output_slots
from tfdbg_tui.wire import codec, events

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run

FLOAT = vector_proto([-1, -1, 1, 1, 3, 0, 0, 2, 0, 0, 1])  # FULL_HEALTH, float32, two NaNs
INT = b""  # the placeholder of an output that the health modes do not look at


def run_of(tmp_path: Path, op_type: str, num_outputs: int, protos: list[bytes]) -> Run:
    execution = events.Execution(
        op_type, num_outputs, tensor_debug_mode=4, tensor_protos=list(protos)
    )
    return read(write_logdir(tmp_path / "logdir", executions=execution_record(execution) * 20))


@pytest.mark.parametrize(
    ("op_type", "num_outputs", "protos", "slots"),
    [
        ("TensorListPopBack", 2, [FLOAT], [1]),  # the list itself is a variant
        ("TopKV2", 2, [FLOAT], [0]),  # tensor_dtypes excluded the indices
        ("TopKV2", 2, [FLOAT, INT], [0]),
        ("FusedBatchNormV3", 6, [FLOAT] * 6, [0, 1, 2, 3, 4, 5]),
        ("Unique", 2, [FLOAT], [0]),
        ("Merge", 2, [FLOAT], [0]),
    ],
)
def test_known_slots(
    tmp_path: Path, op_type: str, num_outputs: int, protos: list[bytes], slots: list[int]
) -> None:
    run = run_of(tmp_path, op_type, num_outputs, protos)
    execution = run.executions[19]
    bad = [slot for slot, summary in enumerate(execution.outputs) if summary]
    assert execution.slots_known
    assert len(execution.outputs) == num_outputs
    assert bad == slots
    assert run.executions.alert_slots[:].tolist() == bad * 20


def test_unknown_slots_keep_their_order(tmp_path: Path) -> None:
    run = run_of(tmp_path, "__forward_f_12", 4, [FLOAT, INT])
    execution = run.executions[0]
    assert not execution.slots_known
    assert [summary is not None for summary in execution.outputs] == [True, False, False, False]


def test_the_type_of_a_whole_tensor_is_its_own(tmp_path: Path) -> None:
    whole = codec.varint_field(1, 3) + codec.bytes_field(2, b"") + codec.bytes_field(4, bytes(4))
    execution = events.Execution(
        "Add", 1, tensor_debug_mode=7, tensor_protos=[whole], measured_types=[2]
    )
    run = read(write_logdir(tmp_path / "logdir", executions=execution_record(execution)))
    (summary,) = run.executions[0].outputs
    assert summary
    assert summary.dtype == "int32"


def test_more_protos_than_outputs(tmp_path: Path) -> None:
    run = run_of(tmp_path, "Log", 1, [FLOAT, FLOAT])
    assert len(run.executions[0].outputs) == 2


def test_only_one_choice_counts() -> None:
    assert output_slots("TensorListPopBack", 2, [(False, None)]) == (1,)
    assert output_slots("Cast", 2, [(True, None)]) is None
    shape = TensorSummary(mode=5, rank=1, size=2)
    assert output_slots("TopKV2", 2, [(True, shape)]) is None  # SHAPE tells of any type
    assert output_slots("NoSuchOp", 2, [(True, None)]) is None
    assert output_slots("TopKV2", 3, [(True, None)]) is None  # not the op that we know


def test_more_outputs_than_16_bits_count(tmp_path: Path) -> None:
    proto = vector_proto([-1.0, 1.0, 0.0, 0.0, 1.0])
    count = (1 << 16) + 2
    execution = events.Execution(
        "Unpack", count, tensor_debug_mode=3, tensor_protos=[proto] * count
    )
    run = read(write_logdir(tmp_path / "logdir", executions=execution_record(execution)))
    assert len(run.executions[0].outputs) == len(run.executions.alert_rows) == count
    assert {place.slot for place, _ in run.executions.bad_places()} == set(range(count))
