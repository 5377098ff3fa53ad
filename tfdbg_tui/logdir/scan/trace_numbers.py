"""What graph execution traces say in numbers, read again from the file for many of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.files.gather import PADDING, Bytes, Flags, Ints, blocks, columns, words
from tfdbg_tui.logdir.scan.trace_head import walk_traces
from tfdbg_tui.logdir.values.summaries import VECTOR_HEADS
from tfdbg_tui.wire import tfrecord
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.record_file import RecordFile
    from tfdbg_tui.logdir.scan.trace_head import TraceFields

Numbers = dict[str, npt.NDArray[np.float64]]

COUNTS = ("rank", "size", "neg_inf", "pos_inf", "nan", "neg", "zero", "pos")
NUMBERS = ("step", "serial", *COUNTS, "minimum", "maximum")
"""What is read of each trace; NaN stands for what is not on record."""

_DENSE = 4096  # records closer together than this are read together
_RECORD = 2048  # bytes in which most records are whole


def read_numbers(file: RecordFile, offsets: Ints) -> tuple[Numbers, Flags]:
    """Return (numbers by their names in `NUMBERS`, of which traces they are known).

    Args:
        file: A file of graph execution traces.
        offsets: Where some of its records start, in any order.
    """
    if not len(offsets):
        return {name: np.zeros(0) for name in NUMBERS}, np.zeros(0, bool)
    data, starts, ends = _gather(file, offsets)
    sizes = words(data)[starts].astype(np.int64)
    first = starts + tfrecord.HEADER_SIZE
    whole = (sizes >= 0) & (sizes <= ends - first)
    rows = np.flatnonzero(whole)
    bounds = first[rows], (first + sizes)[rows]
    fields = walk_traces(data, bounds, skip_unknown=False)
    found, known = _numbers(data, fields)
    numbers = {name: np.full(len(offsets), np.nan) for name in NUMBERS}
    for name, values in found.items():
        numbers[name][rows] = values
    told = np.zeros(len(offsets), bool)
    told[rows] = known
    return numbers, told


def _gather(file: RecordFile, offsets: Ints) -> tuple[Bytes, Ints, Ints]:
    """Return (a buffer, where in it each record starts, how far what was read with it goes)."""
    order = np.argsort(offsets, kind="stable")
    ascending = offsets[order]
    groups = np.split(order, np.flatnonzero(np.diff(ascending) >= _DENSE) + 1)
    starts, ends = np.zeros(len(offsets), np.int64), np.zeros(len(offsets), np.int64)
    pieces: list[bytes] = []
    size = 0
    for group in groups:
        base, last = int(offsets[group[0]]), int(offsets[group[-1]])
        piece = file.bytes_at(base, last - base + _RECORD)
        pieces.append(piece)
        starts[group] = np.minimum(size + offsets[group] - base, size + len(piece))
        size += len(piece)
        ends[group] = size
    return np.frombuffer(b"".join((*pieces, bytes(PADDING))), np.uint8), starts, ends


def _numbers(data: Bytes, fields: TraceFields) -> tuple[Numbers, Flags]:
    count = len(fields.ok)
    numbers = {name: np.full(count, np.nan) for name in NUMBERS}
    known = fields.ok & ((fields.proto_size == 0) | (fields.mode == TensorDebugMode.NO_TENSOR))
    has_step = fields.step >= 0
    numbers["step"][has_step] = fields.step[has_step]
    numbered = np.flatnonzero(fields.ok & fields.has_serial)
    numbers["serial"][numbered] = words(data)[fields.serial[numbered]].view(np.int64)
    for mode, names in VALUE_VECTORS.items():
        rows = np.flatnonzero(fields.ok & ~known & (fields.mode == mode))
        rows, vectors = _vectors(data, fields, rows, VECTOR_HEADS[mode])
        known[rows] = True
        for place, name in enumerate(names):
            if name in COUNTS:
                numbers[name][rows] = np.trunc(vectors[:, place])
        if "nan" in names:  # the other modes say nothing of extremes
            for name, has, at in (
                ("minimum", fields.has_minimum, fields.minimum),
                ("maximum", fields.has_maximum, fields.maximum),
            ):
                mine = rows[has[rows]]
                numbers[name][mine] = words(data)[at[mine]].view(np.float64)
    return numbers, known


def _vectors(
    data: Bytes, fields: TraceFields, rows: Ints, head: bytes
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """Return those of some rows that hold a value vector as writers lay it out, and the vectors."""
    size = len(head) + head[-1]
    rows = rows[fields.proto_size[rows] == size]
    protos = blocks(data, fields.proto[rows], size)
    vectors = columns(protos, "<f8", len(head), head[-1] // 8)
    laid_out = (protos[:, : len(head)] == np.frombuffer(head, np.uint8)).all(axis=1)
    usual = laid_out & np.isfinite(vectors).all(axis=1)
    return rows[usual], vectors[usual]
