"""Files that are not whole, of a program that was killed or of a logdir that was copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.logdir.synthetic import (
    PREFIX,
    RUN_ID,
    execution_record,
    record,
    vector_proto,
    write_logdir,
)
from tfdbg_tui.cli import run_command
from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from pathlib import Path


def loop(nan: float) -> dict[str, Any]:
    """Returns the record of a function that gives back what a loop has made."""
    found = b""
    for graph_id, result in (("f", "while:0"), ("cond", "Less:0"), ("body", "Log:0")):
        outer = "" if graph_id == "f" else "f"
        found += record(debugged_graph=events.DebuggedGraph(graph_id, graph_id, outer).encode())
        signature = events.GraphSignature(graph_id, f"__inference_{graph_id}_1", ["x:0"], [result])
        found += record(graph_signature=signature.encode())
        op_name = result.partition(":")[0]
        for name in ("x", op_name):
            op_type = {"x": "Placeholder", "while": "While"}.get(name, name)
            op = events.GraphOpCreation(op_type, name, graph_id, graph_id, num_outputs=1)
            op.input_names = ["x:0"] if name == op_name else []
            op.called_graph_ids = ["cond", "body"] if name == "while" else []
            found += record(graph_op_creation=op.encode())
    execution = events.Execution("__inference_f_1", 1, "f", [1], [2], 3)
    execution.tensor_protos = [vector_proto([-1.0, 1.0, 0.0, 0.0, nan])]
    execution.output_tensor_device_ids, execution.serial = [0], 1
    return {"graphs": found, "executions": execution_record(execution)}


@pytest.mark.parametrize("what", ["empty", "missing"])
@pytest.mark.parametrize(("nan", "verdict"), [(0.0, "incomplete"), (1.0, "bad")])
def test_no_trace_after_a_loop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, nan: bool, verdict: str
) -> None:
    logdir = write_logdir(tmp_path / "logdir", **loop(nan))
    written = events.DebugMetadata("2.21.0", "debug.Event:1", RUN_ID, mode_name="CONCISE_HEALTH")
    metadata = record(debug_metadata=written.encode())
    (logdir / f"{PREFIX}.metadata").write_bytes(metadata)  # of this project's writer, not ended
    if what == "missing":
        (file,) = logdir.glob("*.graph_execution_traces")
        file.unlink()
    assert run_command("info", [str(logdir)]) == 0
    assert capsys.readouterr().out
    run_command("diagnose", [str(logdir)])
    assert capsys.readouterr().out.startswith(verdict)


@pytest.mark.parametrize(("kept", "verdict"), [(1, "incomplete"), (2, "clean")])
def test_records_that_were_not_copied_are_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: int, verdict: str
) -> None:
    """Where a file ends between two records nothing but its size tells that it is cut off."""
    execution = events.Execution("Add", 1, "", [], [1], 3)
    execution.tensor_protos = [vector_proto([-1.0, 1.0, 0.0, 0.0, 0.0])]
    execution.output_tensor_device_ids = [0]
    one = execution_record(execution)
    logdir = write_logdir(tmp_path / "logdir", executions=kept * one)
    written = events.DebugMetadata("2.21.0", "debug.Event:1", RUN_ID, mode_name="CONCISE_HEALTH")
    written.ended, written.file_sizes = 1, [0, 0, 0, 2 * len(one), 0]
    metadata = record(debug_metadata=written.encode())
    (logdir / f"{PREFIX}.metadata").write_bytes(metadata)
    run_command("diagnose", [str(logdir)])
    found = capsys.readouterr().out
    assert found.startswith(verdict)
    assert ("execution can be read" in " ".join(found.split())) == (verdict == "incomplete")
