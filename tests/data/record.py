"""Records the small logdirs that the tests read, and the one of `tfdbg-tui demo`.

    python tests/data/record.py [NAME...]

runs each program in a process of its own and writes `<name>.tar.xz` beside this file; `demo` goes
into the package.  The demo, the nested loops and the nested calls are recorded with this project's
dump writer, all else with TensorFlow's.  What is about the machine it ran on is replaced (see
`neutral_copy`): the recordings hold the source text of this repository's programs only, and name
library files and hosts neutrally.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_tui.program import recording_environment
from tfdbg_tui.wire import codec, events, filesets, tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
HOST = "host"

# Numbers: DebugEvent's field -> the field of that message that holds a CodeLocation.
_CODE_LOCATIONS = {
    events.DebugEvent.tag("graph_op_creation") >> 3: events.GraphOpCreation.tag("code_location")
    >> 3,
    events.DebugEvent.tag("execution") >> 3: events.Execution.tag("code_location") >> 3,
}
_SOURCE_FILE = events.DebugEvent.tag("source_file") >> 3


@dataclass(frozen=True)
class Recording:
    """A program of this repository and how it is recorded."""

    program: str
    mode: str
    arguments: tuple[str, ...] = ()
    writer: str = "tensorflow"
    directory: Path = HERE


_MNIST = ("--fake_data", "--max_steps=8")

RECORDINGS = {
    "demo": Recording(
        "examples/debug_mnist.py", "ADAPTIVE", _MNIST, "tfdbg_tui", PROJECT / "tfdbg_tui/cli"
    ),
    "mnist": Recording("examples/debug_mnist.py", "FULL_HEALTH", _MNIST),
    "control_flow": Recording("tests/data/programs/control_flow.py", "FULL_HEALTH"),
    "mirrored": Recording("tests/data/programs/mirrored.py", "FULL_HEALTH"),
    "nested_loops": Recording(
        "tests/data/programs/nested_loops.py", "ADAPTIVE", writer="tfdbg_tui"
    ),
    "nested_calls": Recording(
        "tests/data/programs/nested_calls.py", "FULL_TENSOR", writer="tfdbg_tui"
    ),
    "session": Recording("tests/data/programs/session.py", "FULL_HEALTH"),
    **{
        mode.lower(): Recording("tests/data/programs/modes.py", mode)
        for mode in (
            "NO_TENSOR",
            "CURT_HEALTH",
            "CONCISE_HEALTH",
            "FULL_HEALTH",
            "SHAPE",
            "FULL_TENSOR",
        )
    },
}


def record(name: str) -> Path:
    """Runs a program in a new process and packs what it dumped."""
    archive_path = RECORDINGS[name].directory / f"{name}.tar.xz"
    with tempfile.TemporaryDirectory() as scratch:
        dumped, neutral = Path(scratch, "dumped"), Path(scratch, name)
        command, environment = _command(name, str(dumped))
        subprocess.run([sys.executable, *command], env=environment, check=True, cwd=PROJECT)
        neutral_copy(dumped, neutral)
        with tarfile.open(archive_path, "w:xz", preset=9) as archive:
            archive.add(neutral, arcname=name, filter=anonymous)
    return archive_path


def _command(name: str, dump_root: str) -> tuple[list[str], dict[str, str] | None]:
    """Returns what follows ``python``, and the environment."""
    recording = RECORDINGS[name]
    if recording.writer == "tensorflow":
        return [__file__, "--run", name, dump_root], None
    environment = recording_environment(dump_root, {"tensor_debug_mode": recording.mode})
    return [recording.program, *recording.arguments], environment


def run_program(name: str, dump_root: str) -> None:
    """Runs a program in this process with TensorFlow's dump writer enabled."""
    import tensorflow as tf

    recording = RECORDINGS[name]
    tf.debugging.experimental.enable_dump_debug_info(
        dump_root, tensor_debug_mode=recording.mode, circular_buffer_size=-1
    )
    sys.argv = [recording.program, *recording.arguments]
    runpy.run_path(str(PROJECT / recording.program), run_name="__main__")
    tf.debugging.experimental.disable_dump_debug_info()


def neutral_copy(logdir: Path, destination: Path) -> None:
    """Copies a logdir without what is about the machine it was recorded on.

    Host names become "host"; this repository becomes /home/user/tfdbg-tui, libraries
    /usr/lib/python3/site-packages, Python itself /usr/lib/python3; the text of files outside of
    this repository is left out, and the sizes of files in the metadata become those of the copies.
    All else is kept to the byte.
    """
    destination.mkdir(parents=True)
    file_sets = filesets.find_file_sets(str(logdir))
    for number, file_set in enumerate(file_sets):
        seconds = os.path.basename(file_set.prefix).split(".")[1]
        process = f"-{number}" if len(file_sets) > 1 else ""
        sizes: list[int] = []
        for suffix in reversed(filesets.SUFFIXES):  # the metadata, which tells sizes, is the first
            data = Path(file_set.path(suffix)).read_bytes()
            payloads = [_neutral_event(payload) for _, payload in tfrecord.records(data)]
            if suffix == filesets.METADATA:
                payloads = [_with_file_sizes(payload, sizes[::-1]) for payload in payloads]
            neutral = b"".join(map(tfrecord.frame, payloads))
            name = f"tfdbg_events.{seconds}.{HOST}{process}.{suffix}"
            (destination / name).write_bytes(neutral)
            sizes.append(len(neutral))


def _with_file_sizes(payload: bytes, sizes: list[int]) -> bytes:
    """Returns an event with other sizes of files where it tells some."""
    event = events.DebugEvent.decode(payload)
    metadata = events.DebugMetadata.decode(event.debug_metadata)
    if not metadata.file_sizes:
        return payload
    metadata.file_sizes = sizes
    event.debug_metadata = metadata.encode()
    return event.encode()


def _neutral_event(payload: bytes) -> bytes:
    out = b""
    for number, wire_type, value in codec.fields(payload):
        if number == _SOURCE_FILE and isinstance(value, bytes):
            value = _neutral_source_file(value)
        elif number in _CODE_LOCATIONS and isinstance(value, bytes):
            value = _replace_in(value, _CODE_LOCATIONS[number], _neutral_code_location)
        out += _field(number, wire_type, value)
    return out


def _neutral_source_file(message: bytes) -> bytes:
    path = next(value for number, _, value in codec.fields(message) if number == 1)
    assert isinstance(path, bytes)
    generated = b"__autograph_generated_file" in path  # of a program of ours
    ours = generated or Path(path.decode()).is_relative_to(PROJECT)
    out = codec.bytes_field(1, neutral_path(path.decode()).encode())
    out += codec.bytes_field(2, HOST.encode())
    for number, wire_type, value in codec.fields(message):
        if number > 2 and ours:
            out += _field(number, wire_type, value)
    return out


def _neutral_code_location(message: bytes) -> bytes:
    return _replace_in(message, 1, lambda _host: HOST.encode())


def neutral_path(path: str) -> str:
    """Returns a path of this machine as it could be on any."""
    if Path(path).is_relative_to(PROJECT):
        return str("/home/user/tfdbg-tui" / Path(path).relative_to(PROJECT))
    if match := re.search(r"/(?:site|dist)-packages/(.*)", path):
        return f"/usr/lib/python3/site-packages/{match[1]}"
    if match := re.search(r"/python3[.\d]*/(.*)", path):
        return f"/usr/lib/python3/{match[1]}"
    if path.startswith("<") or not path.startswith("/"):
        return path
    return f"/home/user/{os.path.basename(path)}"


def _replace_in(message: bytes, field: int, replace: Callable[[bytes], bytes]) -> bytes:
    out = b""
    for number, wire_type, value in codec.fields(message):
        if number == field and isinstance(value, bytes):
            value = replace(value)
        out += _field(number, wire_type, value)
    return out


def _field(number: int, wire_type: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return codec.bytes_field(number, value)
    if wire_type == codec.VARINT:
        return codec.varint_field(number, value)
    if wire_type == codec.FIXED64:
        return codec.fixed64_field(number, value)
    return codec.fixed32_field(number, value)


def anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    return info


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--run"]:
        run_program(*arguments[1:])
        return
    for name in arguments or RECORDINGS:
        print(f"{name}: {record(name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
