"""The computations of graph tensors on record, by tensor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run, Site
    from tfdbg_tui.logdir.index.columns import ColumnView, Int64Array

NEAR = 64  # rows of a tensor: so many around another row are looked at
_WINDOW = 4096
_GROUP_ROWS = 1 << 15  # rows: how far apart tensors of one call may be recorded


class TraceRows:
    """Finds rows of the graph executions.

    In ADAPTIVE a tensor has two sites, as bad ones are recorded in another mode: whatever is asked
    of one is answered for both.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._counts: Int64Array | None = None
        self._sites: dict[tuple[str, str], list[tuple[Site, int]]] = {}
        self._alike: dict[int, list[int]] = {}
        by_tensor: dict[Site, list[int]] = {}
        for site, site_id in list(run.site_numbers.items()):
            alike = by_tensor.setdefault(replace(site, mode=0), [])
            if not alike:
                self._sites.setdefault((site.graph_id, site.op_name), []).append((site, site_id))
            alike.append(site_id)
            self._alike[site_id] = alike

    def sites(self, graph_id: str, op_name: str) -> list[tuple[Site, int]]:
        """Return the sites (slots, devices) of an op, with their numbers."""
        return self._sites.get((graph_id, op_name), [])

    def site_id(self, row: int) -> int:
        """Return the number of the site that a row is a computation of."""
        return self._run.graph_executions.site_ids[row]

    def rows_of(self, row: int, start: int = 0, stop: int | None = None) -> Int64Array:
        """Return the computations of the same tensor as a row, in whatever mode, ascending.

        Args:
            row: A computation of the tensor.
            start: The first row that counts.
            stop: The row behind the last one that counts.
        """
        return self.of_site(self.site_id(row), start, stop)

    def of_site(self, site_id: int, start: int = 0, stop: int | None = None) -> Int64Array:
        """Return the computations of a tensor, ascending.

        Args:
            site_id: Number of the site, in whatever mode.
            start: The first row that counts.
            stop: The row behind the last one that counts.
        """
        column = self._run.graph_executions.site_ids
        rows = [column.rows_equal(alike, start, stop) for alike in self._alike[site_id]]
        return rows[0] if len(rows) == 1 else np.sort(np.concatenate(rows))

    def count(self, site_id: int) -> int:
        """Return how often a tensor is on record, in whatever mode."""
        if self._counts is None:
            counts = np.zeros(max(self._alike, default=0) + 1, np.int64)
            for _, values in self._run.graph_executions.site_ids.blocks():
                counts += np.bincount(values, minlength=len(counts))[: len(counts)]
            self._counts = counts
        return int(self._counts[self._alike[site_id]].sum())

    def last_before(self, site_id: int, row: int) -> int | None:
        """Return the last computation of a tensor before a row, or None."""
        traces = self._run.graph_executions
        rows = [traces.last_before(alike, row) for alike in self._alike[site_id]]
        return max((r for r in rows if r is not None), default=None)

    def first_after(self, site_id: int, row: int) -> int | None:
        """Return the first computation of a tensor after a row, or None."""
        column = self._run.graph_executions.site_ids
        rows = [_first_after(column, alike, row) for alike in self._alike[site_id]]
        return min((r for r in rows if r is not None), default=None)

    def nearest(self, site_id: int, row: int) -> list[int]:
        """Return the rows of a site that are nearest to a row, the nearest first."""
        start = max(0, row - _GROUP_ROWS)
        rows = self.of_site(site_id, start, row + _GROUP_ROWS)
        ordered: list[int] = rows[np.argsort(np.abs(rows - row), kind="stable")][:NEAR].tolist()
        return ordered


def _first_after(column: ColumnView, value: int, index: int) -> int | None:
    """Return the first row after `index` that holds `value`, or None."""
    start, window = index + 1, _WINDOW
    while start < len(column):
        rows = column.rows_equal(value, start, start + window)
        if rows.size:
            return int(rows[0])
        start, window = start + window, window * 8
    return None
