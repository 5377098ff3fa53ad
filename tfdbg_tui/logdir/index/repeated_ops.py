"""Where a loop begins anew that calls no function, by how often its ops are executed.

Ops of one loop body are executed equally often, each from its own line.  Of a loop within it, as
over the variables in an optimizer, they are executed a multiple of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy.typing as npt

    from tfdbg_tui.logdir.index.columns import Int64Array

    Flags = npt.NDArray[np.bool_]

REPEATED = 3
"""So many times something has to be executed before it counts as a step."""
_MOST_TRIED = 100  # ops that may be the first of the body of a loop


class Ops(NamedTuple):
    """The ops of a part of a program: an op is what one line executes of one kind.

    Attributes:
        kinds: Number of the kind of each; shape [ops].
        first: The first execution of each; shape [ops].
        counts: How often each is executed; 0 for one that does not count; shape [ops].
        which: Which op each execution is of; shape [executions].
    """

    kinds: Int64Array
    first: Int64Array
    counts: Int64Array
    which: Int64Array

    def executions(self, op: int) -> Int64Array:
        """Return where an op is executed, ascending."""
        return np.flatnonzero(self.which == op)


def ops_that_count(
    kinds: Int64Array,
    stacks: Int64Array,
    left_out: Flags,
    gradients: Collection[int],
    looked_at: slice | None,
) -> Ops:
    """Return the ops of a part of a program, and how often those are executed that count.

    Args:
        kinds: Number of each execution's kind; shape [executions].
        stacks: Number of each execution's stack; shape [executions].
        left_out: Of each kind whether it does not count, nor what is always next to it.
        gradients: Numbers of stacks of ops that made gradients: where there are some, only those
            ops count that were executed before one of these and again after it.
        looked_at: Only ops that are executed in this part count; None for all.
    """
    pairs, first, which, counts = np.unique(
        kinds << 32 | stacks, return_index=True, return_inverse=True, return_counts=True
    )
    counts[left_out[pairs >> 32]] = 0
    counts[np.bincount(which, ~_next_to(left_out[kinds])) == 0] = 0  # first values, and assigned
    if gradients:
        made = np.flatnonzero(np.isin(stacks, list(gradients)))
        last = len(which) - 1 - np.unique(which[::-1], return_index=True)[1]
        counts[np.searchsorted(made, first) == np.searchsorted(made, last)] = 0
    if looked_at is not None:
        counts[np.bincount(which[looked_at], minlength=len(pairs)) == 0] = 0
    return Ops(pairs >> 32, first, counts, which)


def where_most_repeat(ops: Ops, fetches: Flags, most: int) -> Flags | None:
    """Return where the loop with the most ops begins anew; None without a loop.

    Where the outer loop is over the epochs, or over what is shown now and then, the inner one
    fetches batches.

    Args:
        ops: The ops.
        fetches: Of each kind whether it fetches a batch.
        most: Ops that are executed more often do not count, as those of a loop over the words of a
            sentence: a step is trained no more than so often.  0 where that is not known.
    """
    counts = ops.counts
    num_ops = np.bincount(np.where(counts > most, 0, counts) if most >= REPEATED else counts)
    num_ops[:REPEATED] = 0
    if not num_ops.any():
        return None
    many = np.flatnonzero(2 * num_ops >= num_ops.max())
    fetched = np.flatnonzero(fetches[ops.kinds] & np.isin(counts, many))
    if fetched.size:
        begins: Flags = ops.which == fetched[int(num_ops[counts[fetched]].argmax())]
        return begins
    begins = np.zeros(len(ops.which), np.bool_)
    begins[_first_of_loop(ops, num_ops, many)] = True
    return begins


def _first_of_loop(ops: Ops, num_ops: Int64Array, many: Int64Array) -> Int64Array:
    """Return where the first op is executed of the loop with the most ops.

    Args:
        ops: The ops.
        num_ops: How many ops are executed so often.
        many: How often ops are executed of which there are many; ascending.
    """
    in_order = np.argsort(ops.first)
    rows = [ops.executions(in_order[ops.counts[in_order] == count][0]) for count in many]
    times = int(np.gcd.reduce(many))
    begins = _first_in_each(ops, in_order, times, rows) if times >= REPEATED else None
    if begins is not None:
        return begins
    largest = int(num_ops[many].argmax())  # The ops are of several loops.
    begins = _first_in_each(ops, in_order, int(many[largest]), [rows[largest]])
    return rows[largest] if begins is None else begins


def _first_in_each(
    ops: Ops, in_order: Int64Array, times: int, rows: Sequence[Int64Array]
) -> Int64Array | None:
    """Return where the first op is executed of those that are so equally often in each of a loop.

    Args:
        ops: The ops.
        in_order: Their numbers, by their first executions.
        times: How often the body of the loop is executed.
        rows: Where some ops of it are executed.

    Returns:
        Its executions, the first one in each of the body; None where there is no such op.
    """
    counts = ops.counts[in_order]
    for op in in_order[(counts > 0) & (counts % times == 0)][:_MOST_TRIED]:
        begins = ops.executions(op)[:: ops.counts[op] // times]
        if all(_evenly_among(begins, own) for own in rows):
            return begins
    return None


def _next_to(some: Flags) -> Flags:
    """Return of each execution whether it is one of some, or right before or after one."""
    found = some.copy()
    found[1:] |= some[:-1]
    found[:-1] |= some[1:]
    return found


def _evenly_among(begins: Int64Array, rows: Int64Array) -> bool:
    """Return whether as many of some rows come after each beginning, and none before."""
    after = np.bincount(np.searchsorted(begins, rows, "right"), minlength=len(begins) + 1)
    return bool((after[1:] * len(begins) == len(rows)).all())
