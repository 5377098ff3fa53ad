"""Exponentials that overflow: functions written by hand that have a safe form, and the others."""

from __future__ import annotations

from tfdbg_tui.diagnosis.op_traits import DIVISIONS
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    behind,
    either,
    infinite_out,
    overflow,
    used_by,
)
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.examples import INF, example, given
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, User, ops
from tfdbg_tui.diagnosis.rules.overflow import MATMULS, doubted_by_training

_NUMBERS = frozenset(("", "Const", "Cast", "Fill", "OnesLike"))
_BY_SUM = frozenset(("Sum",))
_EXP_OVERFLOW = either(overflow(), infinite_out)
_SAFE_EXP = (
    Edit("log(exp(X) / reduce_sum(exp(X), AXES))", "tf.nn.log_softmax({X}{the_axis})"),
    Edit("exp(X) / reduce_sum(exp(X), AXES)", "tf.nn.softmax({X}{the_axis})"),
    Edit("log(reduce_sum(exp(X), AXES))", "tf.reduce_logsumexp({X}{axes})"),
    Edit("log(1 + exp(X))", "tf.nn.softplus({X})"),
    Edit("log1p(exp(X))", "tf.nn.softplus({X})"),
    Edit("(exp(X) - exp(-X)) / (exp(X) + exp(-X))", "tf.tanh({X})"),
    Edit("exp(X) / (1 + exp(X))", "tf.sigmoid({X})"),
    Edit("1 / (1 + exp(-X))", "tf.sigmoid({X})"),
    Edit("1 / (1 + exp(X))", "tf.sigmoid(-{X})"),
    Edit("X / (1 + exp(-X))", "tf.nn.silu({X})"),
)
"""The functions that do without large exponentials, for what is written by hand."""

_CLIP_EXP = Edit("(exp|expm1)(X)", "{F}(tf.minimum({X}, {exp_max}))")
_SHIFT_EXP = Edit("exp(X)", "{F}({X} - tf.reduce_max({X}, axis=-1, keepdims=True))")

_FROM_LAYER = 3  # ops between a layer's product and an exponential of it: slices, signs, factors


def _diverged_to_exp(case: Case) -> Match | None:
    if not behind(*MATMULS, "ReadVariableOp", depth=_FROM_LAYER)(case) or _bounded_late(case):
        return None
    return doubted_by_training(case, _EXP_OVERFLOW(case))


def _bounded_late(case: Case) -> bool:
    """Whether large exponentials were expected, and are left out again."""
    bounds = "SelectV2", "Select", "Minimum", "ClipByValue"
    return any(case.used_by(op) or case.used_by("Sub", op) for op in bounds)


def _is_share(case: Case) -> bool:
    """Condition: the result is divided by a sum."""
    return any(_divides_by_sum(user) for user in case.users)


def _is_share_in_log(case: Case) -> bool:
    return any(_divides_by_sum(user) and _then(user, "Log") for user in case.users)


def _divides_by_sum(user: User) -> bool:
    return user.op_type in DIVISIONS and user.slot == 0 and "Sum" in user.others


def _one_over_one_plus(case: Case) -> bool:
    return _plus_number(case, "RealDiv", slot=1) or _plus_number(case, "Reciprocal")


def _log_of_one_plus(case: Case) -> bool:
    return _plus_number(case, "Log") or case.used_by("Log1p")


def _log_of_sum(case: Case) -> bool:
    plus_exp = any(
        _adds(user) and "Exp" in user.others and _then(user, "Log") for user in case.users
    )
    return plus_exp or case.used_by("Sum", "Log")


def _plus_number(case: Case, op_type: str, slot: int = 0) -> bool:
    """Whether a number that the program has written down is added, and an op takes the result."""
    added = (user for user in case.users if _adds(user) and user.others <= _NUMBERS)
    return any(_in_one_scope(case, user) and _then(user, op_type, slot) for user in added)


def _in_one_scope(case: Case, user: User) -> bool:
    """Whether both are of one layer or loss: Keras' losses add a small number to any prediction."""
    return (case.op_name or "").rpartition("/")[0] == user.name.rpartition("/")[0]


def _adds(user: User) -> bool:
    return user.op_type in ("AddV2", "Add")


def _then(user: User, op_type: str, slot: int = 0) -> bool:
    return any((after.op_type, after.slot) == (op_type, slot) for after in user.then)


RULES = (
    Rule(
        id="log-softmax-by-hand",
        title="Logarithm of a softmax, written by hand",
        op_types=ops("Exp"),
        test=also(_EXP_OVERFLOW, _is_share_in_log),
        why="exp overflows for arguments above 88 (float32) or 11 (float16), and ∞ / ∞ is NaN; "
        "where it does not, small probabilities are rounded to 0, whose log is -∞.",
        fix="tf.nn.log_softmax, or tf.nn.sparse_softmax_cross_entropy_with_logits of the "
        "arguments.",
        example=example(
            "Exp",
            given(1000, 1),
            out=[INF, 2.7],
            users=(User("RealDiv", 0, _BY_SUM, (User("Log"),)),),
        ),
        edits=_SAFE_EXP,
    ),
    Rule(
        id="softmax-by-hand",
        title="Softmax written by hand",
        op_types=ops("Exp"),
        test=also(_EXP_OVERFLOW, _is_share),
        why="exp overflows for arguments above 88 (float32) or 11 (float16), and ∞ / ∞ is NaN.",
        fix="tf.nn.softmax subtracts the maximum first; by hand, over the axis of the sum.",
        example=example(
            "Exp", given(1000, 1), out=[INF, 2.7], users=(User("RealDiv", 0, _BY_SUM),)
        ),
        edits=(*_SAFE_EXP, _SHIFT_EXP),
    ),
    Rule(
        id="softplus-by-hand",
        title="Softplus written by hand",
        op_types=ops("Exp"),
        test=also(_EXP_OVERFLOW, _log_of_one_plus),
        why="log(1 + exp(x)) overflows in between, although its value is nearly x.",
        fix="tf.nn.softplus(x), or tf.nn.sigmoid_cross_entropy_with_logits for a loss.",
        example=example(
            "Exp", given(1000, 1), out=[INF, 2.7], users=(User("AddV2", then=(User("Log"),)),)
        ),
        edits=_SAFE_EXP,
    ),
    Rule(
        id="sigmoid-by-hand",
        title="Sigmoid written by hand",
        op_types=ops("Exp"),
        test=also(_EXP_OVERFLOW, _one_over_one_plus),
        why="exp overflows for arguments above 88 (float32) or 11 (float16). The value 1 / (1 + "
        "∞) is still right, the gradient ∞ / ∞ is NaN.",
        fix="tf.sigmoid is safe, for its gradient as well.",
        example=example(
            "Exp",
            given(1000, 1),
            out=[INF, 2.7],
            users=(User("AddV2", then=(User("RealDiv", 1),)),),
        ),
        edits=_SAFE_EXP,
    ),
    Rule(
        id="logsumexp-by-hand",
        title="Log-sum-exp written by hand",
        op_types=ops("Exp"),
        test=also(_EXP_OVERFLOW, _log_of_sum),
        why="exp overflows before the log could make it small again.",
        fix="tf.reduce_logsumexp subtracts the maximum first.",
        example=example(
            "Exp", given(1000, 1), out=[INF, 2.7], users=(User("Sum", then=(User("Log"),)),)
        ),
        edits=_SAFE_EXP,
    ),
    Rule(
        id="diverged-until-exp-overflow",
        title="Training diverged until an exponential overflowed",
        op_types=ops("Exp", "Expm1"),
        test=_diverged_to_exp,
        why="What a layer gives was small enough in the steps before: a step that was too long "
        "made it larger, and exp overflows for arguments above 88.7 (float32) or 11.1 (float16). "
        "A batch with outliers does the same.",
        fix="Lower the learning rate, clip gradients (clipnorm), scale inputs and targets. To "
        "bound the argument alone leaves a training that diverges.",
        example=example(
            "Exp",
            given(1000, 1, by="MatMul"),
            out=[INF, 2.7],
            training=True,
            healthy_before=10,
        ),
        edits=_SAFE_EXP,
    ),
    Rule(
        id="exp-in-a-sum",
        title="Exponentials that overflow before they are compared with their sum",
        op_types=ops("Exp"),
        test=also(_EXP_OVERFLOW, used_by("Sum")),
        why="exp overflows for arguments above 88 (float32) or 11 (float16), and so does their "
        "sum.",
        fix="tf.nn.log_softmax for the log of a share of the sum, tf.reduce_logsumexp for the log "
        "of the sum, tf.nn.softmax for the share: they subtract the maximum first.",
        example=example("Exp", given(1000, 1), out=[INF, 2.7], users=(User("Sum"),)),
        edits=_SAFE_EXP,
    ),
    Rule(
        id="exp-overflow",
        title="Exponential of a large number",
        op_types=ops("Exp", "Expm1"),
        test=_EXP_OVERFLOW,
        why="exp overflows for arguments above 88.7 (float32), 11.1 (float16) or 709.8 (float64).",
        fix="Clip the argument, subtract the maximum first, or stay with logarithms. Beyond a "
        "bound the gradient is 0: where all arguments are too large, scale down what they are made "
        "of: inputs that run to 255, say, or the first weights.",
        example=example("Exp", given(1000, 1), out=[INF, 2.7]),
        edits=(*_SAFE_EXP, _CLIP_EXP),
    ),
    Rule(
        id="hyperbolic-overflow",
        title="Hyperbolic function of a large number",
        op_types=ops("Sinh", "Cosh"),
        test=overflow(),
        why="sinh and cosh grow like exp: they overflow for arguments beyond ±89 (float32).",
        fix="log(cosh(x)) is x + softplus(-2x) - log(2), which does not overflow. Else clip the "
        "argument; beyond the bounds the gradient is 0.",
        example=example("Cosh", given(1000, 0), out=[INF, 1]),
        edits=(
            Edit("log(cosh(X))", "{X} + tf.nn.softplus(-2.0 * {X}) - 0.6931472"),
            Edit("(sinh|cosh)(X)", "{F}(tf.clip_by_value({X}, -{exp_max}, {exp_max}))"),
        ),
    ),
)
