"""Reading many records at once gives what reading them one by one gives."""

from __future__ import annotations

import random
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic import content, execution_records, read, repeated, trace_records, write_logdir

from tfdbg_tui.logdir.files import frames
from tfdbg_tui.logdir.files.gather import PADDING
from tfdbg_tui.logdir.index.executions import ExecutionLog
from tfdbg_tui.logdir.index.traces import TraceLog
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.wire import tfrecord

import numpy as np  # isort: skip

NAMES = (
    "mnist",
    "control_flow",
    "mirrored",
    "session",
    "no_tensor",
    "curt_health",
    "concise_health",
    "full_health",
    "shape",
    "full_tensor",
)
scratch = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_logdirs(logdirs, name):
    scalar = content(read(logdirs[name], vectorised=False))
    assert content(read(logdirs[name])) == scalar
    assert content(read(logdirs[name], chunk_bytes=5000)) == scalar
    assert scalar["traces"]
    assert not scalar["problems"]


@scratch
@given(st.data())
def test_any_mixture_of_records(tmp_path, data):
    write_logdir(
        tmp_path / "logdir",
        traces=b"".join(repeated(data.draw, trace_records())),
        executions=b"".join(repeated(data.draw, execution_records())),
    )
    scalar = content(read(tmp_path / "logdir", vectorised=False))
    assert content(read(tmp_path / "logdir")) == scalar
    chunk_bytes = data.draw(st.integers(40, 3000))
    assert content(read(tmp_path / "logdir", chunk_bytes=chunk_bytes)) == scalar


@scratch
@given(st.data())
def test_damaged_bytes(tmp_path, logdirs, data):
    """A record whose payload is damaged may be taken for the one it was; the others never."""
    name = data.draw(st.sampled_from(NAMES))
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


def intact(run):
    """Returns the events of a run that can be read in full, with what the index says of them."""
    found = {}
    for events, what in (
        (run.executions, run.executions.kind),
        (run.graph_executions, run.graph_executions.site),
    ):
        alerts = set(events.alert_rows[:].tolist())
        for i in range(len(events)):
            try:
                event = events[i]
            except ValueError:
                continue
            offset = events._offsets[0][i]
            found[type(event).__name__, offset] = (what(i), i in alerts, event.wall_time)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_hardly_a_record_is_read_alone(tmp_path, logdirs, name, monkeypatch):
    """Speed comes from recognising records; a mistake there would be slow and go unnoticed."""
    logdir = shutil.copytree(logdirs[name], tmp_path / "logdir")
    for path in (*logdir.glob("*.execution"), *logdir.glob("*traces")):
        path.write_bytes(path.read_bytes() * 40)
    alone = 0
    for log in (ExecutionLog, TraceLog):
        decode = log._decode

        def counting(self, *args, decode=decode, **options):
            nonlocal alone
            alone += 1
            return decode(self, *args, **options)

        monkeypatch.setattr(log, "_decode", counting)
    run = read(logdir)
    once = run.graph_executions.num_sites + run.executions.num_kinds
    assert alone < 2 * once + 0.04 * (len(run.executions) + len(run.graph_executions))


def test_frames_are_walked_from_many_places():
    data = b"".join(tfrecord.frame(b"\x09" + bytes(size % 97)) for size in range(100_000))
    buffer = np.frombuffer(data + bytes(PADDING), np.uint8)
    assert len(frames._lane_starts(buffer, len(data), 200, 250)) > 150


def test_frames_of_many_records():
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


def test_interning_compares_every_byte():
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
