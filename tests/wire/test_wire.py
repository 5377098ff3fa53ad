"""The bytes of a logdir: checksums, framing, wire format, messages."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfdbg_tui
from tfdbg_tui.wire import codec, crc32c, events, filesets, tfrecord

if TYPE_CHECKING:
    from random import Random

int64 = st.integers(-(1 << 63), (1 << 63) - 1)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
    ],
)
def test_crc32c_of_rfc_3720(data: bytes, crc: int) -> None:
    assert crc32c.crc32c(data) == crc


@given(st.one_of(st.integers(0, 2000), st.integers(6000, 40_000)), st.randoms())
def test_crc32c_of_many_bytes_is_that_of_each(size: int, random: Random) -> None:
    data = random.randbytes(size)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc32c.TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    assert crc32c.crc32c(data) == crc ^ 0xFFFFFFFF


@given(st.lists(st.integers(0, (1 << 64) - 1)))
def test_checksums_of_lengths(lengths: list[int]) -> None:
    checksums = crc32c.masked_crc32c_of_lengths(np.array(lengths, np.uint64))
    assert checksums.tolist() == [crc32c.masked_crc32c(n.to_bytes(8, "little")) for n in lengths]


@given(int64)
def test_varint_round_trip(value: int) -> None:
    data = codec.varint(value)
    decoded, end = codec.read_varint(data, 0)
    assert codec.signed(decoded) == value
    assert end == len(data) <= 10


@given(st.binary(max_size=60))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    for read in (codec.fields, codec.spans):
        try:
            values = list(read(data))
        except codec.DecodeError:
            continue
        assert len(values) <= len(data)
    for message in (events.DebugEvent, events.Execution, events.TensorProto):
        with contextlib.suppress(codec.DecodeError):
            message.decode(data)


def test_spans_are_those_of_the_values() -> None:
    data = codec.varint_field(3, 300) + codec.bytes_field(1000, b"abc") + codec.double_field(2, 0.5)
    data += codec.fixed32_field(4, 7)
    values = [data[start:end] for _, start, end in codec.spans(data)]
    assert values == [codec.varint(300), b"abc", codec.double_bytes(0.5), b"\7\0\0\0"]
    assert [tag >> 3 for tag, _, _ in codec.spans(data)] == [3, 1000, 2, 4]


@given(
    st.builds(
        events.Execution,
        op_type=text,
        num_outputs=int64,
        input_tensor_ids=st.lists(int64),
        tensor_protos=st.lists(st.binary()),
        serial=st.none() | st.integers(0, (1 << 64) - 1),
        thread=st.none() | st.integers(0, (1 << 32) - 1),
        minima=st.lists(st.floats(allow_nan=False)),
    )
)
def test_execution_round_trip(execution: events.Execution) -> None:
    assert events.Execution.decode(execution.encode()) == execution


@given(st.lists(st.binary(max_size=300)), st.data())
def test_records_round_trip_and_stop_at_a_torn_one(
    payloads: list[bytes], data: st.DataObject
) -> None:
    frames = [tfrecord.frame(payload) for payload in payloads]
    whole = b"".join(frames)
    cut = data.draw(st.integers(0, len(whole)))
    kept = [payload for _, payload in tfrecord.records(whole[:cut], check=True)]
    ends = np.cumsum([len(frame) for frame in frames]).tolist()
    assert kept == payloads[: sum(end <= cut for end in ends)]


def test_damage_is_told() -> None:
    frame = bytearray(tfrecord.frame(b"payload"))
    for at in range(len(frame)):
        broken = frame.copy()
        broken[at] ^= 0x10
        with pytest.raises(tfrecord.CorruptRecordError):
            list(tfrecord.records(bytes(broken), check=True))


def test_file_sets_by_name(tmp_path: Path) -> None:
    for name in ("tfdbg_events.1.a.b.graphs", "tfdbg_events.1.c.metadata", "events.out.metadata"):
        (tmp_path / name).touch()
    names = [set_.prefix.rsplit("/", 1)[1] for set_ in filesets.find_file_sets(str(tmp_path))]
    assert names == ["tfdbg_events.1.a.b", "tfdbg_events.1.c"]


def test_no_field_number_is_written_beside_its_declaration() -> None:
    """Tags and fields outside of `wire` come from the messages: `Message.tag` and `field`."""
    package = Path(tfdbg_tui.__file__).parent
    numbered = re.compile(r"codec\.(tag|\w+_field)\(|<< 3 \| codec\.")
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        if path.parent.name != "wire"
        for line in path.read_text().splitlines()
        if numbered.search(line)
    ]
    assert found == []


def test_a_field_by_itself_is_that_of_the_message() -> None:
    trace = events.GraphExecutionTrace(op_name="Log", output_slot=3, execution_serial=7)
    fields = ("op_name", "Log"), ("output_slot", 3), ("execution_serial", 7)
    assert trace.encode() == b"".join(trace.field(*field) for field in fields)
    for (name, _), (tag, _, _) in zip(fields, codec.spans(trace.encode()), strict=True):
        assert trace.tag(name) == tag
