"""Suggestions keep the values that were right, and make finite what was not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tfdbg_tui.diagnosis.rules import RULES
from tfdbg_tui.diagnosis.rules.edits import suggestion

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

_EDITS = {rule.id: rule.edits for rule in RULES}
_OTHER_VALUE = {
    *(edit for edit in _EDITS["softmax-by-hand"] if "reduce_max" in edit.becomes),
    *_EDITS["rsqrt-of-step-zero"],
    *_EDITS["zero-times-number-beyond-float16"],
}
_ORDINARY = [[[0.2, 0.7, 0.45]], [[1.2, 1.7, 3.45]], [[2.0, 0.5], [0.5, 1.0]]]
_HEALTHY = [[0.2, 0.7, 0.45]]
_ABOVE_ONE = [[1.2, 1.7, 3.45]]
_ZERO = [[0.0, 0.7, 0.4]]
_ZEROS = [[0.0, 0.0, 0.0]]
_LARGE = [[999.0, 1.0, -999.0]]


@pytest.mark.parametrize(
    ("rule", "code", "healthy", "bad"),
    [
        ("log-of-zero", "tf.math.log(x)", _HEALTHY, _ZERO),
        ("log-of-softmax", "tf.math.log(tf.nn.softmax(x, axis=1))", _HEALTHY, _LARGE),
        ("log-of-sigmoid", "tf.math.log(tf.sigmoid(x))", _HEALTHY, _LARGE),
        ("log-of-sigmoid", "tf.math.log(1.0 - tf.sigmoid(-x))", _HEALTHY, _LARGE),
        ("x-log-x-at-zero", "tf.math.log(x) * x", _HEALTHY, _ZERO),
        ("log1p-of-minus-one", "tf.math.log1p(-x)", _HEALTHY, [[1.0, 0.5, 0.0]]),
        ("rsqrt-of-zero", "tf.math.rsqrt(x)", _HEALTHY, _ZERO),
        ("sqrt-of-negative", "tf.sqrt(x - 0.1)", _HEALTHY, _ZERO),
        ("pow-of-zero", "x ** -0.5", _HEALTHY, _ZERO),
        ("pow-of-negative", "x ** 1.5", _HEALTHY, [[-1.0, 2.0, 3.0]]),
        ("pow-of-negative", "x ** (1 / 3)", _HEALTHY, [[-1.0, 2.0, 3.0]]),
        ("sum-of-exponentials-is-zero", "x / tf.reduce_sum(tf.exp(-x), 1)", _HEALTHY,
         [[200.0, 300.0, 400.0]]),
        ("acos-outside-its-domain", "tf.acos(x)", _HEALTHY, [[1.0, -1.0, 1.1]]),
        ("acosh-below-one", "tf.acosh(x)", _ABOVE_ONE, [[1.0, 0.9, 1.1]]),
        ("lgamma-pole", "tf.math.lgamma(x)", _HEALTHY, _ZERO),
        ("softmax-by-hand", "tf.exp(x) / tf.reduce_sum(tf.exp(x), axis=1, keepdims=True)",
         _HEALTHY, _LARGE),
        ("softplus-by-hand", "tf.math.log(1.0 + tf.exp(x))", _HEALTHY, _LARGE),
        ("sigmoid-by-hand", "1 / (1 + tf.exp(-x))", _HEALTHY, _LARGE),
        ("sigmoid-by-hand", "1.0 / (tf.exp(x) + 1.0)", _HEALTHY, _LARGE),
        ("logsumexp-by-hand", "tf.math.log(tf.reduce_sum(tf.exp(x), 1))", _HEALTHY, _LARGE),
        ("exp-overflow", "tf.exp(x)", _HEALTHY, _LARGE),
        ("exp-overflow", "(tf.exp(x) - tf.exp(-x)) / (tf.exp(x) + tf.exp(-x))", _HEALTHY, _LARGE),
        ("hyperbolic-overflow", "tf.cosh(x)", _HEALTHY, _LARGE),
        ("normalised-by-zero-spread", "x / tf.norm(x, axis=1, keepdims=True)", _HEALTHY, _ZEROS),
        ("mean-of-nothing", "x / tf.reduce_sum(x, 1)", _HEALTHY, _ZEROS),
        ("log-of-zero-ratio", "tf.math.log(x / tf.reduce_sum(x))", _HEALTHY, _ZEROS),
        ("gradient-of-norm-at-zero", "tf.norm(x, axis=-1)", _HEALTHY, _ZEROS),
        ("gradient-of-sqrt-at-zero", "tf.sqrt(x)", _HEALTHY, _ZERO),
        ("gradient-of-power-at-zero", "tf.pow(x, 0.3)", _HEALTHY, _ZERO),
        ("gradient-of-arc-at-one", "tf.asin(x)", _HEALTHY, [[1.0, -1.0, 0.0]]),
        ("gradient-of-angle-at-origin", "tf.atan2(x, 2.0 * x)", _HEALTHY, _ZERO),
        ("gradient-of-acosh-at-one", "tf.acosh(x)", _ABOVE_ONE, [[1.0, 2.0, 3.0]]),
        ("gradient-of-log-at-zero", "tf.where(x > 0.0, tf.math.log(x), 0.0)", _HEALTHY, _ZERO),
    ],
)  # fmt: skip
def test_a_suggestion_mends_the_program_and_nothing_else(
    rule: str, code: str, healthy: list[list[float]], bad: list[list[float]]
) -> None:
    assert not _is_finite(code, bad)
    found = suggestion([code], 1, _EDITS[rule], None, "float32")
    old, new = found.split(" → ")
    mended = code.replace(old, new)
    assert _is_finite(mended, bad)
    np.testing.assert_allclose(_value(mended, healthy), _value(code, healthy), rtol=1e-4)


def test_each_edit_keeps_the_value_of_its_pattern() -> None:
    """Where that is finite, and but for those that change it on purpose."""
    modules = (tf, tf.linalg, tf.nn, tf.math)
    names = {name: value for module in modules for name, value in vars(module).items()}
    for edit in {edit for rule in RULES for edit in rule.edits} - _OTHER_VALUE:
        code = re.sub(r"\((\w+)(\|\w+)+\)", r"\1", edit.pattern).replace("AXES", "axis=1")
        old, new = suggestion([code], 1, [edit], None, "float32").split(" → ")
        assert any(_agree(old, new, {**names, "X": x, "tf": tf}) for x in _ORDINARY), (old, new)


def test_a_mask_beyond_float16_becomes_one_within() -> None:
    code, mask = "(1.0 - mask) * -1e9", tf.constant([0.0, 1.0], tf.float16)
    edits = _EDITS["zero-times-number-beyond-float16"]
    old, new = suggestion([code], 1, edits, None, "float16").split(" → ")
    assert np.isnan(eval(old, {"mask": mask}).numpy()).any()
    np.testing.assert_array_equal(eval(new, {"mask": mask}), np.array([-6e4, 0], np.float16))


def _agree(old: str, new: str, names: dict[str, Any]) -> bool:
    names["X"], names["Y"] = tf.constant(names["X"]), tf.constant(0.6)
    try:
        before, after = eval(old, names).numpy(), eval(new, names).numpy()
    except tf.errors.InvalidArgumentError:  # some ask for a square matrix
        return False
    return bool(np.isfinite(before).all() and np.allclose(before, after, 1e-3))


def _value(code: str, x: list[list[float]]) -> Any:
    return eval(code, {"tf": tf, "x": tf.constant(x)}).numpy()


def _is_finite(code: str, x: list[list[float]]) -> bool:
    """Whether an expression and its gradient are finite."""
    variable = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(variable)
        value = eval(code, {"tf": tf, "x": variable})
    gradient = tape.gradient(value, variable)
    return bool(np.isfinite(value).all() and np.isfinite(gradient).all())
