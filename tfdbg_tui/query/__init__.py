"""Which events of a run somebody asks for: the language of filters, and what they select.

`parse` reads a filter, `Selection` goes through the events of a run for it.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.events import Kind
from tfdbg_tui.query.language import FIELDS, Query, QueryError, parse
from tfdbg_tui.query.selection import Selection

__all__ = ["FIELDS", "Kind", "Query", "QueryError", "Selection", "parse"]
