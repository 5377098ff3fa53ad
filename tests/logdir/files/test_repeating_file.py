"""Repetitions are read as if they were written whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdbg_tui.dump.encode.causes import Cause
from tfdbg_tui.dump.encode.repetitions import InOrder, Repeats
from tfdbg_tui.dump.encode.traces import Site, TraceTemplates
from tfdbg_tui.logdir.files.chunk import ScanBuffer
from tfdbg_tui.logdir.files.problems import Problems
from tfdbg_tui.logdir.files.repeating_file import RepeatingFile
from tfdbg_tui.wire import repetitions, tfrecord
from tfdbg_tui.wire.events import DebugEvent, GraphExecutionTrace, Repetitions
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tfdbg_tui.logdir.files.record_file import RecordFile

GRAPH = "f0e1d2c3-0000-4000-8000-0123456789ab"
CAUSES = [
    Cause(1.7e9, 0, 1),
    Cause(1.7e9 + 1, 300, 1),
    Cause(1.7e9 + 2, 1 << 34, 2),
    Cause(1.7e9 + 3, None, 3),
]


class Written(NamedTuple):
    """Executions in a file, and what the file would be if all were written whole."""

    stored: bytes
    whole: bytes


def groups(names: list[list[str]], *, iterated: bool, stepped: bool) -> list[Any]:
    found = []
    for number, ops in enumerate(names):
        sites = [Site(GRAPH, op, slot, "/device:CPU:0") for slot, op in enumerate(ops)]
        mode = TensorDebugMode.CONCISE_HEALTH
        made = TraceTemplates(sites, mode, stepped=stepped, iterated=iterated, extremes=False)
        found.append(made.filled(np.full((len(ops), made.length), float(number))))
    return found


def written(
    names: list[list[str]],
    parts: list[list[tuple[int, int, int]]],
    repeats: Repeats = Repeats.IN_CALLS,
) -> Written:
    """Write executions, each a group, a cause and an iteration, in parts."""
    made = {
        stepped: groups(names, iterated=len(names) > 1, stepped=stepped)
        for stepped in (True, False)
    }
    stored, whole = b"", b""
    for part in parts:
        which, caused, iterations = np.array(part).T
        stepped = [CAUSES[cause].step is not None for cause in caused]
        records = [
            made[has_step][group].stamped(CAUSES, np.array([cause]), np.array([iteration]))[0]
            for group, cause, iteration, has_step in zip(
                which, caused, iterations, stepped, strict=True
            )
        ]
        counts = np.array([len(names[group]) for group in which])
        order = InOrder(which * 2 + stepped, CAUSES, caused, iterations, counts, repeats)
        items = list(order.items(records))
        assert sum(count for _, count in items) == counts.sum()
        stored += b"".join(item for item, _ in items)
        whole += b"".join(records)
    return Written(stored, whole)


SOME_NAMES = st.lists(
    st.lists(st.text("ab/", min_size=1, max_size=300), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)


@st.composite
def files(draw: Any) -> Written:
    names = draw(SOME_NAMES)
    execution = st.tuples(
        st.integers(0, len(names) - 1),
        st.integers(0, len(CAUSES) - 1),
        st.sampled_from([0, 1, 2, 2**31, 2**32 - 1]),
    )
    one = st.lists(execution, min_size=1, max_size=40)
    return written(
        names, draw(st.lists(one, min_size=1, max_size=3)), draw(st.sampled_from(Repeats))
    )


def read(file: RecordFile, limit: int) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the payload of each record."""
    buffer = ScanBuffer(1 << 23)
    file.look(patient=False)
    while (chunk := file.read(buffer, limit)) is not None:
        payloads = [chunk.payload(row) for row in range(len(chunk))]
        yield from zip(chunk.offsets.tolist(), payloads, strict=True)


def opened(path: Path, data: bytes, problems: Problems) -> RepeatingFile:
    path.write_bytes(data)
    return RepeatingFile(str(path), problems)


@given(files(), st.integers(1, 1 << 16), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_repetitions_are_read_as_if_written(
    tmp_path_factory: pytest.TempPathFactory, data: Written, limit: int, random: Any
) -> None:
    problems = Problems()
    file = opened(tmp_path_factory.mktemp("run") / "stored", data.stored, problems)
    payloads = dict(tfrecord.records(data.whole, check=True))
    assert dict(read(file, limit)) == payloads
    assert file.exhausted
    assert not problems.snapshot()
    some = random.sample(sorted(payloads), min(20, len(payloads)))
    assert [file.record(at) for at in some] == [payloads[at] for at in some]
    begins = [at + tfrecord.HEADER_SIZE for at in some]
    assert file.bytes_at_each(begins, 9) == [payloads[at][:9] for at in some]
    # Across what is stored and what is made; checksums of what is made are not there.
    first, last = min(some), max(some)
    size = last + tfrecord.HEADER_SIZE + len(payloads[last]) - first
    found = file.bytes_at(first, size)
    for at in some:
        start = at - first + tfrecord.HEADER_SIZE
        assert found[start : start + len(payloads[at])] == payloads[at]


@given(files(), st.data())
@settings(max_examples=60, deadline=None)
def test_of_a_damaged_file_nothing_wrong_is_read(
    tmp_path_factory: pytest.TempPathFactory, data: Written, draw: Any
) -> None:
    damaged = bytearray(data.stored)
    place = draw.draw(st.integers(0, len(damaged) - 1))
    damaged[place] ^= 1 << draw.draw(st.integers(0, 7))
    problems = Problems()
    file = opened(tmp_path_factory.mktemp("run") / "stored", bytes(damaged), problems)
    right = [payload for _, payload in tfrecord.records(data.whole)]
    found = list(read(file, 1 << 14))
    for _, payload in found:
        right.remove(payload)  # Raises where it is none of them.
    assert not right or problems.snapshot() or not file.exhausted or file.position < len(damaged)
    for at, payload in found:
        assert file.record(at) == payload


LOOP = [(0, 0, i) for i in range(9)]


def first_and_last() -> tuple[bytes, bytes, int]:
    """Return the first and the last payload of a loop, and the size of the first's record."""
    data = written([["a" * 200]], [LOOP])
    first, last = (payload for _, payload in tfrecord.records(data.stored, check=True))
    own = last[: -repetitions.appended_size(last)]
    return first, own, len(first) + tfrecord.FRAME_SIZE


@pytest.mark.parametrize(
    "change",
    [
        {"distances": [1 << 40]},
        {"distances": [1]},
        {"sizes": [0]},
        {"sizes": [5]},
        {"sizes": []},
        {"steps": []},
        {"serials": [1, 2]},
        {"executions": np.array([[1, 0, 0]], "<u4").tobytes()},
        {"executions": np.array([[0, 9, 0]], "<u4").tobytes()},
        {"executions": np.zeros([1 << 19, 3], "<u4").tobytes()},
        {"executions": b"12345"},
        {"executions": b""},
    ],
)
def test_repetitions_that_contradict_themselves_cost_nothing_else(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    first, own, size = first_and_last()
    told = Repetitions([size], [size], [1.0], [0], [1], np.array([[0, 0, 1]], "<u4").tobytes())
    for name, value in change.items():
        setattr(told, name, value)
    stored = tfrecord.frame(first) + tfrecord.frame(own + repetitions.appended(told))
    problems = Problems()
    file = opened(tmp_path / "stored", stored, problems)
    assert [payload for _, payload in read(file, 1 << 14)] == [first, own]
    (problem,) = problems.snapshot()
    assert f"the record at byte {size:,} is not readable" in problem.message
    assert file.record(size) == own


def test_any_numbers_are_read(tmp_path: Path) -> None:
    """Those of a damaged file need not be what a writer would write."""
    first, own, size = first_and_last()
    executions = np.array([[0, 0, 1]], "<u4").tobytes()
    told = Repetitions([size], [size], [float("nan")], [-(1 << 63)], [-1], executions)
    stored = tfrecord.frame(first) + tfrecord.frame(own + repetitions.appended(told))
    problems = Problems()
    found = [payload for _, payload in read(opened(tmp_path / "f", stored, problems), 1 << 14)]
    assert [found[0], found[2]] == [first, own]
    event = DebugEvent.decode(found[1])
    assert GraphExecutionTrace.decode(event.graph_execution_trace).op_name == "a" * 200
    assert not problems.snapshot()


def test_a_file_is_read_as_it_grows(tmp_path: Path) -> None:
    data = written([["a", "b"], ["c"]], [LOOP, [*LOOP, (1, 2, 0), (1, 2, 1), (1, 2, 2)]])
    problems = Problems()
    path = tmp_path / "stored"
    file = opened(path, b"", problems)
    found: list[tuple[int, bytes]] = []
    for end in range(0, len(data.stored) + 1, 97):
        path.write_bytes(data.stored[:end])
        found += read(file, 1 << 14)
    path.write_bytes(data.stored)
    found += read(file, 1 << 14)
    assert found == list(tfrecord.records(data.whole))
    assert not problems.snapshot()
