"""What records refer to is found also where a later version has added fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.logdir.synthetic import read, record, write_logdir
from tfdbg_tui.wire import codec, events, tfrecord

if TYPE_CHECKING:
    from pathlib import Path


def test_source_files_with_unknown_fields(tmp_path: Path) -> None:
    unknown = codec.varint_field(500, 7) + codec.bytes_field(501, b"x" * 40)
    lines = ["x" * 50] * 400
    source = unknown + events.SourceFile("/home/user/train.py", "host", lines).encode()
    known = codec.tag(events.DebugEvent.tag("source_file") >> 3, codec.BYTES)
    before = codec.fixed64_field(502, 1) + codec.fixed32_field(503, 1) + unknown
    payload = before + known + codec.varint(len(source)) + source
    plain = record(source_file=events.SourceFile("/home/user/plain.py", "host", lines).encode())
    write_logdir(tmp_path, sources=tfrecord.frame(payload) + plain)
    run = read(tmp_path)
    assert list(run.source_paths) == [
        ("host", "/home/user/train.py"),
        ("host", "/home/user/plain.py"),
    ]
    found = run.source("host", "/home/user/train.py")
    assert found is not None
    assert list(found.lines) == lines
    assert not run.problems
