"""Which events of a run somebody asks for: the language of filters, and what they select.

`parse` reads a filter, `Selection` goes through the events of a run for it, and `tensor_rows` hands
out what it selects as rows of a table.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.events import Kind
from tfdbg_tui.query.language import BAD_KINDS, FIELDS, Query, QueryError, TextTerm, parse, searched
from tfdbg_tui.query.row_tests import RowTests
from tfdbg_tui.query.selection import Selection
from tfdbg_tui.query.tensors import COLUMNS, TensorRow, tensor_rows

__all__ = [
    "BAD_KINDS",
    "COLUMNS",
    "FIELDS",
    "Kind",
    "Query",
    "QueryError",
    "RowTests",
    "Selection",
    "TensorRow",
    "TextTerm",
    "parse",
    "searched",
    "tensor_rows",
]
