"""Reading many records at once gives what reading them one by one gives."""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import RECORDED
from tests.logdir.synthetic import (
    EXECUTION,
    TRACE,
    content,
    execution_record,
    execution_records,
    read,
    repeated,
    trace_record,
    trace_records,
    write_logdir,
)
from tfdbg_tui.logdir.files import frames
from tfdbg_tui.logdir.files.gather import PADDING
from tfdbg_tui.logdir.index.execution_log import ExecutionLog
from tfdbg_tui.logdir.index.traces import TraceLog
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.wire import codec, events, tfrecord
from tfdbg_tui.wire.message import FieldType

import numpy as np  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.logdir import Run

scratch = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_logdirs(logdirs: RecordedLogdirs, name: str) -> None:
    scalar = content(read(logdirs[name], vectorised=False))
    assert content(read(logdirs[name])) == scalar
    assert content(read(logdirs[name], chunk_bytes=5000)) == scalar
    assert scalar["traces"]
    assert not scalar["problems"]


@scratch
@given(st.data())
def test_any_mixture_of_records(tmp_path: Path, data: st.DataObject) -> None:
    write_logdir(
        tmp_path / "logdir",
        traces=b"".join(repeated(data.draw, trace_records())),
        executions=b"".join(repeated(data.draw, execution_records())),
    )
    scalar = content(read(tmp_path / "logdir", vectorised=False))
    assert content(read(tmp_path / "logdir")) == scalar
    chunk_bytes = data.draw(st.integers(40, 3000))
    assert content(read(tmp_path / "logdir", chunk_bytes=chunk_bytes)) == scalar


@pytest.mark.parametrize("name", RECORDED)
def test_numbers_of_many_records_are_those_of_each(logdirs: RecordedLogdirs, name: str) -> None:
    assert_numbers(read(logdirs[name]))


@scratch
@given(st.data())
def test_numbers_of_any_records_are_those_of_each(tmp_path: Path, data: st.DataObject) -> None:
    write_logdir(
        tmp_path / "logdir",
        traces=b"".join(repeated(data.draw, trace_records())),
        executions=b"".join(repeated(data.draw, execution_records())),
    )
    assert_numbers(read(tmp_path / "logdir"))


def test_numbers_of_no_records_are_none(tmp_path: Path) -> None:
    write_logdir(tmp_path / "logdir", traces=b"", executions=b"")
    numbers = read(tmp_path / "logdir").graph_executions.numbers(np.zeros(0, np.int64))
    assert {len(values) for values in numbers.values()} == {0}
    write_logdir(tmp_path / "logdir", traces=b"not a record", executions=b"")
    assert_numbers(read(tmp_path / "logdir"))


def assert_numbers(run: Run) -> None:
    traces = run.graph_executions
    rows = np.random.default_rng(0).permutation(len(traces))
    for name, numbers in traces.numbers(rows).items():
        attribute = {"execution": "execution_index", "step": "step"}.get(name)
        told = [
            getattr(traces[row], attribute)
            if attribute
            else getattr(traces[row].summary, name, None)
            for row in rows.tolist()
        ]
        np.testing.assert_array_equal(numbers, np.array(told, float), err_msg=name)


@settings(scratch, max_examples=20)  # each reads a recorded logdir twice, as a whole
@given(st.data())
def test_damaged_bytes(tmp_path: Path, logdirs: RecordedLogdirs, data: st.DataObject) -> None:
    """What is read in bulk, and what alone, are the same records: those that are intact."""
    name = data.draw(st.sampled_from(RECORDED))
    shutil.rmtree(tmp_path / "logdir", ignore_errors=True)
    shutil.copytree(logdirs[name], tmp_path / "logdir")
    suffix = data.draw(st.sampled_from(["execution", "graph_execution_traces"]))
    (path,) = (tmp_path / "logdir").glob(f"*.{suffix}")
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        if not damaged:
            return
        at = data.draw(st.integers(0, len(damaged) - 1))
        kind = data.draw(st.sampled_from(["flip", "zero", "cut"]))
        if kind == "flip":
            damaged[at] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "zero":
            damaged[at : at + 100] = bytes(len(damaged[at : at + 100]))
        else:
            del damaged[at:]
    path.write_bytes(damaged)
    assert intact(read(tmp_path / "logdir")) == intact(
        read(tmp_path / "logdir", vectorised=False, chunk_bytes=3000)
    )


def intact(run: Run) -> dict[tuple[str, int], object]:
    """Returns the events of a run that can be read in full, with what the index says of them."""
    found: dict[tuple[str, int], object] = {}
    for listed, what in (
        (run.executions, run.executions.kind),
        (run.graph_executions, run.graph_executions.site),
    ):
        alerts = set(listed.alert_rows[:].tolist())
        for i in range(len(listed)):
            event = listed[i]
            if not event.unreadable:
                key = type(event).__name__, listed._offsets[0][i]
                found[key] = (what(i), i in alerts, event.wall_time)
    return found


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Counter[type]:
    """Counts the records that the scalar decoders read."""
    count: Counter[type] = Counter()
    for log in (ExecutionLog, TraceLog):
        decode = log._decode

        def counting(self: object, *args: Any, decode: Any = decode, **options: Any) -> Any:
            count[type(self)] += 1
            return decode(self, *args, **options)

        monkeypatch.setattr(log, "_decode", counting)
    return count


@pytest.mark.parametrize("name", RECORDED)
def test_hardly_a_record_is_read_alone(
    tmp_path: Path, logdirs: RecordedLogdirs, name: str, alone: Counter[type]
) -> None:
    """Speed comes from recognising records; a mistake there would be slow and go unnoticed."""
    logdir = shutil.copytree(logdirs[name], tmp_path / "logdir")
    for path in (*logdir.glob("*.execution"), *logdir.glob("*traces")):
        path.write_bytes(path.read_bytes() * 40)
    run = read(logdir)
    once = run.graph_executions.num_sites + len(run.executions.distinct_kinds)
    assert alone.total() < 2 * once + 0.04 * (len(run.executions) + len(run.graph_executions))


def test_records_with_every_field_are_read_in_bulk(tmp_path: Path, alone: Counter[type]) -> None:
    """A field that is declared, but not looked for by the scans, is found here."""
    for message in (TRACE, EXECUTION):
        for field in dataclasses.fields(message):
            assert getattr(message, field.name) not in (None, 0, "", b"", []), field.name
    write_logdir(
        tmp_path / "logdir",
        traces=trace_record(TRACE, step=1) * 500,
        executions=execution_record(EXECUTION, step=1) * 500,
    )
    run = read(tmp_path / "logdir")
    assert len(run.executions) == len(run.graph_executions) == 500
    assert alone.total() < 20, "a declared field is looked for by no scan: see scan/trace_head.py"


def test_extensions_of_a_trace_are_of_fixed_width() -> None:
    """`trace_tail` refuses a varint behind the value vector: reading takes twice as long."""
    fixed = {FieldType.FIXED32, FieldType.FIXED64, FieldType.DOUBLES}
    declared = dataclasses.fields(events.GraphExecutionTrace)
    types = {f.name: f.metadata["field_type"] for f in declared if f.metadata["number"] >= 1000}
    assert types
    assert not {name for name, its in types.items() if its not in fixed}


UNKNOWN_FIELDS = {
    "varint": codec.varint_field(600, -1),
    "fixed64": codec.fixed64_field(601, 1),
    "bytes": codec.bytes_field(2000, b"later"),
    "fixed32": codec.fixed32_field(2001, 1),
    "several": codec.varint_field(15, 300) * 3 + codec.bytes_field(700, bytes(200)),
}


@pytest.mark.parametrize("where", ["in the event", "in the message", "before the extensions"])
@pytest.mark.parametrize("field", UNKNOWN_FIELDS)
@pytest.mark.parametrize("name", ["mnist", "control_flow", "curt_health", "no_tensor"])
def test_unknown_fields_are_skipped_in_bulk(
    tmp_path: Path,
    logdirs: RecordedLogdirs,
    name: str,
    field: str,
    where: str,
    alone: Counter[type],
) -> None:
    """What a later version of the format adds costs no scalar decoding and changes nothing."""
    logdir = shutil.copytree(logdirs[name], tmp_path / "logdir")
    for path in (*logdir.glob("*.execution"), *logdir.glob("*traces")):
        payloads = [payload for _, payload in tfrecord.records(path.read_bytes())]
        extended = [extended_by(UNKNOWN_FIELDS[field], where, payload) for payload in payloads]
        path.write_bytes(b"".join(map(tfrecord.frame, extended)) * 3)
    alone.clear()
    run = read(logdir)
    once = run.graph_executions.num_sites + len(run.executions.distinct_kinds)
    assert alone.total() < 2 * once + 0.04 * (len(run.executions) + len(run.graph_executions))
    assert content(run) == content(read(logdir, vectorised=False))


def extended_by(field: bytes, where: str, payload: bytes) -> bytes:
    """Returns an event's payload with a field more."""
    if where == "in the event":
        return payload + field
    event = events.DebugEvent.decode(payload)
    name = "execution" if event.execution else "graph_execution_trace"
    message = getattr(event, name)
    at = len(message)
    if where == "before the extensions":
        at = min((start for tag, start, _ in tag_starts(message) if tag >> 3 >= 1000), default=at)
    setattr(event, name, message[:at] + field + message[at:])
    return event.encode()


def tag_starts(message: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields (tag, where it starts, where its value ends) of each field."""
    at = 0
    for tag, _, end in codec.spans(message):
        yield tag, at, end
        at = end


def test_frames_are_walked_from_many_places() -> None:
    data = b"".join(tfrecord.frame(b"\x09" + bytes(size % 97)) for size in range(100_000))
    buffer = np.frombuffer(data + bytes(PADDING), np.uint8)
    assert len(frames._lane_starts(buffer, len(data), 200, 250)) > 150


def test_frames_of_many_records() -> None:
    rng = random.Random(0)
    payloads = [b"\x09" + rng.randbytes(rng.choice([50, 51, 300, 2000])) for _ in range(5000)]
    data = b"".join(map(tfrecord.frame, payloads))
    expected = np.cumsum([0] + [len(p) + tfrecord.FRAME_SIZE for p in payloads])
    buffer = np.frombuffer(data + bytes(PADDING), np.uint8)
    assert (frames.walk(buffer, len(data)) == expected).all()
    for size in (0, 11, 12, 1000, 700_001, len(data) - 1):
        whole = expected[: np.searchsorted(expected, size, side="right")]
        assert (frames.walk(buffer, size) == whole).all()
    broken = bytearray(data + bytes(PADDING))
    at = int(expected[3000])
    broken[at + 9] ^= 1  # the checksum of a length
    assert (frames.walk(np.frombuffer(broken, np.uint8), len(data)) == expected[:3001]).all()


def test_interning_compares_every_byte() -> None:
    """Strings that a sampled hash cannot tell apart keep their own numbers."""
    base = bytearray(400)
    strings = [bytes(base)]
    for at in (0, 8, 9, 17, 200, 398, 399):
        other = base.copy()
        other[at] = 1
        strings.append(bytes(other))
    strings += [b"", b"a", b"a\0", b"a\0\0", bytes(401)]
    order = [random.Random(1).randrange(len(strings)) for _ in range(500)]
    data = b"".join(strings[i] for i in order) + bytes(PADDING)
    lengths = np.array([len(strings[i]) for i in order])
    starts = np.cumsum(lengths) - lengths
    interner = Interner()
    for _ in range(2):
        numbers = interner.numbers(np.frombuffer(data, np.uint8), starts, lengths)
        assert [interner.strings[n] for n in numbers] == [strings[i] for i in order]
