"""What is called proved is true, whatever the numbers were that the record does not tell.

Each rule is asked about random numbers, in the surroundings of its example. Some of them are not
on record, some records only say whether there is NaN or ∞, and some links are wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.diagnosis.tiny import summary
from tfdbg_tui.diagnosis.op_traits import ELEMENTWISE, MOVES
from tfdbg_tui.diagnosis.roots.additions import addition_of
from tfdbg_tui.diagnosis.rules import RULES, explain
from tfdbg_tui.diagnosis.rules.model import Case, Input, Rule
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable

    Array = npt.NDArray[Any]

_TIMES = 500  # computations that a rule is asked about
_NUMBERS = {
    "float32": [0, 0, 0, 1, -1, 2.5, -3, 0.5, -0.5, 90, 1e20, -1e20, 1e30, 3e38, 3e38, 1e-30],
    "float16": [0, 0, 0, 1, -1, 2.5, -3, 0.5, -0.5, 12, 300, -300, 6e4, -6e4, 1e-5],
}
_BAD = [math.inf, -math.inf, math.nan]


def _with_poles(function: Callable[[Array], Array], at: Callable[[Array], Array]) -> Any:
    """Returns a function that is infinite at some numbers."""
    return lambda x: np.where(at(x), np.inf, function(x)).astype(x.dtype)


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(initial=-np.inf))
    return np.asarray(e / e.sum())


def _xlogy(x: Array, log: Array) -> Array:
    return np.where(x == 0, x, x * log).astype(x.dtype)


_UNARY: dict[str, Callable[[Array], Array]] = {
    "Log": np.log,
    "Log1p": np.log1p,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Reciprocal": lambda x: 1 / x,
    "Inv": lambda x: 1 / x,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Square": np.square,
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Atanh": np.arctanh,
    "Acosh": np.arccosh,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Sin": np.sin,
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Cos": np.cos,
    "Tan": np.tan,
    "Cast": lambda x: x.astype(np.float16),
    "Softmax": _softmax,
    "LogSoftmax": lambda x: np.log(_softmax(x)),
    "Selu": lambda x: np.where(x > 0, x * x.dtype.type(1.05), np.expm1(x)),
    # Of these only counts where they are defined.
    "Lgamma": _with_poles(np.abs, lambda x: (x <= 0) & (x == np.floor(x)) | (x > 1e36)),
    "Digamma": lambda x: np.where((x <= 0) & (x == np.floor(x)), np.nan, x),
    "Erfinv": lambda x: np.arctanh(x),
    "Ndtri": lambda x: np.log(x) - np.log1p(-x),
    "BesselI0": np.cosh,
    "BesselI1": np.sinh,
    "Sum": lambda x: x.sum(keepdims=True),
    "Mean": lambda x: x.sum(keepdims=True) / x.dtype.type(x.size),
    "Prod": lambda x: x.prod(keepdims=True),
    "Cumsum": np.cumsum,
    "Cumprod": np.cumprod,
    "Max": lambda x: np.max(x, keepdims=True, initial=-np.inf),
    "Min": lambda x: np.min(x, keepdims=True, initial=np.inf),
    "L2Loss": lambda x: np.square(x).sum(keepdims=True) / 2,
    "EuclideanNorm": lambda x: np.sqrt(np.square(x).sum(keepdims=True)),
}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "RealDiv": np.divide,
    "Div": np.divide,
    "TruncateDiv": lambda x, y: np.trunc(x / y),
    "FloorDiv": np.floor_divide,
    "FloorMod": np.mod,
    "Mod": np.fmod,
    "DivNoNan": lambda x, y: np.where(y == 0, 0, x / y).astype(x.dtype),
    "Xdivy": lambda x, y: np.where(x == 0, 0, x / y).astype(x.dtype),
    "Xlogy": lambda x, y: _xlogy(x, np.log(y)),
    "Xlog1py": lambda x, y: _xlogy(x, np.log1p(y)),
    "Mul": np.multiply,
    "Add": np.add,
    "AddV2": np.add,
    "Sub": np.subtract,
    "AddN": np.add,
    "SquaredDifference": lambda x, y: np.square(x - y),
    "Pow": np.power,
    "Atan2": np.arctan2,
    "MatMul": lambda x, y: (x * y).sum(keepdims=True),
    "Einsum": lambda x, y: (x * y).sum(keepdims=True),
    "BatchMatMulV2": lambda x, y: (x * y).sum(keepdims=True),
    "SqrtGrad": lambda y, dy: dy / 2 / y,
    "RsqrtGrad": lambda y, dy: -dy / 2 * y * y * y,
    "ReciprocalGrad": lambda y, dy: -dy * y * y,
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
    "SeluGrad": lambda dy, y: np.where(y < 0, dy * (y + y.dtype.type(1.76)), dy),
    "ResourceApplyGradientDescent": lambda var, step: var - step,
    "ApplyAdagrad": lambda squares, step: step / np.sqrt(squares),
}


_DIVISIONS = ("RealDiv", "Div", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "Xdivy")


@dataclass
class Computed:
    """What an op has computed, as it was.

    Attributes:
        op_type: Type of the op.
        inputs: Its inputs, by slot.
        out: Its result.
    """

    op_type: str
    inputs: list[Array]
    out: Array

    @property
    def x(self) -> Array:
        return self.inputs[0]

    @property
    def y(self) -> Array:
        return self.inputs[1]

    @property
    def finite(self) -> bool:
        return all(bool(np.isfinite(value).all()) for value in self.inputs)

    @property
    def bad(self) -> Array:
        """Which elements of the result are NaN or infinite."""
        return ~np.isfinite(self.out)

    @property
    def bad_by_zero(self) -> Array:
        """Which of these are so because something was divided by 0."""
        zero = np.zeros_like(self.bad)
        if self.op_type in ("Reciprocal", "Inv", "Rsqrt", "SqrtGrad", "ApplyAdagrad"):
            zero = self.x == 0
        elif self.op_type in _DIVISIONS:
            zero = self.y == 0
        elif self.op_type == "Pow":
            zero = (self.x == 0) & (self.y < 0)
        return self.bad & zero


def _has(condition: Callable[[Array], Any]) -> Callable[[Computed], bool]:
    """Returns the claim that a finite number like that has made NaN or ∞."""
    return lambda op: bool((condition(op.x) & np.isfinite(op.x) & op.bad).any())


def _overflowed(op: Computed) -> bool:
    has_pole = op.op_type in ("Log", "Log1p", "Atanh", "Lgamma", "Digamma", "Erfinv", "Ndtri")
    return op.finite and not op.bad_by_zero.any() and not has_pole and op.x.size > 0


def _infinite_both(op: Computed) -> bool:
    return bool((np.isinf(op.x) & np.isinf(op.y) & np.isnan(op.out)).any())


def _was_given(op: Computed) -> bool:
    return not op.finite


def _claims(claim: Callable[[Computed], bool], *ids: str) -> dict[str, Callable[[Computed], bool]]:
    return dict.fromkeys(ids, claim)


_CLAIMS = {
    **_claims(
        _has(lambda x: x == 0),
        *("log-of-softmax", "log-of-sigmoid", "x-log-x-at-zero", "log-of-determinant"),
        *("log-of-relu", "log-of-zero", "optimizer-root-of-zero", "rsqrt-of-step-zero"),
        *("rsqrt-of-zero", "reciprocal-of-zero", "reciprocal-of-zero-in-gradient"),
        *("gradient-of-arc-at-one", "gradient-of-log-at-zero"),
    ),
    **_claims(
        _has(lambda x: x < 0),
        *("log-of-negative", "sqrt-of-negative", "rsqrt-of-negative", "pow-of-negative"),
        *("variance-by-difference", "optimizer-root-of-negative"),
        *("batch-norm-root-of-negative", "schedule-beyond-its-end"),
    ),
    **_claims(
        lambda op: bool((op.bad_by_zero == op.bad).all()),
        *("optimizer-divides-by-zero", "optimizer-division", "normalised-by-zero-spread"),
        *("scaled-by-zero-range", "log-of-zero-ratio", "mean-of-nothing", "divided-by-rectified"),
        "rectified-normalised",
        *("sum-of-exponentials-is-zero",),
        *("gradient-of-division-by-zero", "division-by-zero-in-gradient", "zero-over-zero"),
        *("division-by-zero", "remainder-of-zero", "xdivy-by-zero", "gradient-of-acosh-at-one"),
        *("gradient-of-angle-at-origin", "pow-of-zero", "gradient-of-power-at-zero"),
        *("gradient-of-norm-at-zero", "gradient-of-sqrt-at-zero"),
    ),
    **_claims(
        _overflowed,
        *("division-overflow", "divide-no-nan-overflow", "bessel-overflow", "exp-overflow"),
        *("log-softmax-by-hand", "softmax-by-hand", "softplus-by-hand", "sigmoid-by-hand"),
        *("logsumexp-by-hand", "exp-in-a-sum", "hyperbolic-overflow", "cast-overflow"),
        *("attention-overflow", "half-precision-overflow", "gradient-overflow"),
        *(
            "squared-gradient-overflow",
            "step-overflow",
            "norm-overflow",
            "matmul-overflow",
            "product-overflow",
        ),
        *("sum-overflow", "activation-overflow", "gradient-of-activation-overflow"),
        *("optimizer-overflow", "cross-entropy-of-huge-logits"),
    ),
    "log1p-of-minus-one": _has(lambda x: x == -1),
    "log1p-below-minus-one": _has(lambda x: x < -1),
    "acos-outside-its-domain": _has(lambda x: abs(x) > 1),
    "asin-outside-its-domain": _has(lambda x: abs(x) > 1),
    "atanh-of-one": _has(lambda x: abs(x) == 1),
    "atanh-outside-its-domain": _has(lambda x: abs(x) > 1),
    "acosh-below-one": _has(lambda x: x < 1),
    "lgamma-pole": _has(lambda x: (x <= 0) | (x > 1e36)),
    "digamma-pole": _has(lambda x: x <= 0),
    "erfinv-outside-its-domain": _has(lambda x: abs(x) >= 1),
    "ndtri-outside-its-domain": _has(lambda x: (x <= 0) | (x >= 1)),
    "softmax-of-nothing": lambda op: bool(np.isneginf(op.x).all()),
    **_claims(
        lambda op: bool(((op.x == 0) & np.isinf(op.y) | (op.y == 0) & np.isinf(op.x)).any()),
        *("zero-times-infinity", "zero-times-number-beyond-float16"),
    ),
    "infinity-minus-infinity": _infinite_both,
    "infinity-over-infinity": _infinite_both,
    "sum-of-infinities": lambda op: bool({np.inf, -np.inf} <= {*op.x.tolist()}),
    **_claims(
        lambda op: any(bool((np.isinf(value) & np.isnan(op.out)).any()) for value in op.inputs),
        *("function-of-infinity", "no-value-at-infinity"),
    ),
    **_claims(lambda op: not op.x.size, "mean-of-empty", "maximum-of-empty"),
    **_claims(_was_given, "bad-array", "function-of-bad-array"),
}
"""What is true where these rules say that it is proved; all others prove nothing."""


def _op_types(rule: Rule) -> list[str]:
    """Returns the op types to ask a rule about, of which it is known what they compute."""
    asked = rule.op_types or {rule.example.case.op_type, *_UNARY, *_BINARY}
    return sorted(asked & (_UNARY.keys() | _BINARY.keys()))


def _computed(random: np.random.Generator, op_type: str, dtype: str) -> Computed:
    """Returns what an op makes of random numbers."""
    function: Any = _UNARY.get(op_type) or _BINARY[op_type]
    size = int(random.choice([0, 1, 2, 3])) if op_type in _UNARY else int(random.choice([2, 3]))
    arrays = [_array(random, dtype, size) for _ in range(1 if op_type in _UNARY else 2)]
    with np.errstate(all="ignore"):
        return Computed(op_type, arrays, np.asarray(function(*arrays)))


def _case(random: np.random.Generator, around: Case, op: Computed) -> Case:
    """Returns what may be on record of a computation, in the surroundings of another."""
    inputs = []
    for slot, array in enumerate(op.inputs):
        given = around.input(slot) or Input(None, False, False, "x", None)
        if random.random() < 0.2:
            given = replace(given, op_type=str(random.choice(["Mul", "Cast", "Exp"])))
        kind = random.choice(["told", "told", "unknown", "wrong", "curt"])
        if kind != "wrong" and given.op_type is not None and np.isnan(array).any():
            kind = "unknown"  # else the op that made the NaN would have been asked about
        told = (
            _array(random, str(array.dtype), int(random.choice([0, 1, 2, 3])))
            if kind == "wrong"
            else array
        )
        mode = TensorDebugMode.CURT_HEALTH if kind == "curt" else TensorDebugMode.FULL_HEALTH
        record = None if kind == "unknown" else _recorded(told, mode)
        finite = record is not None and not record.has_inf_or_nan
        inputs.append(replace(given, summary=record, finite=finite, inferred=kind == "wrong"))
    return replace(
        around,
        op_type=op.op_type,
        out=_recorded(op.out, TensorDebugMode.FULL_HEALTH),
        inputs=tuple(inputs),
        open=any(given.summary is None for given in inputs),
        bad_input=any(given.summary is not None and not given.finite for given in inputs),
    )


def _array(random: np.random.Generator, dtype: str, size: int) -> Array:
    """Returns numbers, in every other array finite ones."""
    numbers = random.choice(_NUMBERS[dtype], size)
    bad = random.choice(_BAD, size)
    share = random.choice([0, 0.3])
    return np.where(random.random(size) < share, bad, numbers).astype(dtype)


def _recorded(array: Array, mode: TensorDebugMode) -> Any:
    told = summary(array, mode)
    if mode == TensorDebugMode.FULL_HEALTH:
        return told
    return replace(told, neg_inf=None, pos_inf=None, nan=None, neg=None, zero=None, pos=None)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_is_proved_is_true_of_the_numbers(rule: Rule) -> None:
    random, op_types = np.random.default_rng(7), _op_types(rule)
    around = rule.example.case
    for number in range(_TIMES if op_types else 0):
        own = around.out.dtype if around.out.dtype in _NUMBERS else "float32"
        dtype = str(random.choice(["float32", "float32", own, "float16"]))
        op = _computed(random, op_types[number % len(op_types)], dtype)
        if np.isfinite(op.out).all():
            continue
        case = _case(random, around, op)
        found, match = explain(case)
        if match.certainty == "proved":
            claim = _CLAIMS.get(found.id)
            assert claim is not None, f"{found.id} proves nothing"
            with np.errstate(all="ignore"):
                assert claim(op), (found.id, match.evidence, op, case.inputs)


@pytest.mark.parametrize("op_type", sorted((ELEMENTWISE - MOVES) & (_UNARY | _BINARY).keys()))
def test_what_an_op_has_made_bad_of_its_own_is_told_by_counts(op_type: str) -> None:
    random = np.random.default_rng(7)
    for _ in range(_TIMES):
        op = _computed(random, op_type, str(random.choice(["float32", "float16"])))
        given = {slot: summary(array) for slot, array in enumerate(op.inputs)}
        found = addition_of(op_type, summary(op.out), given)
        came_in = np.logical_or.reduce([~np.isfinite(array) for array in op.inputs])
        own = op.out[op.bad & ~came_in]
        assert found is None or own.size, op
        if len(given) == 1 and came_in.any() and not np.isinf(op.x).any():
            assert (found is not None and found.is_exact) == bool(own.size), op
            told = found and (found.out.nan, found.out.neg_inf, found.out.pos_inf)
            counts = (int(test(own).sum()) for test in (np.isnan, np.isneginf, np.isposinf))
            assert told in (None, tuple(counts)), op


_TAKES_IT_FROM_OUTSIDE = {
    *("bad-data", "bad-data-of-constant", "bad-data-of-iterator"),
    *("bad-parsed-value", "bad-table-value"),
    *(
        "bad-queue-value",
        "bad-sparse-or-ragged-data",
        "bad-pipeline-input",
        "bad-constant",
        "bad-fill",
        "restored-bad",
    ),
    "bad-default",
}
_PROVED_OF_FINITE = {
    *("batch-norm-of-empty", "random-with-bad-parameter", "log-of-zero-determinant"),
    *("label-out-of-range", "cross-entropy-of-huge-logits", "log-of-empty-sum"),
    "complex-overflow",
}


@pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if rule.example.case.op_type not in {*_UNARY, *_BINARY}],
    ids=lambda rule: rule.id,
)
def test_of_other_ops_only_some_are_proved_and_only_of_finite_inputs(rule: Rule) -> None:
    if rule.id in _TAKES_IT_FROM_OUTSIDE:
        return
    case = rule.example.case
    unknown = tuple(replace(given, summary=None, finite=False) for given in case.inputs)
    wrong = tuple(replace(given, inferred=True) for given in case.inputs)
    for changed in (replace(case, inputs=unknown, open=True), replace(case, inputs=wrong)):
        assert explain(changed)[1].certainty != "proved"
    assert explain(case)[1].certainty != "proved" or rule.id in _PROVED_OF_FINITE
