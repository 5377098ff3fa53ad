"""Where the layers and operations of Keras' functional models are built.

``keras.ops.log(x)`` of a symbolic tensor computes nothing: it makes a node of a graph of Keras's
own.  What computes is code of Keras, when the model is called.  Only what makes the node is a line
of the program, so that is noted.  A layer may have several nodes, and those of a Sequential are
made whenever another layer is added, or in its first call: then the line that made it is told.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.tensorflow import frame_locals, locations, objects, own_frames

if TYPE_CHECKING:
    from types import FrameType

_KERAS = ("keras", "tf_keras")
# Of Keras 3, of Keras 2:
_MODULES = ("src.ops.node", "src.engine.node")
_LAYERS = ("src.layers.layer", "src.engine.base_layer")
_SEQUENTIAL = "sequential.py"
_OPERATIONS = ("operation", "layer")
_WATCHED = "_tfdbg_tui_watched"


class Built(NamedTuple):
    """Where a layer or an operation was put into a model, or made.

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


_made: dict[int, tuple[weakref.ref[Any], Built]] = {}
"""Where layers were made, by their ids."""


def watch() -> None:
    """Note from now on where nodes and layers are made, in what there is of Keras.

    Nothing takes that back: models that are built between two dumps are told in the second.
    """
    for keras in _KERAS:
        for names, kind, noting in (
            (_MODULES, "Node", _noting_node),
            (_LAYERS, "Layer", _noting_layer),
        ):
            for name in names:
                watched: Any = getattr(sys.modules.get(f"{keras}.{name}"), kind, None)
                if watched is not None and _WATCHED not in vars(watched):
                    setattr(watched, _WATCHED, True)
                    watched.__init__ = noting(watched.__init__)


def built_at(layer: Any) -> Built | None:
    """Return where a layer or an operation was put into a model.

    Of a layer that is in several places that is where it was made; None where that is not noted.
    """
    known = _places.get(id(layer))
    if known is None:
        return None
    made = _made.get(id(layer))
    return known[1] or (made[1] if made else None)


def is_in_model(layer: Any) -> bool:
    """Return whether a layer or an operation was put into a model, as far as is noted."""
    return id(layer) in _places


def _noting_node(original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        with own_frames.LeftOutOfTracebacks():
            original(self, *args, **kwargs)
        with contained():
            kept = objects.attributes(self)
            layer = next((kept[name] for name in _OPERATIONS if name in kept), None)
            if layer is not None:
                _note(layer, _users(sys._getframe(1), but=_SEQUENTIAL))

    own_frames.leave_out_of_warnings(init)
    return init


def _noting_layer(original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        with own_frames.LeftOutOfTracebacks():
            original(self, *args, **kwargs)
        with contained():
            built = _built(self, _users(_caller(self, sys._getframe(1))))
            if built is not None:
                number = id(self)
                _made[number] = weakref.ref(self, functools.partial(_made.pop, number)), built

    own_frames.leave_out_of_warnings(init)
    signed: Any = init
    signed.__signature__ = inspect.signature(original)  # Keras looks at it to save layers.
    return init


def _caller(layer: Any, frame: FrameType | None) -> FrameType | None:
    """Return the frame that makes a layer, out of those of its own constructors."""
    while frame is not None and frame.f_code.co_name == "__init__" and frame_locals.may_be_read():
        if frame.f_locals.get(frame.f_code.co_varnames[0]) is not layer:
            break
        frame = frame.f_back
    return frame


def _built(layer: Any, frame: FrameType | None) -> Built | None:
    if frame is None:
        return None
    code = frame.f_code
    place = code.co_filename, frame.f_lineno, locations.as_text(code.co_name)
    return Built(*place, objects.name_of(layer))


def _note(layer: Any, frame: FrameType | None) -> None:
    built = _built(layer, frame)
    number = id(layer)
    known = _places.get(number)
    if known is None:
        _places[number] = weakref.ref(layer, functools.partial(_places.pop, number)), built
    elif known[1] != built:
        _places[number] = known[0], None


def _users(frame: FrameType | None, but: str = "") -> FrameType | None:
    """Return the innermost frame that is of no installed package.

    Args:
        frame: The frame to begin with.
        but: None is returned where a file of this name is passed on the way.
    """
    while frame is not None and locations.is_installed(frame.f_code.co_filename):
        if os.path.basename(frame.f_code.co_filename) == but:
            return None
        frame = frame.f_back
    return frame
