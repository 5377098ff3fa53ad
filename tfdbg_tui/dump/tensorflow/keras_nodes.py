"""Where the layers and operations of Keras' functional models are built.

``keras.ops.log(x)`` of a symbolic tensor computes nothing: it makes a node of a graph of Keras's
own.  What computes is code of Keras, when the model is called.  Only what makes the node is a line
of the program, so that is noted on the node.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.tensorflow import locations, objects, own_frames

if TYPE_CHECKING:
    from types import FrameType

_BUILT = "_tfdbg_tui_built"
_KERAS = ("keras", "tf_keras")
# Of Keras 3, of Keras 2:
_MODULES = ("src.ops.node", "src.engine.node")
_NODES = ("_inbound_nodes", "_inbound_nodes_value")


def watch() -> None:
    """Let the nodes that are made from now on know where, in what there is of Keras.

    Nothing takes that back: models that are built between two dumps are told in the second.
    """
    for keras in _KERAS:
        for name in _MODULES:
            node: Any = getattr(sys.modules.get(f"{keras}.{name}"), "Node", None)
            if node is not None and not hasattr(node, _BUILT):
                setattr(node, _BUILT, None)
                node.__init__ = _noting(node.__init__)


def built_at(layer: Any) -> tuple[str, int, str] | None:
    """Return file, line and function of where a layer or an operation was put into a model.

    None where that is not noted, and for a layer that is in several places.
    """
    kept = objects.attributes(layer)
    nodes = (node for name in _NODES for _, node in objects.elements(kept.get(name)))
    places = {objects.attributes(node).get(_BUILT) for node in nodes}
    return places.pop() if len(places) == 1 else None


def _noting(original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        with contained():
            setattr(self, _BUILT, _users(sys._getframe(1)))

    own_frames.leave_out_of_warnings(init)
    return init


def _users(frame: FrameType | None) -> tuple[str, int, str] | None:
    """Return the innermost frame that is of no installed package."""
    while frame is not None and locations.is_installed(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    code = frame.f_code
    return code.co_filename, frame.f_lineno, locations.as_text(code.co_name)
