"""Print the recorded tensors that a filter selects: for people, or as JSON, CSV or Parquet.

    tfdbg-tui query LOGDIR --filter "bad line=train.py:19 step=6"
    tfdbg-tui query LOGDIR --filter "type=Relu zero>90%" --json | jq .name
    tfdbg-tui query LOGDIR --csv > tensors.csv
    tfdbg-tui query LOGDIR --parquet tensors.parquet    # pip install 'tfdbg-tui[parquet]'

A filter is terms separated by spaces, all of which have to hold: a word that is looked for in
names, types, functions and places; /regex/; field=text with alternatives separated by commas and
* for anything; field~regex; a number with =, !=, <, <=, >, >= or a range as 6..9, of counts also
as a share of all elements (zero>90%); or one of bad, nan, inf.  ! in front negates.

Exit codes: 0 done, also where nothing fits; 2 no answer.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
from typing import TYPE_CHECKING

from tfdbg_tui.cli.options import add_logdir, add_run
from tfdbg_tui.cli.output import OutputError, put, tell
from tfdbg_tui.diagnosis import counts_text
from tfdbg_tui.logdir import LogdirError, open_run
from tfdbg_tui.logdir.text import counted, printable
from tfdbg_tui.query import COLUMNS, OF_TENSORS, QueryError, parse, tensor_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from tfdbg_tui.query import TensorRow

HEADER = ("event", "step", "tensor", "op type", "function", "values", "line")
_SHOWN = 100  # for people, where no limit is given
_TOGETHER = 10_000  # rows written to a Parquet file at once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdir(parser)
    add_run(parser)
    parser.add_argument(
        "--filter", metavar="TERMS", default="", help=f"terms on {', '.join(OF_TENSORS.fields)}"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N tensors")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object a line")
    form.add_argument("--csv", action="store_true", help="print comma-separated values")
    form.add_argument("--parquet", metavar="FILE", help="write an Apache Parquet file")


def run(args: argparse.Namespace) -> int:
    """Print the tensors and return 0.

    Raises:
        LogdirError: The logdir, or what was asked for, is unusable.
    """
    if args.limit is not None and args.limit < 1:
        raise LogdirError("--limit takes a number from 1 on")
    try:
        query = parse(args.filter)
    except QueryError as error:
        raise LogdirError(f"--filter: {error}") from error
    rows = tensor_rows(open_run(args.logdir, args.run), query)
    if args.json:
        _put_all(json.dumps(row.values()) for row in itertools.islice(rows, args.limit))
    elif args.csv:
        _put_all(_csv_lines(itertools.islice(rows, args.limit)))
    elif args.parquet:
        _write_parquet(itertools.islice(rows, args.limit), args.parquet)
    else:
        _write_table(rows, _SHOWN if args.limit is None else args.limit)
    if rows.unknown:
        fit = "it fits" if rows.unknown == 1 else "they fit"
        tell(f"of {counted(rows.unknown, 'event')} the dump does not say whether {fit}")
    return 0


def _put_all(lines: Iterable[str]) -> None:
    """Print lines while they come, and as long as anybody reads them."""
    all(map(put, lines))


def _csv_lines(rows: Iterator[TensorRow]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="")
    for values in itertools.chain([COLUMNS], (row.values().values() for row in rows)):
        writer.writerow(values)
        yield printable(line.getvalue())
        line.seek(0)
        line.truncate()


def _write_table(rows: Iterator[TensorRow], limit: int) -> None:
    """Print a table for people; each column is as wide as it needs to be."""
    lines: list[tuple[str, ...]] = [HEADER]
    lines += map(cells, itertools.islice(rows, limit))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    _put_all("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    if len(lines) == 1:
        tell("no recorded tensor fits")
    elif next(rows, None) is not None:
        tell(f"these are the first {limit:,}; --limit N shows more")


def cells(row: TensorRow) -> tuple[str, ...]:
    """Return what people are shown of a tensor, column by column of `HEADER`."""
    place = row.location
    event = "eager" if row.event.kind == "execution" else "graph"
    return tuple(
        printable(text)
        for text in (
            f"{event} {row.event.index:,}",
            "" if row.step is None else str(row.step),
            row.name,
            row.op_type or "",
            row.function,
            counts_text(row.summary),
            place.short if place else "",
        )
    )


def _write_parquet(rows: Iterator[TensorRow], path: str) -> None:
    """Write rows into a file, some thousands at a time.

    Raises:
        LogdirError: The library is missing, or the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        remedy = "pip install 'tfdbg-tui[parquet]'"
        raise LogdirError(f"--parquet needs pyarrow ({error}): {remedy}") from error
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    try:
        with pq.ParquetWriter(path, schema) as writer:
            while batch := [row.values() for row in itertools.islice(rows, _TOGETHER)]:
                writer.write_table(pa.Table.from_pylist(batch, schema))
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error}") from error
