"""Ops by which values get from one process or replica to another."""

from __future__ import annotations

import re

_FAMILIES = {
    "all-reduce": r"Collective(Reduce|AllReduce)(V\d)?|_?Nccl(AllReduce|Reduce(Send|Recv)?)"
    r"|XlaAllReduce|CrossReplicaSum",
    "reduce-scatter": r"CollectiveReduceScatter(V\d)?|XlaReduceScatter",
    "all-gather": r"CollectiveGather(V\d)?|XlaAllGather",
    "broadcast": r"CollectiveBcast(Send|Recv)(V\d)?|_?NcclBroadcast(Send|Recv)?",
    "all-to-all": r"CollectiveAllToAll(V\d)?|AllToAll",
    "permute": r"CollectivePermute",
    "send and receive": r"_?(Host)?(Send|Recv)",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _FAMILIES.items()}
_ENDS = re.compile(r"(Send|Recv)(?=V\d|_\d|$)")
_REPLICA = re.compile(r"(^|/)replica_\d+/")


def family_of(op_type: str | None) -> str | None:
    """Return what a collective op does, as in a sentence; None for another op."""
    if op_type is None:
        return None
    return next((name for name, ends in _PATTERNS.items() if ends.fullmatch(op_type)), None)


def common_name(op_name: str) -> str:
    """Return the name of a collective op without what differs from one of its ends to another."""
    return _ENDS.sub("", _REPLICA.sub(r"\1", op_name))
