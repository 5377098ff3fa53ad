"""Whatever is wrong with the files: a clear sentence, and all that is readable."""

from __future__ import annotations

import os
import random
import shutil
import struct
from typing import TYPE_CHECKING, Any

import pytest

from tests.logdir.synthetic import (
    GRAPHS,
    content,
    execution_record,
    read,
    record,
    trace_record,
    vector_proto,
    write_logdir,
)
from tfdbg_tui.logdir import LogdirError, RunReader, UnreadableError, discovery, list_runs
from tfdbg_tui.logdir.files import record_file
from tfdbg_tui.logdir.files.chunk import is_intact
from tfdbg_tui.logdir.files.file_slice import FileSlice
from tfdbg_tui.wire import codec, crc32c, events, tfrecord

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.logdir import Run

SUFFIXES = (
    "source_files",
    "stack_frames",
    "graphs",
    "execution",
    "graph_execution_traces",
)


@pytest.fixture
def logdir(tmp_path: Path, logdirs: RecordedLogdirs) -> Path:
    return shutil.copytree(logdirs["mnist"], tmp_path / "logdir")


def the_file(logdir: Path, suffix: str) -> Path:
    (path,) = logdir.glob(f"*.{suffix}")
    return path


def messages(run: Run) -> list[str]:
    return [problem.message for problem in run.problems]


def trace(
    op: str = "Log",
    values: Sequence[float] = (1.0, 3.0, 0.0, 0.0, 0.0),
    mode: int = 3,
    graph: str = GRAPHS[0],
) -> events.GraphExecutionTrace:
    return events.GraphExecutionTrace(
        tfdbg_context_id=graph,
        op_name=op,
        tensor_debug_mode=mode,
        tensor_proto=vector_proto(values),
        device_name="/device:CPU:0",
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_torn_at_any_byte(logdir: Path, suffix: str) -> None:
    path = the_file(logdir, suffix)
    data = path.read_bytes()
    ends = [at + tfrecord.FRAME_SIZE + len(p) for at, p in tfrecord.records(data)]
    rng = random.Random(suffix)
    for cut in [1, 11, 12, 13, len(data) - 1, *(rng.randrange(len(data)) for _ in range(5))]:
        path.write_bytes(data[:cut])
        run = read(logdir)
        whole = sum(end <= cut for end in ends)
        counts = {
            "source_files": len(run.source_paths),
            "stack_frames": run.num_stack_frames,
            "execution": len(run.executions),
            "graph_execution_traces": len(run.graph_executions),
        }
        assert counts.get(suffix, whole) == whole
        if cut not in ends:
            (message,) = (text for text in messages(run) if "beginning of a record" in text)
            assert message.startswith(str(path))


def test_executions_that_must_have_been_there_are_missed(
    logdir: Path, logdirs: RecordedLogdirs
) -> None:
    """TensorFlow's writer does not leave the sizes of its files."""
    the_file(logdir, "execution").write_bytes(b"")
    assert any(
        text.endswith("is empty; there are no executions") for text in messages(read(logdir))
    )
    assert not messages(read(logdirs["session"]))


@pytest.mark.parametrize("chunk_bytes", [2000, 8 << 20])
def test_resynchronises_after_damage(logdir: Path, chunk_bytes: int) -> None:
    path = the_file(logdir, "execution")
    data = bytearray(path.read_bytes())
    starts = [at for at, _ in tfrecord.records(bytes(data))]
    for row in (5, 100, 101, 102, 700):
        data[starts[row]] ^= 0x40  # a length
    data[starts[300] : starts[320]] = bytes(starts[320] - starts[300])
    path.write_bytes(data)
    run = read(logdir, chunk_bytes=chunk_bytes)
    assert len(run.executions) == len(starts) - 25
    assert sum("damaged at byte" in text for text in messages(run)) == 4
    assert all("skipped" in text for text in messages(run))


@pytest.mark.parametrize(
    ("suffix", "arrived"),  # bytes of the record in which zeros begin; sources are read alone
    [*((suffix, 0) for suffix in SUFFIXES), *((suffix, 30) for suffix in SUFFIXES[1:])],
)
@pytest.mark.parametrize("to_the_end", [False, True])
def test_zeros_are_waited_for(
    logdir: Path, logdirs: RecordedLogdirs, suffix: str, to_the_end: bool, arrived: int
) -> None:
    """On a network file system a file can be longer than what has arrived of it."""
    path = the_file(logdir, suffix)
    data = path.read_bytes()
    starts = [at for at, _ in tfrecord.records(data)]
    first, last = starts[len(starts) // 3] + arrived, len(data) if to_the_end else starts[-2] + 20
    path.write_bytes(data[:first] + bytes(last - first) + data[last:])
    (files,) = list_runs(logdir)
    reader = RunReader(files)
    for _ in range(3):
        before = reader.poll()
        assert not any("damaged" in text or "checksum" in text for text in messages(before))
    with path.open("r+b") as file:  # what was missing arrives; the size stays
        file.seek(first)
        file.write(data[first:last])
    while not reader.poll().progress.complete:
        pass
    run = reader.poll()
    assert content(run) == content(read(logdirs["mnist"]))
    assert not run.problems
    if suffix == "graph_execution_traces":
        assert len(before.graph_executions) == len(starts) // 3


def test_zeros_that_stay_are_damage(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_file, "_PATIENCE_SECONDS", 0.0)
    path = the_file(logdir, "graph_execution_traces")
    data = path.read_bytes()
    starts = [at for at, _ in tfrecord.records(data)]
    path.write_bytes(data[: starts[100]] + bytes(starts[120] - starts[100]) + data[starts[120] :])
    (files,) = list_runs(logdir)
    reader = RunReader(files)
    while not (run := reader.poll()).progress.complete:
        pass
    assert len(run.graph_executions) == 300
    assert any(f"damaged at byte {starts[100]:,}" in text for text in messages(run))


def test_damage_at_the_end_is_read_once_it_is_overwritten(logdir: Path) -> None:
    path = the_file(logdir, "graph_execution_traces")
    data = path.read_bytes()
    cut = [at for at, _ in tfrecord.records(data)][100]
    path.write_bytes(data[:cut] + bytes(len(data) - cut))
    (files,) = list_runs(logdir)
    reader = RunReader(files)
    run = reader.read_all()
    assert len(run.graph_executions) == 100
    assert any("damaged" in text for text in messages(run))
    path.write_bytes(data)
    with path.open("ab") as file:
        file.write(data)
    run = reader.read_all()
    assert len(run.graph_executions) == 640
    assert not run.problems


@pytest.mark.parametrize("suffix", ["graph_execution_traces", "execution"])
def test_a_damaged_event_says_so_when_it_is_asked_for(logdir: Path, suffix: str) -> None:
    run = read(logdir)
    path = damaged_time(logdir, suffix)
    events: Any = run.executions if suffix == "execution" else run.graph_executions
    with pytest.raises(UnreadableError, match="checksum"):
        events.tensor(0, *[0] * (suffix == "execution"))
    assert "checksum" in events[0].unreadable
    assert events[1].unreadable is None
    (problem,) = run.problems
    assert problem.message.startswith(f"{path}: the record at byte 0 is not readable")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_record_is_told_at_once(logdir: Path, suffix: str) -> None:
    whole_run = read(logdir)
    path = damaged_time(logdir, suffix)
    run = read(logdir)
    assert len(run.executions) == len(whole_run.executions) - (suffix == "execution")
    lost = len(whole_run.graph_executions) - len(run.graph_executions)
    assert lost == (suffix == "graph_execution_traces")
    problem = next(problem for problem in run.problems if problem.path == str(path))
    assert "the record at byte 0 is not readable" in problem.message
    assert "checksum" in problem.message
    damaged, whole = (run.source(*place) for place in run.source_paths[:2])
    assert ("checksum" in (damaged.unreadable or "")) == (suffix == "source_files")
    assert whole.unreadable is None


def damaged_time(logdir: Path, suffix: str) -> Path:
    """Damages the first record of a file where no scan looks."""
    path = the_file(logdir, suffix)
    data = bytearray(path.read_bytes())
    data[tfrecord.HEADER_SIZE + 3] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", ["metadata", *SUFFIXES])
@pytest.mark.parametrize("what", ["missing", "empty", "directory", "fifo", "garbage"])
def test_any_file_may_be_anything(logdir: Path, suffix: str, what: str) -> None:
    path = the_file(logdir, suffix)
    path.unlink()
    if what == "directory":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "empty":
        path.touch()
    elif what == "garbage":
        path.write_bytes(random.Random(0).randbytes(5000))
    run = read(logdir)
    for event in (*run.executions, *run.graph_executions):
        run.stack(event.stack_id) if hasattr(event, "stack_id") else event.op_type
    if what != "empty" or suffix == "metadata":
        assert any(text.startswith(str(path)) for text in messages(run))
    if suffix != "execution":
        assert len(run.executions) == 1062


def test_an_unreadable_file_is_told(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = the_file(logdir, "graphs")
    really_open = os.open

    def refuse(name: str, *args: Any) -> int:
        if name == str(path):
            raise PermissionError(13, "Permission denied", name)
        return really_open(name, *args)

    monkeypatch.setattr(os, "open", refuse)
    run = read(logdir)
    assert f"{path}: cannot be read: Permission denied; it is left out" in messages(run)
    assert len(run.executions) == 1062


def test_a_hostile_length_takes_no_memory(tmp_path: Path) -> None:
    good = trace_record(trace())
    for claimed in (1 << 62, (1 << 31) + 5, 1 << 30):
        header = struct.pack("<Q", claimed)
        hostile = header + struct.pack("<I", crc32c.masked_crc32c(header))
        write_logdir(tmp_path / "logdir", traces=good + hostile + good + good)
        run = read(tmp_path / "logdir")
        # A length that no record can have is damage; one that is only too long may be torn.
        assert len(run.graph_executions) == (3 if claimed >= 1 << 31 else 1)
        assert messages(run)


def test_a_large_record_is_read_in_pieces(tmp_path: Path) -> None:
    """12 MB of float32, a NaN near the end, through 1 MB of memory; and with one bit changed."""
    size = 3_000_000
    shape = codec.bytes_field(2, codec.varint_field(1, size))
    head = codec.varint_field(1, 1) + codec.bytes_field(2, shape)
    values = bytearray(4 * size)
    values[-8:-4] = struct.pack("<f", float("nan"))
    big = trace("Big", mode=7)
    big.tensor_proto = head + codec.bytes_field(4, bytes(values))
    framed = trace_record(big)
    changed = bytearray(framed)
    changed[size] ^= 1
    good = trace_record(trace())
    write_logdir(tmp_path / "logdir", traces=good + framed + changed + good)
    run = read(tmp_path / "logdir", chunk_bytes=1 << 20)
    assert run.graph_executions.alert_rows[:].tolist() == [1]
    summary = run.graph_executions[1].summary
    assert (summary.size, summary.nan, summary.zero) == (size, 1, size - 1)
    assert run.graph_executions[2].op_name == "Log"
    assert [text for text in messages(run) if "does not match its checksum" in text]


def test_a_large_hole_is_not_read() -> None:
    sizes = []

    def zeros(_: int, size: int) -> bytes:
        sizes.append(size)
        return bytes(size)

    assert not is_intact(FileSlice(zeros, 0, 1 << 31))
    assert sum(sizes) < 1 << 16


def test_many_problems_are_counted(tmp_path: Path) -> None:
    broken = record(execution=b"\x0a\xff")
    write_logdir(tmp_path / "logdir", executions=broken * 500)
    run = read(tmp_path / "logdir")
    assert len(run.executions) == 0
    texts = [text for text in messages(run) if ".execution:" in text]
    assert len(texts) == 21
    assert texts[-1].endswith("and 480 more problems")


def test_odd_definitions(tmp_path: Path) -> None:
    """Duplicates, references to nothing, strings that are no UTF-8, numbers out of range."""
    location = events.CodeLocation("host", ["nowhere", "known"]).encode()
    op = events.GraphOpCreation(
        op_type="Log",
        op_name="Log",
        graph_id=GRAPHS[0],
        input_names=["x:0", "a:b:1", "", ":", "y:99999999999999"],
        num_outputs=-1,
        code_location=location,
    )
    graph = events.DebuggedGraph(GRAPHS[0], "f", GRAPHS[0])  # its own outer graph
    frame = events.StackFrameWithId("known", events.FileLineCol(file_index=-3, line=-1))
    execution = events.Execution("\udcff", 1 << 60, code_location=b"\xff\xff", tensor_debug_mode=99)
    run = read(
        write_logdir(
            tmp_path / "logdir",
            graphs=record(graph_op_creation=op.encode()) * 2
            + record(debugged_graph=graph.encode()) * 2
            + record(debugged_graph=b"\x12\x02\xff\xfe"),
            frames=record(stack_frame_with_id=frame.encode()),
            executions=execution_record(execution, wall_time=float("nan")),
            traces=trace_record(trace(graph="unknown"), wall_time=1e300) + trace_record(trace()),
        )
    )
    assert list(run.graphs[GRAPHS[0]].ops) == ["Log"]
    assert len(run.graph_path(GRAPHS[0])) == 1
    assert [frame.path for frame in run.stack(run.op(GRAPHS[0], "Log").stack_id)] == [None, None]
    assert run.executions[0].wall_time == run.graph_executions[0].wall_time == 0.0
    assert run.stack(run.executions[0].stack_id) == ()
    assert [event.op_type for event in run.graph_executions] == [None, "Log"]
    assert any("1 tensors are of ops that are not described" in text for text in messages(run))
    assert any("1 frames of stack traces" in text for text in messages(run))
    assert any("1 source files are not named" in text for text in messages(run))


def test_nothing_to_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LogdirError, match=str(path)):
            list_runs(path)
    run = read(write_logdir(tmp_path / "logdir"))
    assert content(run)["problems"] == []
    assert (len(run.executions), len(run.graph_executions)) == (0, 0)


def test_a_directory_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    listed = discovery._listed

    def denied(directory: str, *, links: bool = False) -> object:
        if directory == str(closed):
            raise PermissionError
        return listed(directory, links=links)

    monkeypatch.setattr(discovery, "_listed", denied)
    with pytest.raises(LogdirError, match=f"{closed} cannot be listed"):
        list_runs(tmp_path)


def test_what_a_full_disk_has_put_before_the_metadata_makes_no_run_of_its_own(
    tmp_path: Path,
) -> None:
    """A writer that begins on a full disk may first be able to write that it cannot."""
    write_logdir(tmp_path, executions=execution_record(events.Execution(op_type="Log")))
    write_logdir(tmp_path, prefix="tfdbg_events.1700000009.host")
    path = tmp_path / "tfdbg_events.1700000009.host.metadata"
    omission = events.Omission("stopped", "the rest of the program", "the disk is full")
    path.write_bytes(record(omission=omission.encode()) + path.read_bytes())
    (files,) = list_runs(tmp_path)
    run = RunReader(files).read_all()
    assert len(run.executions) == 1
    assert [found.kind for found in run.omissions] == ["stopped"]
