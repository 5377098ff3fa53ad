"""The report on recorded logdirs, and the command that prints it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tests.logdir.synthetic import execution_record, record, write_logdir
from tfdbg_tui.cli import main
from tfdbg_tui.diagnosis.report.advice import program_of
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.diagnosis.report.gaps import find_gaps
from tfdbg_tui.diagnosis.report.verdicts import verdict_word
from tfdbg_tui.diagnosis.report.words import to_text, verdict_text
from tfdbg_tui.logdir import open_run
from tfdbg_tui.wire import events, tfrecord

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs

_FINDING_KEYS = {
    "rule", "certainty", "title", "evidence", "why", "fix", "suggestion",
    "other_suggestions", "op_name", "op_type",
    "output_slot", "bad_elements", "graph", "kind", "index", "step", "fit_batch",
    "after_step", "when", "iteration", "made_ahead", "device", "layer", "input_layer",
    "other_layers", "variables", "location", "differentiated_at", "alerts", "chain",
}  # fmt: skip


def test_the_tutorials_bug(logdirs: RecordedLogdirs) -> None:
    report = diagnose(open_run(logdirs["mnist"]))
    (root,) = report.roots
    assert (report.verdict, report.alerts) == ("bad", root.alerts)
    assert (root.op_type, root.graph, root.certainty) == ("Log", "loss", "proved")
    assert root.location.file.endswith("debug_mnist.py")
    assert "tf.math.log(probs)" in root.location.code
    zeros, log = root.chain[0].summary.zero, root.chain[1].summary.neg_inf
    assert root.evidence == f"{zeros} zero{'s' * (zeros != 1)} in → {log} -∞ out"
    assert root.suggestion == (
        "tf.math.log(probs) → tf.math.log(tf.clip_by_value(probs, 1e-7, 1.0))"
    )
    assert [link.op_type for link in root.chain[:4]] == ["Softmax", "Log", "Mul", "Mean"]
    assert (root.step, root.when) == (3, "step 3 of 0 to 7 (counted)")


def test_json_has_the_promised_form(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(logdirs["mnist"]), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert set(report) >= {"verdict", "alerts", "roots", "suspects", "problems"}
    (root,) = report["roots"]
    assert set(root) == _FINDING_KEYS
    assert set(root["location"]) == {"file", "line", "function", "code", "expression"}
    assert set(root["chain"][0]) == {
        "kind", "index", "name", "op_type", "graph", "dtype", "shape", "counts", "via", "inferred",
    }  # fmt: skip
    assert [link["via"] for link in root["chain"][:3]] == ["", "", "graph"]
    marked = [line for line in report["bad_lines"] if line["is_root"]]
    assert [(line["file"], line["line"]) for line in marked] == [
        (root["location"]["file"], root["location"]["line"])
    ]
    assert sum(line["tensors"] for line in report["bad_lines"]) == report["alerts"]


@pytest.mark.parametrize(
    ("times", "expected"), [(5, "batch 9 of epoch 1"), (4, "batches 6 to 10 of epoch 1")]
)
def test_the_batch_of_several_in_one_step_is_told(
    tmp_path: Path, times: int, expected: str
) -> None:
    """Where an op has run once for each batch (`steps_per_execution`); not in an inner loop."""
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "train", "root")
    made.function("f", "f")
    made.op("f", "Log", "Log", "x:0")
    made.fit_batch(0, 1, 1, 5)
    for step in range(2):
        for time in range(5 if step == 0 else times):
            value = np.nan if step == 1 and time == 3 else 0.0
            made.trace("f", "Log", floats(value), serial=step + 1, step=step)
        made.execution("f", [], {step + 10: floats(1.0)}, "f", serial=step + 1, step=step)
    (root,) = diagnose(made.open()).to_json()["roots"]
    assert root["when"] == f"step 1 of 0 to 1, {expected}"
    assert root["fit_batch"]["batch"] == int(expected.split()[1])


def test_the_iteration_of_a_loop_is_told(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "While", "while")
    made.graph("body", "while_body", "f")
    made.op("body", "Placeholder", "x")
    made.op("body", "Log", "Log", "x:0")
    for iteration in range(8):
        bad = iteration == 7
        made.trace("body", "x", floats(-1.0 if bad else 1.0), iteration=iteration)
        made.trace("body", "Log", floats(np.nan if bad else 0.0), iteration=iteration)
    report = diagnose(made.open())
    (root,) = report.to_json()["roots"]
    assert (root["iteration"], root["made_ahead"]) == (7, False)
    assert ", iteration 7; graph execution 15" in " ".join(to_text(report).split())


@pytest.mark.parametrize(
    ("line", "expression", "marked"),
    [
        ("  é = y * tf.math.log(p) + tf.math.log(q)", "tf.math.log(q)", True),
        ("  tf.math.log(q) + y", "tf.math.log(q)", True),
        ("  return tf.math.log(p)  # (of p)", "tf.math.log(p)", False),
        ("  y = 1 - tf.math.log(p)", "", False),
    ],
)
def test_what_ran_of_a_line_is_marked_where_it_does_more(
    tmp_path: Path, line: str, expression: str, marked: bool
) -> None:
    made = Program(tmp_path)
    made.lines = ["def f():", line]
    made.graph("f", "f")
    made.op("f", "Placeholder", "q")
    made.op("f", "Log", "Log", "q:0", line=2, expression=expression)
    made.trace("f", "q", floats(-1.0))
    made.trace("f", "Log", floats(np.nan))
    report = diagnose(made.open())
    (root,) = report.to_json()["roots"]
    assert root["location"]["expression"] == (expression if marked else None)
    lines = to_text(report).split("\n")
    code = lines.index(next(text for text in lines if text.strip() == line.strip()))
    marks = " " * lines[code].index(expression) + "^" * len(expression)
    assert (lines[code + 1] == marks) is marked


def test_of_a_long_line_what_ran_is_shown(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.lines = [f"loss = {' + '.join(['weight'] * 15)} + tf.math.log(p) + 1"]
    made.graph("f", "f")
    made.op("f", "Log", "Log", line=1, expression="tf.math.log(p)")
    made.trace("f", "Log", floats(np.nan))
    lines = to_text(diagnose(made.open())).split("\n")
    code = next(number for number, text in enumerate(lines) if "tf.math.log(p)" in text)
    assert lines[code].split()[0].startswith("…")
    assert lines[code + 1].count("^") == len("tf.math.log(p)")
    assert lines[code + 1].index("^") == lines[code].index("tf.math.log(p)")


def test_text_tells_what_where_why_and_how(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(logdirs["mnist"])]) == 1
    text = capsys.readouterr().out
    for part in ("[proved]", "debug_mnist.py:", "Log:0", "clip_by_value(probs", "Softmax:0"):
        assert part in text


def test_without_utf_8_infinity_keeps_its_sign(logdirs: RecordedLogdirs) -> None:
    command = [sys.executable, "-m", "tfdbg_tui", "diagnose", str(logdirs["mnist"])]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True).stdout
    assert "3 zeros in -> 3 -Inf out" in printed
    assert "?" not in printed


@pytest.mark.parametrize(
    ("logdir", "op_name"),
    [("control_flow", "while"), ("mirrored", "replica_1")],
)
def test_roots_of_recorded_programs(logdirs: RecordedLogdirs, logdir: str, op_name: str) -> None:
    report = diagnose(open_run(logdirs[logdir]))
    assert report.verdict == "bad"
    assert any(op_name in (root.op_name or "") for root in report.roots)
    assert sum(root.alerts for root in (*report.roots, *report.benign)) == report.alerts


@pytest.mark.parametrize("logdir", ["no_tensor", "shape"])
def test_a_dump_without_values_says_so_and_how_to_get_one(
    logdirs: RecordedLogdirs, logdir: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(logdirs[logdir])]) == 3
    text = capsys.readouterr().out
    assert text.startswith("incomplete: 0 alerts")
    assert "looked for" not in text
    assert "says nothing about NaN" in text
    assert "--tensor-debug-mode FULL_HEALTH" in " ".join(text.split())


@pytest.mark.parametrize(
    ("op_type", "told"),
    [("Sqrt", ""), ("Log", "Ops left no record"), ("RFFT", "Complex numbers were computed")],
)
def test_what_tensorflows_writer_left_out_is_not_clean(
    tmp_path: Path, op_type: str, told: str
) -> None:
    """It does not say what filters left out, and it never looks at complex numbers."""
    program = Program(tmp_path)
    program.graph("f", "f")
    program.op("f", "Sqrt", "Sqrt", "x:0")
    program.op("f", op_type, op_type, "Sqrt:0")
    program.trace("f", "Sqrt", floats(1))
    report = diagnose(program.open())
    assert report.verdict == ("incomplete" if told else "clean")
    assert "".join(gap.text for gap in report.gaps).startswith(told)
    assert "Not looked at: complex tensors" in report.looked_for


def test_who_uses_a_tensor_may_stand_in_a_damaged_record(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("f", "f")
    program.op("f", "Sqrt", "Sqrt", "x:0")
    program.trace("f", "Sqrt", floats(1))
    assert diagnose(program.open()).verdict == "clean"
    (path,) = tmp_path.rglob("*.graphs")
    data = path.read_bytes()
    path.write_bytes(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])
    report = diagnose(open_run(path.parent))
    assert report.verdict == "incomplete"
    assert [gap.kind for gap in report.gaps] == ["damaged"]


@pytest.mark.parametrize(("first", "told"), [(1, False), (8, True)])
def test_what_a_circular_buffer_dropped_is_told(tmp_path: Path, first: int, told: bool) -> None:
    program = Program(tmp_path)
    for serial in range(first, first + 4):
        program.execution("Neg", [serial], {serial + 1: floats(np.nan)}, serial=serial)
    (root,) = (report := diagnose(program.open())).roots
    assert root.certainty != "proved"
    assert (root.rule == "before-first-event") is told
    assert any(gap.kind == "circular_buffer" for gap in report.gaps) is told
    assert not any("does not count" in problem for problem in report.problems)


def test_a_tensor_from_before_a_circular_buffer_is_no_array_of_pythons(tmp_path: Path) -> None:
    """Its op may have been dropped; one that is younger than the buffer comes from Python."""
    bad, fine = floats(np.nan, 1.0), floats(1.0, 2.0)
    rules = []
    for taken in (3, 100):
        program = Program(tmp_path / str(taken))
        for serial in range(8, 12):
            program.execution("Sin", [5], {serial: fine}, given=(fine,), serial=serial)
        program.execution("Neg", [taken], {200: bad}, given=(bad,), serial=12)
        (root,) = diagnose(program.open()).roots
        rules.append((root.rule, root.certainty))
    assert rules == [("before-first-event", "observed"), ("bad-array", "proved")]


@pytest.mark.parametrize(
    "logdir", ["curt_health", "concise_health", "full_health", "full_tensor", "session"]
)
def test_every_mode_is_diagnosed(logdirs: RecordedLogdirs, logdir: str) -> None:
    report = diagnose(open_run(logdirs[logdir]))
    json.dumps(report.to_json())
    assert sum(f.alerts for f in (*report.roots, *report.benign)) == report.alerts


def test_missing_files_and_cut_ones_are_no_crash(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    whole = {p.name.rpartition(".")[2]: p for p in logdirs["mnist"].iterdir() if p.is_file()}
    for missing in whole:
        if missing == "metadata":
            continue
        directory = tmp_path / missing
        directory.mkdir()
        for suffix, path in whole.items():
            data = path.read_bytes()
            if suffix == missing:
                data = data[: len(data) // 3]
            (directory / path.name).write_bytes(data)
        report = diagnose(open_run(directory))
        json.dumps(report.to_json())


@pytest.mark.parametrize("name", ["mirrored", "mnist"])
def test_functions_that_ran_are_missed_where_no_record_of_their_ops_is_left(
    logdirs: RecordedLogdirs, tmp_path: Path, name: str
) -> None:
    logdir = shutil.copytree(logdirs[name], tmp_path / name)
    assert not find_gaps(open_run(logdir))
    (traces,) = logdir.glob("*.graph_execution_traces")
    traces.write_bytes(b"")
    (gap,) = find_gaps(open_run(logdir))
    assert "although their graph ran" in gap.text


@pytest.mark.parametrize("name", ["mirrored", "mnist", "control_flow"])
@pytest.mark.parametrize(
    ("suffix", "part", "told"),
    [
        ("graph_execution_traces", 0.7, "The file of graph executions was cut"),
        ("graph_execution_traces", 0.5, "The file of graph executions was cut"),
        ("graphs", 0.5, "The file of graphs was cut"),
        ("graphs", 0.0, "The file of graphs was cut"),
    ],
)
def test_a_file_of_tensorflows_writer_that_was_cut_between_records_is_not_whole(
    logdirs: RecordedLogdirs, tmp_path: Path, name: str, suffix: str, part: float, told: str
) -> None:
    logdir = shutil.copytree(logdirs[name], tmp_path / name)
    assert not find_gaps(open_run(logdir))
    (path,) = logdir.glob(f"*.{suffix}")
    data = path.read_bytes()
    starts = [at for at, _ in tfrecord.records(data)]
    path.write_bytes(data[: starts[int(len(starts) * part)]])
    gaps = find_gaps(open_run(logdir))
    assert any(gap.kind == "damaged" and told in gap.text for gap in gaps)


@pytest.mark.parametrize(
    ("name", "left", "told"),
    [
        ("control_flow", 0.02, "no record of the op at"),
        ("mirrored", 0.6, "no record of the op at"),
        ("mnist", 0.3, "no record of the call in which"),
    ],
)
def test_executions_of_tensorflows_writer_are_missed_where_other_files_tell_of_them(
    logdirs: RecordedLogdirs, tmp_path: Path, name: str, left: float, told: str
) -> None:
    logdir = shutil.copytree(logdirs[name], tmp_path / name)
    (path,) = logdir.glob("*.execution")
    data = path.read_bytes()
    starts = [at for at, _ in tfrecord.records(data)]
    path.write_bytes(data[: starts[int(len(starts) * left)]])
    gaps = find_gaps(open_run(logdir))
    assert any(gap.kind == "damaged" and told in gap.text for gap in gaps)


def test_only_what_is_known_to_be_whole_is_clean_without_a_doubt(
    logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    """TensorFlow's writer does not say how many records it wrote; this project's does."""
    of_tensorflow = Program(tmp_path)
    of_tensorflow.execution("Neg", [1], {2: floats(1.0)})
    report, ours = diagnose(of_tensorflow.open()), diagnose(open_run(logdirs["nested_calls"]))
    assert report.verdict == ours.verdict == "clean"
    assert verdict_text(report) == "clean: 0 alerts, as far as the dump tells"
    assert verdict_text(ours) == "clean: 0 alerts"
    words = [verdict_word(one.verdict, one.problems) for one in (report, ours)]
    assert words == ["clean?", "clean"]
    assert "does not say how many records" in to_text(report)


def test_defects_are_told_of_what_is_not_wholly_on_record(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "Relu", "Relu", "x:0")
    for _ in range(10):
        made.trace("f", "Relu", np.zeros(64, np.float32))
    report = replace(diagnose(made.open()), verdict="incomplete")
    text = "incomplete: 0 alerts, silent defects, but not everything is on record"
    assert verdict_text(report) == text
    assert verdict_text(replace(report, suspects=())) == text.replace(" silent defects,", "")


@pytest.mark.parametrize(("thread", "told"), [(None, False), (0, False), (3, True)])
def test_another_thread_is_named(tmp_path: Path, thread: int | None, told: bool) -> None:
    program = Program(tmp_path)
    program.execution("Neg", [1], {2: floats(0)}, thread=thread and 0)
    program.execution("Log", [2], {3: floats(-np.inf)}, thread=thread)
    (root,) = diagnose(program.open()).roots
    assert ("in another thread than the first (number 3)" in root.evidence) is told


def test_harmless_causes_that_read_the_same_are_told_once(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    for block in ("block_0", "block_1"):
        mask, select = f"{block}/mask", f"{block}/Select"
        made.op("f", "Const", mask)
        made.op("f", "SelectV2", select, "c:0", "x:0", f"{mask}:0")
        made.op("f", "Softmax", f"{block}/Softmax", f"{select}:0")
        made.trace("f", mask, floats(-np.inf))
        made.trace("f", select, floats(-np.inf, 1.0))
        made.trace("f", f"{block}/Softmax", floats(0.0, 1.0))
    report = diagnose(made.open())
    assert len(report.benign) == 2
    text = to_text(report)
    assert text.count("Constant with NaN or ∞") == 1
    assert "4 alerts of 2 ops" in text


@pytest.mark.parametrize(("dtype", "is_proposed"), [("float32", True), ("float64", False)])
def test_float64_is_proposed_where_it_is_not_float64(
    tmp_path: Path, dtype: str, is_proposed: bool
) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.op("f", "Square", "Square", "x:0")
    program.op("f", "Cholesky", "Cholesky", "Square:0")
    program.trace("f", "Square", np.array([1, 2], dtype))
    program.trace("f", "Cholesky", np.array([np.nan, 0], dtype))
    (root,) = diagnose(program.open()).roots
    assert root.rule == "cholesky-not-positive"
    assert ("float64" in root.fix) == is_proposed


def test_code_that_starts_a_worker_is_no_program(tmp_path: Path) -> None:
    """Processes that multiprocessing spawns begin in "<string>"."""
    paths = ("/work/<string>", "/usr/lib/python3.12/multiprocessing/spawn.py", "/home/ann/train.py")
    places = [events.FileLineCol(file_index=number, line=1, func="f") for number in range(3)]
    frames = [events.StackFrameWithId(str(number), place) for number, place in enumerate(places)]
    location = events.CodeLocation("host", [frame.id for frame in frames])
    run = open_run(
        write_logdir(
            tmp_path / "logdir",
            sources=b"".join(
                record(source_file=events.SourceFile(path).encode()) for path in paths
            ),
            frames=b"".join(record(stack_frame_with_id=frame.encode()) for frame in frames),
            executions=execution_record(events.Execution("Log", code_location=location.encode())),
        )
    )
    assert program_of(run) == "/home/ann/train.py"


@pytest.mark.parametrize("serial", [None, 1])
def test_data_is_told_in_the_step_that_uses_it(tmp_path: Path, serial: int | None) -> None:
    """A pipeline made it before: in no step, or in the one that ran meanwhile."""
    recorded = Program(tmp_path)
    recorded.graph("pipeline", "Dataset_map_f")
    recorded.op("pipeline", "Placeholder", "args")
    recorded.op("pipeline", "GatherV2", "GatherV2", "args:0")
    recorded.trace("pipeline", "args", floats(np.inf), serial=serial)
    recorded.trace("pipeline", "GatherV2", floats(np.inf), serial=serial)
    recorded.graph("f", "f")
    for step in range(4):
        batch = floats(np.inf if step == 2 else 1.0)
        recorded.execution("f", [10 + step], {20 + step: batch}, "f")
    (root,) = diagnose(recorded.open()).roots
    assert (root.op_type, root.step) == ("Placeholder", 2)


def test_a_suspect_of_a_layer_is_told_where_that_is_made_not_where_fit_is_called(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path)
    program.graph("f", "f")
    program.layer(1, 0, "out", "Dense")
    program.op("f", "Softmax", "out/Softmax", "x:0", line=7, layer=1)
    given = ("out/Softmax:0", "labels:0")
    program.op(
        "f", "SoftmaxCrossEntropyWithLogits", "loss", *given, outputs=2, line=9, in_library="fit"
    )
    program.trace("f", "out/Softmax", floats(0.5, 0.5))
    program.trace("f", "loss", floats(0.7))
    (suspect,) = diagnose(program.open()).suspects
    assert suspect.input_layer is not None
    assert suspect.input_layer.name == "out"
    assert suspect.location is not None
    assert suspect.location.line == 7
    assert suspect.evidence.endswith("; trained at program.py:9")


@pytest.mark.parametrize(("layer", "line"), [(0, 10), (1, 20)])
def test_what_keras_makes_of_a_loss_is_told_at_the_loss_of_the_user(
    tmp_path: Path, layer: int, line: int
) -> None:
    """A loss of Keras' own takes the result of a layer, which has a line as well."""
    program = Program(tmp_path)
    program.graph("f", "f")
    program.layer(1, 0, "out", "Dense")
    program.op("f", "Sum", "Sum", "x:0", line=10, layer=layer)
    program.op("f", "Mul", "mul", "Sum:0", "size:0", line=20, in_library="fit")
    program.trace("f", "Sum", floats(3e38))
    program.trace("f", "mul", floats(np.inf))
    (root,) = diagnose(program.open()).roots
    assert root.location is not None
    assert (root.op_name, root.location.line) == ("mul", line)
    moved = "; what Keras makes of it is at program.py:20"
    assert root.evidence.endswith(moved) == (layer == 0)
