"""Bytes that stay in their file are like bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_tui.logdir.files.file_slice import FileSlice
from tfdbg_tui.wire import codec

DATA = bytes(range(251)) * 1000


@given(st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 9000)), max_size=20))
def test_what_is_read_does_not_depend_on_what_was_read_before(spans: list[tuple[int, int]]) -> None:
    stretch = FileSlice(lambda offset, size: DATA[offset : offset + size], 7, 8000)
    plain = DATA[7:8007]
    for start, stop in spans:
        assert stretch[start:stop] == plain[start:stop]
        if start < len(plain):
            assert stretch[start] == plain[start]


def test_a_message_of_many_small_fields_takes_few_reads() -> None:
    message = codec.bytes_field(3, b"twelve bytes") * 20_000
    reads = 0

    def read(offset: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        return message[offset : offset + size]

    found = list(codec.fields(FileSlice(read, 0, len(message))))  # type: ignore[arg-type]
    assert found == list(codec.fields(message))
    assert reads < 100


def test_packed_doubles_are_read_in_pieces() -> None:
    data = struct.pack("<20000d", *range(20_000))
    stretch = FileSlice(lambda offset, size: data[offset : offset + size], 0, len(data))
    assert codec.unpack_doubles(stretch) == list(range(20_000))  # type: ignore[arg-type]
    shorter = FileSlice(lambda offset, size: data[:100_001][offset : offset + size], 0, len(data))
    with pytest.raises(codec.DecodeError):
        codec.unpack_doubles(shorter)  # type: ignore[arg-type]
