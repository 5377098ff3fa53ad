"""Trouble before, or without, NaN: what it means.  Which places have it: `rules.suspects`."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule


def _found_otherwise(_case: Case) -> Match | None:
    return None


def _rule(rule_id: str, title: str, why: str, fix: str) -> Rule:
    return Rule(rule_id, title, frozenset(), _found_otherwise, why, fix)


DEAD_RELU = _rule(
    "dead-relu",
    "A ReLU layer that is off all the time",
    "All inputs of the ReLU are negative, so its gradient is 0 and the layers before it cannot "
    "learn.",
    "Lower the learning rate, use He initialisation, or a leaky ReLU.",
)
EXP_UNDERFLOW = _rule(
    "exp-underflow",
    "Exponential that is always rounded to zero",
    "exp of less than -103 (float32) or -17 (float16) is 0: a sum of such terms is 0, and dividing "
    "by it or taking its log fails.",
    "Subtract the maximum first, or stay with logarithms (tf.reduce_logsumexp).",
)
GRADIENT_UNDERFLOW = _rule(
    "gradient-underflow",
    "Gradients that vanish in float16",
    "Numbers below 6e-8 are 0 in float16: the gradients are lost in the cast.",
    "Use a loss scale (keras.mixed_precision.LossScaleOptimizer), or bfloat16.",
)
NEAR_OVERFLOW = _rule(
    "near-overflow",
    "Numbers close to overflow",
    "The result is within a factor of four of the largest number of its type.",
    "Scale or clip the argument.",
)
SATURATED_SOFTMAX = _rule(
    "saturated-softmax",
    "Softmax that is saturated all the time",
    "The logits lie more than 103 apart, so that all probabilities but one are rounded to 0: the "
    "gradient of the softmax is 0 as well, and its logarithm would be -∞.",
    "Scale the inputs (pictures from 0 to 1, not 255), lower the learning rate or the initial "
    "weights; compute the loss from the logits.",
)
SILENT_BROADCAST = _rule(
    "silent-broadcast",
    "Difference of a column and a row",
    "A tensor of shape [n, 1] minus one of shape [n] has shape [n, n]: the loss compares every "
    "prediction with every target.",
    "Give both the same shape: tf.squeeze(predictions, -1), or targets[:, tf.newaxis].",
)
SOFTMAX_TWICE = _rule(
    "softmax-twice",
    "Softmax of a softmax",
    "The loss applies a softmax itself and wants logits: given probabilities, its gradients are "
    "small and training is slow.",
    "Leave the softmax out of the last layer, or set from_logits=False.",
)
ALL_STEPS_SKIPPED = _rule(
    "all-steps-skipped",
    "Every training step is skipped",
    "The gradients are never finite, so the loss scaler never applies them: nothing is learnt.",
    "Find the overflow that makes them infinite (it is the same in each step) and keep that part "
    "in float32.",
)

RULES = (
    DEAD_RELU,
    EXP_UNDERFLOW,
    GRADIENT_UNDERFLOW,
    NEAR_OVERFLOW,
    SATURATED_SOFTMAX,
    SILENT_BROADCAST,
    SOFTMAX_TWICE,
    ALL_STEPS_SKIPPED,
)
"""Rules about silent trouble."""
