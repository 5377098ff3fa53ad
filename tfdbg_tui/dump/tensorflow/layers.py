"""Keras layers and `tf.Module`s: which of them a program is in, and what they say of themselves.

They are found on the stack: a layer is called while its `__call__` runs, a module while any of its
methods does.  So nothing of theirs is wrapped, and there is nothing to take back.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdbg_tui.dump.tensorflow import frame_locals, keras_nodes, objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import CodeType, FrameType

_KERAS = "keras.src.ops.operation"
_LAYER = "Layer"
_OPERATION = "Operation"
"""Of Keras 3: what ``ops.log(x)`` puts into a functional model.  Elsewhere some functions, such as
``ops.cond``, make a new one for each call, which is no part of anything."""
_CALL = "__call__"
_CONVERTED = "tf__"  # what AutoGraph puts before the names of functions
_TENSORFLOW = "tensorflow."  # Its own modules, linear operators, are parts of ops.
_INIT = "__init__"
_LOCALS = "<locals>"
_POLICIES = ("_dtype_policy", "dtype_policy")  # that of a layer, since Keras 3.1 and before
_BUILDS = ("_maybe_build", "symbolic_call", "_functional_construction_call")
"""Keras' functions that call layers, or make their variables, before they are to compute."""
BOOKKEEPING = "_self_"  # what the names of attributes begin with in which TensorFlow keeps others


class Description(NamedTuple):
    """What is recorded of a layer.

    Attributes:
        name: Its name; of a module in another one, that of the attribute that holds it.
        class_name: Name of its class.
        dtype_policy: Name of its dtype policy, such as ``mixed_float16``; "" for a module.
        compute_dtype: The type that the policy lets it compute in.
    """

    name: str
    class_name: str
    dtype_policy: str = ""
    compute_dtype: str = ""


def may_call(code: CodeType) -> bool:
    """Return whether `call_depths` has to look at frames that run some code."""
    return code.co_name in _BUILDS or _may_be_call(code)


def call_depths(callers: Sequence[FrameType], depths: Iterable[int]) -> tuple[int, ...]:
    """Return how many calls out from a frame the calls of layers are, innermost first.

    Of several functions of one layer that call each other it is the one with the fewest variables,
    as all of these are read to find the layer.

    Args:
        callers: The frame and its callers, innermost first.
        depths: Where among them the code may be such a call; see `may_call`.
    """
    found: list[tuple[int, int, Any]] = []  # depth, number of variables, layer
    for depth in depths:
        code = callers[depth].f_code
        if code.co_name in _BUILDS:
            return ()
        layer = _called_by(callers[depth])
        if layer is not None:
            before = found.pop() if found and found[-1][2] is layer else None
            call = depth, code.co_nlocals, layer
            found.append(call if before is None or before[1] > code.co_nlocals else before)
    return tuple(depth for depth, _, _ in found)


def called(frame: FrameType | None, depths: tuple[int, ...]) -> list[Any]:
    """Return the layers that are called, outermost first.

    Args:
        frame: A running frame.
        depths: What `call_depths` has said of another frame with the same callers.
    """
    if not frame_locals.may_be_read():
        return []
    found, depth = [], 0
    for wanted in depths:
        while depth < wanted and frame is not None:
            frame, depth = frame.f_back, depth + 1
        if frame is not None:
            found.append(_first_argument(frame))
    return found[::-1]


def describe(layer: Any, outer: Any) -> Description:
    """Return what is recorded of a layer.

    Args:
        layer: A Keras layer or a module.
        outer: The one in whose call it is called; None where there is none.
    """
    kind = type(layer).__name__
    if not objects.is_keras(type(layer), _LAYER, _OPERATION):
        return Description(_attribute(outer, layer) or objects.name_of(layer), kind)
    kept = objects.attributes(layer)
    policy = next((kept[name] for name in _POLICIES if name in kept), None)
    computes_in = objects.attributes(policy).get("_compute_dtype")
    return Description(
        _scope_of(layer) or objects.name_of(layer),
        kind,
        objects.name_of(policy) if policy is not None else "",
        computes_in if isinstance(computes_in, str) else "",
    )


def _scope_of(layer: Any) -> str:
    """Return the scope of the ops and variables of a layer of `tf.layers`; "" for others.

    It is numbered apart from the layer's name: dense_1 may be in the layer dense_2.
    """
    scope = objects.attributes(layer).get("_scope")
    if not isinstance(scope, tf.compat.v1.VariableScope):
        return ""
    return objects.name_of(scope).rpartition("/")[2]


def _may_be_call(code: CodeType) -> bool:
    """Return whether a function may be a method of a layer, without looking at its variables.

    Looking at them keeps them until the function returns, where Python copies them.
    """
    if not code.co_argcount:
        return False
    if frame_locals.ARE_COPIED and "locals" in code.co_names:
        return False  # It holds the copy itself, which would change.
    if code.co_name.startswith(_CONVERTED):
        return True
    return code.co_name != _INIT and _is_class(code.co_qualname.rpartition(".")[0])


def _called_by(frame: FrameType) -> Any:
    """Return the layer that a frame is a call of, or None."""
    if not frame_locals.may_be_read():
        return None
    layer, name = _first_argument(frame), frame.f_code.co_name.removeprefix(_CONVERTED)
    if objects.is_keras(type(layer), _LAYER):
        is_call = name == _CALL
    elif objects.is_keras(type(layer), _OPERATION):
        is_call = name == _CALL and keras_nodes.is_in_model(layer)
    else:
        own = type(layer).__module__.startswith(_TENSORFLOW)
        is_module = issubclass(type(layer), tf.Module)
        is_call = is_module and not own and objects.has_method(type(layer), name)
    return layer if is_call else None


def _first_argument(frame: FrameType) -> Any:
    """Return what a method calls `self`."""
    return frame.f_locals.get(frame.f_code.co_varnames[0])


@lru_cache(maxsize=4096)
def _is_class(name: str) -> bool:
    """Return whether the class of a qualified name is one of layers or modules.

    A class is there before its methods run, so that an answer stays true.
    """
    if not name or name.endswith(_LOCALS):  # That of a function.
        return False
    keras = getattr(sys.modules.get(_KERAS), "Operation", None)  # what Layer is a subclass of
    return name in _names(tf.Module) or (keras is not None and name in _names(keras))


def _names(base: Any) -> Iterator[str]:
    """Yield the qualified names of a class and of all that are derived from it."""
    yield base.__qualname__
    for kind in base.__subclasses__():
        yield from _names(kind)


def _attribute(outer: Any, layer: Any) -> str:
    """Return the name of the attribute, or of the element of one, that holds a module; "" if none.

    Modules are named after their classes, so that all of a class have one name.
    """
    for name, value in objects.attributes(outer).items():
        if name.startswith(BOOKKEEPING):
            continue
        if value is layer:
            return name
        for number, (key, element) in enumerate(objects.elements(value)):
            if element is layer:
                return f"{name}[{_plain(key, number)}]"
    return ""


def _plain(key: Any, number: int) -> Any:
    """Return a key, or else its number: the text of another one is code that may run ops.

    That of a variable reads it.
    """
    return key if type(key) in (str, int) else number
