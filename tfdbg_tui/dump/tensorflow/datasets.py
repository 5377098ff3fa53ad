"""Whether what a dataset gives is of the shapes that the next function is traced for.

TensorFlow checks neither what one function of a pipeline hands to the next, where a shape may have
been set by hand, nor what is read from a file or comes from elsewhere.
"""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf

from tfdbg_tui.dump.tensorflow import graph_state
from tfdbg_tui.dump.tensorflow.private import method

_inputs = method(tf.data.Dataset, "_inputs")
_functions = method(tf.data.Dataset, "_functions")
_MODULES = "tensorflow.python.data."

_KIND = re.compile(r"_?(\w+?)Dataset(V\d+)?")
"""Of a class, such as ``_MapDataset``, or of an op, such as ``ParallelMapDatasetV2``."""
_FROM_DATASETS = re.compile("Dataset|Iterator")
_CERTAIN = frozenset(
    {
        *("Range", "Tensor", "TensorSlice", "TextLine", "TFRecord", "FixedLengthRecord"),
        *("Map", "ParallelMap", "Filter", "Batch", "ParallelBatch", "PaddedBatch"),
        *("Zip", "Concatenate", "Options", "Repeat", "Shuffle", "Take", "Skip"),
        *("Shard", "Prefetch"),
    }
)
"""Kinds whose elements have the shapes that TensorFlow has found, if those they are made of do.

Not those that are made of datasets which a function returns: nobody checks what these say.
"""


def are_elements_certain(dataset: Any) -> bool:
    """Return whether the elements of a dataset have the shapes that it says.

    Args:
        dataset: The dataset; None where it is not known.
    """
    seen: dict[int, Any] = {}  # one may be made of another in many ways
    waiting = [dataset]
    while waiting:
        made = waiting.pop()
        if id(made) in seen:
            continue
        seen[id(made)] = made
        kind = type(made)
        if not (kind.__module__.startswith(_MODULES) and _is_certain(kind.__name__)):
            return False
        if not all(map(_gives_certain_shapes, _functions(made))):
            return False
        waiting += _inputs(made)
    return True


def _gives_certain_shapes(function: Any) -> bool:
    """Return whether what a function of a dataset returns has the shapes known while tracing."""
    graph = getattr(function.function, "graph", None)
    state = graph_state.known_state(graph)
    if graph is None or state is None or state.recorded is None:
        return False
    if graph_state.are_shapes_doubtful(graph):
        return False
    types = {op.type for op in graph.get_operations()}
    return all(map(_is_certain, (name for name in types if _FROM_DATASETS.search(name))))


def _is_certain(name: str) -> bool:
    kind = _KIND.fullmatch(name)
    return kind is not None and kind[1] in _CERTAIN
