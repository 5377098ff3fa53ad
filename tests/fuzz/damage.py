"""Damaging a logdir at random: its bytes, its records, the messages in them, its files."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from tfdbg_tui.wire import codec, events, filesets, tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

NUMBERS = (0, 1, -1, 2, 127, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 63) - 1, -(1 << 63))
STRINGS = (
    b"",
    b"x" * 5000,
    b"\xff\xfe\x80",
    "\x1b]0;owned\x07\x9b2J\u202e[red]x[/red]\n".encode(),
    b"while/while_cond/:0:::",
    b"__inference_f_1",
    b"__forward_f_1",
    b"/../../etc/passwd",
)
_DEEPEST = 5


def damage(logdir: Path, others: list[Path], rng: Random) -> list[str]:
    """Damages the files of a logdir in place; returns what was done.

    Args:
        logdir: The directory; it holds one file set.
        others: Logdirs of which files may be taken.
        rng: Where chance comes from.
    """
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        files = _files(logdir)
        if files:
            path = rng.choice(files)
            change = rng.choice(CHANGES)
            change(path, rng)
            done.append(f"{change.__name__} {path.name}")
        if rng.random() < 0.1:
            done.append(_mix_in(logdir, rng.choice(others), rng))
    return done


def _files(logdir: Path) -> list[Path]:
    return sorted(path for path in logdir.iterdir() if path.is_file())


# ---- Bytes


def flip_bits(path: Path, rng: Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 3, 50)) if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def flip_a_bit_of_the_first_records(path: Path, rng: Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[rng.randrange(min(len(data), 1000))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, rng: Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randint(0, len(data))])


def zero(path: Path, rng: Random) -> None:
    data = bytearray(path.read_bytes())
    start = rng.randint(0, len(data))
    stop = min(len(data), start + rng.choice((1, 12, 300, 1 << 20)))
    data[start:stop] = bytes(stop - start)
    path.write_bytes(data)


def add_tail(path: Path, rng: Random) -> None:
    tail = rng.choice((rng.randbytes(rng.randint(1, 3000)), bytes(rng.randint(1, 3000))))
    path.write_bytes(path.read_bytes() + tail)


# ---- Files


def remove(path: Path, rng: Random) -> None:
    path.unlink()


def empty(path: Path, rng: Random) -> None:
    path.write_bytes(b"")


def repeat(path: Path, rng: Random) -> None:
    path.write_bytes(path.read_bytes() * 2)


def replace_by_no_file(path: Path, rng: Random) -> None:
    path.unlink()
    kind = rng.choice(("directory", "pipe", "dangling link", "link to itself", "endless"))
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"dangling link": "gone", "endless": "/dev/zero"}.get(kind, path.name))


def swap(path: Path, rng: Random) -> None:
    other = rng.choice(_files(path.parent))
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)


def _mix_in(logdir: Path, other: Path, rng: Random) -> str:
    """Puts a file of another logdir in the place of one, or all of them beside it."""
    theirs = sorted(other.iterdir())
    if rng.random() < 0.5:
        source = rng.choice(theirs)
        mine = [path for path in _files(logdir) if path.suffix == source.suffix]
        for path in mine:
            shutil.copy(source, path)
        return f"taken {source}"
    metadata = next((p for p in _files(logdir) if p.suffix == f".{filesets.METADATA}"), None)
    for source in theirs:
        own = source.suffix == f".{filesets.METADATA}" and metadata is not None
        beside = logdir / f"tfdbg_events.9.other{source.suffix}"
        if not (own and metadata == beside):  # It may have been mixed before.
            shutil.copy(metadata if own else source, beside)
    return f"mixed with {other}"


# ---- Records


def _change_records(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Changes the payloads of a file's records; the checksums are right."""
    try:
        payloads = [payload for _, payload in tfrecord.records(path.read_bytes())]
    except tfrecord.CorruptRecordError:
        return
    path.write_bytes(b"".join(map(tfrecord.frame, change(payloads))))


def shuffle(path: Path, rng: Random) -> None:
    def change(payloads: list[bytes]) -> list[bytes]:
        chosen = [p for p in payloads if rng.random() < 0.9]
        if rng.random() < 0.5:
            rng.shuffle(chosen)
        return chosen + rng.choices(payloads, k=min(len(payloads), 3))

    _change_records(path, change)


def mutate(path: Path, rng: Random) -> None:
    """Changes a field somewhere in some messages, or in the same place of nearly all of them."""
    share = rng.choice((0.0, 0.05, 1.0))

    def change(payloads: list[bytes]) -> list[bytes]:
        at = rng.randrange(len(payloads)) if payloads else 0
        return [
            mutated(payload, rng) if number == at or rng.random() < share else payload
            for number, payload in enumerate(payloads)
        ]

    _change_records(path, change)


def mutated(message: bytes, rng: Random, depth: int = 0) -> bytes:
    """Returns a message with one of its fields changed, or one of a message inside it."""
    fields = _fields(message)
    if not fields:
        return message
    at = rng.randrange(len(fields))
    number, wire_type, value = fields[at]
    if isinstance(value, bytes) and depth < _DEEPEST and rng.random() < 0.7 and _fields(value):
        changed = codec.bytes_field(number, mutated(value, rng, depth + 1))
    else:
        changed = _another(number, wire_type, value, rng)
    parts = [_encoded(*field) for field in fields]
    parts[at] = changed
    return b"".join(parts)


def _another(number: int, wire_type: int, value: int | bytes, rng: Random) -> bytes:
    """Returns what stands in the place of a field."""
    kind = rng.randrange(6)
    if kind == 0:
        return b""
    if kind == 1:
        return _encoded(number, wire_type, value) * rng.choice((2, 300))
    if kind == 2:  # another type
        return codec.varint_field(number, 5) if isinstance(value, bytes) else codec.tag(number, 7)
    if isinstance(value, bytes):
        some = rng.choice((*STRINGS, value[: len(value) // 2], value * 2, rng.randbytes(8)))
        return codec.bytes_field(number, some)
    if wire_type == codec.VARINT:
        return codec.varint_field(number, rng.choice(NUMBERS))
    size = 8 if wire_type == codec.FIXED64 else 4
    return codec.tag(number, wire_type) + rng.choice((rng.randbytes(size), b"\xff" * size))


def _fields(message: bytes) -> list[tuple[int, int, int | bytes]]:
    try:
        return list(codec.fields(message))
    except codec.DecodeError:
        return []


def _encoded(number: int, wire_type: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return codec.bytes_field(number, value)
    if wire_type == codec.VARINT:
        return codec.varint_field(number, value)
    size = 8 if wire_type == codec.FIXED64 else 4
    return codec.tag(number, wire_type) + value.to_bytes(size, "little")


# ---- References between graphs and ops


def tangle(path: Path, rng: Random) -> None:
    """Lets ops take, graphs contain and calls call one another in circles."""
    files = [p for p in _files(path.parent) if p.suffix == f".{filesets.GRAPHS}"]
    if not files:
        return

    def change(payloads: list[bytes]) -> list[bytes]:
        decoded = [_decoded(payload) for payload in payloads]
        ops = [events.GraphOpCreation.decode(e.graph_op_creation) for e in decoded if e]
        graphs = sorted({op.graph_id for op in ops})
        names = [op.op_name for op in ops if op.op_name]
        changed = []
        for payload, event in zip(payloads, decoded, strict=True):
            if event is not None and graphs and rng.random() < 0.3:
                payload = _tangled(event, graphs, names, rng)
            changed.append(payload)
        return changed

    _change_records(files[0], change)


def _decoded(payload: bytes) -> events.DebugEvent | None:
    try:
        event = events.DebugEvent.decode(payload)
        events.GraphOpCreation.decode(event.graph_op_creation)
        events.DebuggedGraph.decode(event.debugged_graph)
        events.GraphSignature.decode(event.graph_signature)
    except codec.DecodeError:
        return None
    return event


def _tangled(event: events.DebugEvent, graphs: list[str], names: list[str], rng: Random) -> bytes:
    if event.graph_op_creation:
        op = events.GraphOpCreation.decode(event.graph_op_creation)
        inputs = [f"{rng.choice(names)}:{rng.choice((0, 1, 9))}" for _ in op.input_names]
        op.input_names = inputs or op.input_names
        if op.called_graph_ids or rng.random() < 0.1:
            op.called_graph_ids = rng.choices(graphs, k=rng.choice((1, 2, 3)))
        if rng.random() < 0.2:
            op.op_type = rng.choice(("While", "If", "Placeholder", "Identity", "ReadVariableOp"))
        event.graph_op_creation = op.encode()
    elif event.debugged_graph:
        graph = events.DebuggedGraph.decode(event.debugged_graph)
        graph.outer_context_id = rng.choice(graphs)
        event.debugged_graph = graph.encode()
    elif event.graph_signature:
        signature = events.GraphSignature.decode(event.graph_signature)
        signature.graph_id = rng.choice(graphs)
        signature.forward_graph_id = rng.choice(graphs)
        event.graph_signature = signature.encode()
    return event.encode()


CHANGES: tuple[Callable[[Path, Random], None], ...] = (
    flip_bits,
    flip_a_bit_of_the_first_records,
    truncate,
    zero,
    add_tail,
    remove,
    empty,
    repeat,
    replace_by_no_file,
    swap,
    shuffle,
    mutate,
    mutate,
    mutate,
    tangle,
)
