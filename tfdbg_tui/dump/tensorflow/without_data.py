"""What a function does whether or not there is another element of its data.

Where an iterator has none, TensorFlow ends the call; what needs no element has run by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.tensorflow.function_defs import has_effect, has_effects

if TYPE_CHECKING:
    from collections.abc import Callable

_RESOURCE: int = tf.resource.as_datatype_enum

_TAKES_ELEMENT = frozenset(
    (
        *("IteratorGetNext", "IteratorGetNextSync", "MultiDeviceIteratorGetNextFromShard"),
        *("QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueDequeueV2"),
    )
)


def takes_elements(definition: Any) -> bool:
    """Return whether a node of a function takes elements; what it calls is not asked."""
    return any(node.op in _TAKES_ELEMENT for node in definition.node_def)


def done_without_data(
    definition: Any, calls_such: Callable[[Callable[[Any], bool], Any], bool], *, given: bool
) -> frozenset[str]:
    """Return the names of the nodes that what changes something needs, and that need no element.

    Args:
        definition: The FunctionDef, whose nodes stand after what they need.
        calls_such: Returns whether something holds for a function that a node calls.
        given: Whether what the function takes, but for resources, may be made of elements.
    """
    arguments = definition.signature.input_arg
    of_data = {a.name for a in arguments if given and a.type != _RESOURCE}
    for node in definition.node_def:
        takes = node.op in _TAKES_ELEMENT or calls_such(takes_elements, node)
        if takes or not of_data.isdisjoint(_needed(node)):
            of_data.add(node.name)
    found: set[str] = set()
    for node in reversed(definition.node_def):
        changes = node.name in found or has_effect(node) or calls_such(has_effects, node)
        if changes and node.name not in of_data:
            found |= {node.name, *_needed(node)}
    return frozenset(found)


def _needed(node: Any) -> set[str]:
    """Return the names of the nodes and arguments that a node waits for."""
    return {reference.removeprefix("^").partition(":")[0] for reference in node.input}
