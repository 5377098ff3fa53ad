"""Which events of a run somebody asks for: the language of filters, and what they select.

`parse` reads a filter, `Selection` goes through the events of a run for it, `tensor_rows` hands out
what it selects as rows of a table, and `sort_keys` tells in which order tensors stand by a field.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.events import Kind
from tfdbg_tui.query.comparison import Comparison, Difference, compare
from tfdbg_tui.query.language import (
    BAD_KINDS,
    OF_TENSORS,
    Query,
    QueryError,
    TextTerm,
    Vocabulary,
    kind_of,
    parse,
    searched,
    with_kind,
)
from tfdbg_tui.query.row_tests import RowTests
from tfdbg_tui.query.selection import Selection, selects_some
from tfdbg_tui.query.sorting import SORT_FIELDS, Outputs, first_in_order, in_order, sort_keys
from tfdbg_tui.query.tensors import COLUMNS, TensorRow, tensor_rows

__all__ = [
    "BAD_KINDS",
    "COLUMNS",
    "OF_TENSORS",
    "SORT_FIELDS",
    "Comparison",
    "Difference",
    "Kind",
    "Outputs",
    "Query",
    "QueryError",
    "RowTests",
    "Selection",
    "TensorRow",
    "TextTerm",
    "Vocabulary",
    "compare",
    "first_in_order",
    "in_order",
    "kind_of",
    "parse",
    "searched",
    "selects_some",
    "sort_keys",
    "tensor_rows",
    "with_kind",
]
