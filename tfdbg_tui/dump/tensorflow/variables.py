"""Variables: which a layer has, which may be trained, and what an optimizer keeps of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdbg_tui.dump.tensorflow import frame_locals, objects, op_types
from tfdbg_tui.dump.tensorflow.eager_tensor import is_eager, tensor_id
from tfdbg_tui.dump.tensorflow.layers import BOOKKEEPING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

CREATING_OPS = frozenset({"VarHandleOp", b"VarHandleOp"})
"""Types of the ops that make a variable's handle."""
CHANGING_OPS = op_types.in_both(
    (
        *("AssignVariableOp", "AssignSubVariableOp", "AssignAddVariableOp"),
        *("ResourceScatterSub", "ResourceScatterAdd", "ResourceApplyGradientDescent"),
        *("ResourceApplyAdam", "ResourceApplyMomentum", "ResourceApplyKerasMomentum"),
    )
)
"""Types of the ops by which programs and optimizers change the variable that they take first."""

_ADDS_SLOT = "add_variable_from_reference"  # of the optimizers of Keras, old and new
_REFERENCES = ("reference_variable", "model_variable")
_OF_LAYER = (
    *("_trainable_variables", "_non_trainable_variables"),
    *("_trainable_weights", "_non_trainable_weights"),  # of old Keras
    *("_layers", "_self_tracked_trackables"),
)
"""Attributes of layers of Keras that hold their variables, and the layers in them."""
_KERAS_NAMES = ("Variable", "KerasVariable")
_NAMES = ("path", "name")
_INNER = ("_value", "_variable")
"""Attributes of new and old Keras' variables with TensorFlow's: what is public may cast it."""


class Slot(NamedTuple):
    """What an optimizer keeps of a variable.

    Attributes:
        name: What it calls that.
        optimizer: Name of the optimizer.
        variable: The variable.
    """

    name: str
    optimizer: str
    variable: Any


def handle_id(variable: Any) -> int | None:
    """Return the number of a variable's handle, by which it is known eagerly and in graphs.

    None for what has none: a variable that is not built yet, one of a session, or one of several
    replicas, outside of these.
    """
    for inner in _INNER:
        variable = objects.attributes(variable).get(inner, variable)
    try:
        handle = objects.library_property(variable, "handle")
    except ValueError:
        return None
    return tensor_id(handle) if is_eager(handle) else None


def is_variable(thing: Any) -> bool:
    """Return whether something is a variable of TensorFlow or Keras."""
    return issubclass(type(thing), tf.Variable) or objects.is_keras(type(thing), *_KERAS_NAMES)


def name_of(variable: Any) -> str:
    """Return the name of a variable, with that of its layer."""
    kept = objects.attributes(variable)  # before Keras 3.4 a variable has its names itself
    names = (kept.get(name) or objects.library_property(variable, name) for name in _NAMES)
    return next((str(name) for name in names if name), "").removesuffix(":0")


def is_trainable(variable: Any, layer: Any = None) -> bool:
    """Return whether the program lets a variable be trained at the moment.

    Args:
        variable: The variable.
        layer: The layer or module that has it, if any: in old Keras only that knows.
    """
    may_be = objects.library_property(variable, "trainable")
    return bool(may_be and objects.attributes(layer).get("_trainable", True))


def of_layer(layer: Any) -> Iterator[Any]:
    """Return the variables of a layer or module, and of those that are in it.

    Its `variables` may be code of the program, as may what takes composite tensors apart.
    """
    return _variables_in(layer, set())


def _variables_in(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if is_variable(value):
        yield value
        return
    for part in _parts(value):
        yield from _variables_in(part, seen)


def _parts(value: Any) -> Iterator[Any]:
    kind, kept = type(value), objects.attributes(value)
    if objects.is_keras(kind, "Layer"):
        yield from (kept[name] for name in _OF_LAYER if name in kept)
    elif issubclass(kind, tf.Module):
        yield from (kept[name] for name in tuple(kept) if not name.startswith(BOOKKEEPING))
    else:
        yield from (element for _, element in objects.elements(value))


def slot_created(frame: FrameType | None) -> Slot | None:
    """Return what an optimizer is making, if a frame is called by one that makes a variable."""
    if not frame_locals.may_be_read():
        return None
    while frame is not None and frame.f_code.co_name != _ADDS_SLOT:
        frame = frame.f_back
    if frame is None:
        return None
    given = frame.f_locals
    variable = next((given[name] for name in _REFERENCES if name in given), None)
    if variable is None:
        return None
    name = given.get("name") or given.get("variable_name") or ""
    of = f"{name_of(variable).replace('/', '_')}_"  # which new Keras puts before it
    return Slot(str(name).removeprefix(of), objects.name_of(given["self"]), variable)
