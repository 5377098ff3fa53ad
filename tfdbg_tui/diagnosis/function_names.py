"""Names of functions as their author knows them.

TensorFlow calls what it makes of ``loss`` ``__inference_loss_12``, or, where gradients are wanted,
``__forward_loss_47`` and ``__inference___backward_loss_23_48``.
"""

from __future__ import annotations

import re

_KINDS = {"__inference_": "", "__forward_": " (forward)", "__backward_": " (gradient)"}


def readable_function(name: str) -> str:
    """Return a function's or graph's name without what TensorFlow adds: ``loss (gradient)``."""
    kinds = ""
    for prefix, kind in _KINDS.items():
        if name.startswith(prefix):
            name = re.sub(r"(?<=.)_\d+$", "", name.removeprefix(prefix))
            kinds = kind
    return name + kinds
