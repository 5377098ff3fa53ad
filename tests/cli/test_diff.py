"""`tfdbg-tui diff`: what two runs of a program have in common, and what not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.logdir.synthetic import TRACE, record, trace_record, vector_proto, write_logdir
from tfdbg_tui.cli import main
from tfdbg_tui.logdir import list_runs
from tfdbg_tui.wire import events
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


def logdir(directory: Path, health: str, op_name: str = "Log") -> str:
    """Writes a run in which a tensor is computed once for each letter: good, bad, or not told."""
    traces = b"".join(trace_record(_trace(letter, op_name)) for letter in health)
    graph = events.DebuggedGraph(TRACE.tfdbg_context_id, "f", "")
    op = events.GraphOpCreation(op_name, op_name, graph_id=TRACE.tfdbg_context_id)
    graphs = record(debugged_graph=graph.encode()) + record(graph_op_creation=op.encode())
    return str(write_logdir(directory, traces=traces, graphs=graphs))


def _trace(letter: str, op_name: str) -> Any:
    if letter == "?":
        return replace(
            TRACE, op_name=op_name, tensor_debug_mode=TensorDebugMode.NO_TENSOR, tensor_proto=b""
        )
    proto = vector_proto([-1.0, 3.0, 0.0, 0.0, float(letter == "b")])
    mode = TensorDebugMode.CONCISE_HEALTH
    return replace(TRACE, op_name=op_name, tensor_debug_mode=mode, tensor_proto=proto)


def compared(first: str, second: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    exit_code = main(["diff", first, second, "--json"])
    return exit_code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("first", "second", "exit_code", "in_second", "in_first", "uncompared"),
    [
        ("ggb", "gbb", 1, [2], [], 0),
        ("gbg", "ggb", 1, [3], [2], 0),
        ("gb", "gb", 0, [], [], 0),
        ("g", "gb", 3, [], [], 1),  # the first run had ended
        ("??", "gb", 3, [], [], 1),  # the first run does not tell
        ("gb", "gbb", 0, [], [], 0),
    ],
)
def test_the_first_computation_that_differs_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    first: str,
    second: str,
    exit_code: int,
    in_second: list[int],
    in_first: list[int],
    uncompared: int,
) -> None:
    paths = logdir(tmp_path / "first", first), logdir(tmp_path / "second", second)
    told, found = compared(*paths, capsys)
    assert [one["computation"] for one in found["bad_in_second"]] == in_second
    assert [one["computation"] for one in found["bad_in_first"]] == in_first
    assert (told, found["uncompared"]) == (exit_code, uncompared)


def test_other_tensors_are_not_called_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = logdir(tmp_path / "first", "gg"), logdir(tmp_path / "second", "gg", "Exp")
    assert main(["diff", *paths]) == 3
    out = capsys.readouterr().out
    assert "not compared: the two have no tensor in common" in out
    assert "1 tensor is only in the first" in out


def test_what_is_bad_and_only_in_one_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = logdir(tmp_path / "first", "ggg", "Exp"), logdir(tmp_path / "second", "gbb")
    exit_code, found = compared(*paths, capsys)
    assert exit_code == 3, "names may have moved"
    assert found["bad_only_in_first"] == []
    (only,) = found["bad_only_in_second"]
    assert (only["name"], only["index"]) == ("Log:1", 1)
    main(["diff", *paths])
    assert "bad in the second, not in the first at all: 1 tensor\n\n1. Log:1 (Log) in f" in (
        capsys.readouterr().out
    )


def test_people_are_told_the_values_in_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = logdir(tmp_path / "first", "gg"), logdir(tmp_path / "second", "gb")
    assert main(["diff", *paths]) == 1
    out = capsys.readouterr().out
    assert "1. Log:1 (Log) in f, computation 2" in out
    assert "first      all finite, 2 (graph execution 1)" in out
    assert "second     1 NaN (graph execution 1)" in out


def test_a_single_tensor_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = logdir(tmp_path / "first", "gb"), logdir(tmp_path / "second", "gb")
    assert main(["diff", *paths]) == 0
    assert "no difference: 1 tensor is finite, or bad, in both alike" in capsys.readouterr().out


def test_runs_of_one_logdir_are_compared_if_they_are_two(
    logdirs: RecordedLogdirs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(shutil.copytree(logdirs["mnist"], tmp_path / "runs"))
    assert main(["diff", path, path]) == 2
    assert "both are the same run" in capsys.readouterr().err
    logdir(tmp_path / "runs", "g")
    first, second = (files.label for files in list_runs(path))
    assert main(["diff", path, path, "--first-run", first, "--second-run", second]) == 3
    assert "not compared" in capsys.readouterr().out
