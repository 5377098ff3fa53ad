"""Where the layers and operations of Keras' functional models are built.

``keras.ops.log(x)`` of a symbolic tensor computes nothing: it makes a node of a graph of Keras's
own.  What computes is code of Keras, when the model is called.  Only what makes the node is a line
of the program, so that is noted.
"""

from __future__ import annotations

import functools
import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.tensorflow import locations, objects, own_frames

if TYPE_CHECKING:
    from types import FrameType

_KERAS = ("keras", "tf_keras")
# Of Keras 3, of Keras 2:
_MODULES = ("src.ops.node", "src.engine.node")
_OPERATIONS = ("operation", "layer")
_WATCHED = "_tfdbg_tui_watched"


class Built(NamedTuple):
    """Where a layer or an operation was put into a model.

    Attributes:
        path: The file.
        line: The line.
        function: The function.
        name: Name of the layer or operation.
    """

    path: str
    line: int
    function: str
    name: str


_places: dict[int, tuple[weakref.ref[Any], Built | None]] = {}
"""By the ids of layers; None for one that is in several places.  Asked for every eager op."""


def watch() -> None:
    """Note from now on where nodes are made, in what there is of Keras.

    Nothing takes that back: models that are built between two dumps are told in the second.
    """
    for keras in _KERAS:
        for name in _MODULES:
            node: Any = getattr(sys.modules.get(f"{keras}.{name}"), "Node", None)
            if node is not None and not hasattr(node, _WATCHED):
                setattr(node, _WATCHED, True)
                node.__init__ = _noting(node.__init__)


def built_at(layer: Any) -> Built | None:
    """Return where a layer or an operation was put into a model.

    None where that is not noted, and for a layer that is in several places.
    """
    known = _places.get(id(layer))
    return known[1] if known else None


def is_in_model(layer: Any) -> bool:
    """Return whether a layer or an operation was put into a model, as far as is noted."""
    return id(layer) in _places


def _noting(original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        with contained():
            kept = objects.attributes(self)
            layer = next((kept[name] for name in _OPERATIONS if name in kept), None)
            if layer is not None:
                _note(layer, _users(sys._getframe(1)))

    own_frames.leave_out_of_warnings(init)
    return init


def _note(layer: Any, frame: FrameType | None) -> None:
    built = None
    if frame is not None:
        code = frame.f_code
        place = code.co_filename, frame.f_lineno, locations.as_text(code.co_name)
        built = Built(*place, objects.name_of(layer))
    number = id(layer)
    known = _places.get(number)
    if known is None:
        _places[number] = weakref.ref(layer, functools.partial(_places.pop, number)), built
    elif known[1] != built:
        _places[number] = known[0], None


def _users(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame that is of no installed package."""
    while frame is not None and locations.is_installed(frame.f_code.co_filename):
        frame = frame.f_back
    return frame
