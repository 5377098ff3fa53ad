"""Names of functions as their author knows them.

TensorFlow calls what it makes of ``loss`` ``__inference_loss_12``, or, where gradients are wanted,
``__forward_loss_47`` and ``__inference___backward_loss_23_48``. The body of a loop it calls
``lstm_while_body_12``, and what is made for its gradient ``lstm_while_body_12_grad_34``.
"""

from __future__ import annotations

import re

INITIALIZER = "initialize_variables"
"""TensorFlow's function that gives variables their values, where a function makes them."""

_KINDS = {"__inference_": "", "__forward_": " (forward)", "__backward_": " (gradient)"}
_PART = re.compile(
    r"(?P<scope>.*?(?<![^_]))(?P<flow>(?:while|cond|case|indexed_case)(?:_\d+)?)"
    r"_(?P<part>body|cond|true|false|branch\d+)_\d+(?P<made_of_it>(?:_grad_\d+|_rewritten)*)"
)


def readable_function(name: str) -> str:
    """Return a function's or graph's name without what TensorFlow adds: ``loss (gradient)``.

    A part of a loop or branch is told by its words: ``lstm while body (gradient)``.
    """
    if part := _PART.fullmatch(name):
        words = part["scope"].rstrip("_"), part["flow"], part["part"]
        return " ".join(filter(None, words)) + " (gradient)" * ("_grad_" in part["made_of_it"])
    kinds = ""
    for prefix, kind in _KINDS.items():
        if name.startswith(prefix):
            name = re.sub(r"(?<=.)_\d+$", "", name.removeprefix(prefix))
            kinds = kind
    return name + kinds
