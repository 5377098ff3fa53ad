"""Idioms of real programs that hold ∞ or NaN on purpose, and their twins without the guard.

Each runs eagerly and inside of a `tf.function`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

HEALTHY: list[Callable[[], Any]] = []
SICK: list[Callable[[], Any]] = []

inf, nan = np.inf, np.nan
c = tf.constant


def healthy(function: Callable[[], Any]) -> Callable[[], Any]:
    HEALTHY.append(function)
    return function


def sick(function: Callable[[], Any]) -> Callable[[], Any]:
    SICK.append(function)
    return function


_SPECIAL = """
@tf.custom_gradient
def reciprocal(x):
    slope = -1 / tf.where(x != 0, x, 0.0) ** 2
    return tf.math.reciprocal_no_nan(x), lambda upstream: upstream * slope

@tf.custom_gradient
def unguarded_reciprocal(x):
    return 1 / tf.where(x != 0, x, 0.0), lambda upstream: upstream
"""
_installed: dict[str, Any] = {"tf": tf}
exec(compile(_SPECIAL, "/usr/lib/python3/site-packages/special.py", "exec"), _installed)


# ---- Healthy ------------------------------------------------------------------------------------


@healthy
def cauchy_kernel() -> Any:
    return tf.reduce_sum(1.0 / (1.0 + tf.square(c([1.0, 1e25]) * 1.0)))


@healthy
def jacobian_of_what_is_computed_again() -> Any:
    # TensorFlow chooses 0 of 0 and NaN there; what `jacobian` vectorises is there twice, and one
    # of the two never runs.
    block = tf.recompute_grad(lambda x: tf.tanh(x) * 2.0)
    with tf.GradientTape() as tape:
        x = c([0.3, 0.2])
        tape.watch(x)
        y = block(block(x))
    return tape.jacobian(y, x)


@healthy
def hf_buckets() -> Any:
    d = tf.abs(tf.range(8)[None] - tf.range(8)[:, None])
    big = 2 + tf.cast(tf.math.log(tf.cast(d, tf.float32) / 2) / np.log(8), tf.int32)
    return tf.where(d < 2, d, tf.minimum(big, 5))


@healthy
def sample_probs() -> Any:
    return tf.random.categorical(tf.math.log(c([[0.0, 0.5, 0.5]])), 1, seed=1)


@healthy
def psnr_min() -> Any:
    return tf.minimum(tf.image.psnr(tf.ones([1, 8, 8, 3]), tf.ones([1, 8, 8, 3]), 1.0), 100.0)


@healthy
def masked_root_and_its_gradient() -> Any:
    """SqrtGrad gives 0 for NaN times 0."""
    x = c([1.0, -2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(tf.where(x > 0, tf.sqrt(x), x))
    return total, tape.gradient(total, x)


@healthy
def loss_scale_cond() -> Any:
    g = tf.cast(c([6e4, 1.0]), tf.float16) * 60000
    return tf.cond(tf.reduce_all(tf.math.is_finite(g)), lambda: 1.0, lambda: 0.5)


@healthy
def loss_scale_where() -> Any:
    g = tf.cast(c([6e4, 1.0]), tf.float16) * 60000
    ok = tf.reduce_all(tf.math.is_finite(g))
    return tf.where(ok, g, tf.zeros_like(g))


@healthy
def loss_scale_convolution() -> Any:
    image, kernel = tf.ones([1, 4, 4, 1], tf.float16), tf.ones([3, 3, 1, 2])

    @tf.function
    def step(kernel: Any) -> Any:
        made = tf.nn.conv2d(image, tf.cast(kernel, tf.float16), 1, "VALID")
        loss = tf.reduce_sum(tf.cast(tf.nn.relu(made), tf.float32)) * 1e6
        g = tf.gradients(loss, kernel)[0]  # that of the image is made too, and nothing takes it
        return tf.cond(tf.reduce_all(tf.math.is_finite(g)), lambda: kernel - g, lambda: kernel)

    return step(kernel)


@healthy
def loss_scale_if() -> Any:
    g = tf.cast(c([6e4, 1.0]), tf.float16) * 60000
    w = c([1.0, 2.0])
    if tf.reduce_all(tf.math.is_finite(g)):
        w = w - tf.cast(g, tf.float32)
    return w


@healthy
def attention_mask() -> Any:
    s = tf.matmul(tf.ones([4, 3]), tf.ones([3, 4]))
    m = tf.linalg.band_part(tf.ones([4, 4]), -1, 0)
    return tf.nn.softmax(tf.where(m > 0, s, -inf))


@healthy
def attention_mask_add() -> Any:
    s = tf.matmul(tf.ones([4, 3]), tf.ones([3, 4]))
    m = tf.where(tf.linalg.band_part(tf.ones([4, 4]), -1, 0) > 0, 0.0, -inf)
    return tf.nn.softmax(s + m) @ tf.ones([4, 2])


@healthy
def attention_mask_log() -> Any:
    s = tf.matmul(tf.ones([4, 3]), tf.ones([3, 4]))
    return tf.nn.softmax(s + tf.math.log(tf.linalg.band_part(tf.ones([4, 4]), -1, 0)))


@healthy
def top_k_filter() -> Any:
    logits = c([[1.0, 3.0, 2.0, 0.5]]) * 1.5
    v, _ = tf.math.top_k(logits, 2)
    f = tf.where(logits < v[:, -1:], -inf, logits)
    return tf.random.categorical(f, 1, seed=1)


@healthy
def top_p_filter() -> Any:
    logits = c([[1.0, 3.0, 2.0, 0.5]]) * 1.5
    s = tf.sort(logits, direction="DESCENDING")
    cum = tf.cumsum(tf.nn.softmax(s), axis=-1)
    cut = tf.reduce_min(tf.where(cum - tf.nn.softmax(s) < 0.8, s, inf), axis=-1, keepdims=True)
    f = tf.where(logits < cut, tf.ones_like(logits) * -inf, logits)
    return tf.argmax(tf.nn.softmax(f), -1)


@healthy
def beam_scores() -> Any:
    s = c([[0.0, -inf, -inf]]) + 0.0
    lp = tf.nn.log_softmax(tf.reshape(tf.range(12.0), [1, 3, 4]))
    t = tf.reshape(s[..., None] + lp, [1, 12])
    v, i = tf.math.top_k(t, 3)
    return v / 2.0, i


@healthy
def masked_logprob() -> Any:
    logits = tf.where(c([[True, False, True]]), c([[1.0, 2.0, 3.0]]), -inf)
    lp = tf.nn.log_softmax(logits)
    return tf.gather(lp, [2], axis=1, batch_dims=0)


@healthy
def masked_entropy() -> Any:
    logits = tf.where(c([[True, False, True]]), c([[1.0, 2.0, 3.0]]), -inf)
    lp = tf.nn.log_softmax(logits)
    p = tf.exp(lp)
    return -tf.reduce_sum(tf.where(p > 0, p * lp, 0.0), -1)


@healthy
def logsumexp_mask() -> Any:
    logits = tf.where(c([[True, False, True]]), c([[1.0, 2.0, 3.0]]), -inf)
    return tf.reduce_logsumexp(logits, -1)


@healthy
def xlogy() -> Any:
    p = c([0.0, 0.5, 0.5])
    return -tf.reduce_sum(tf.math.xlogy(p, p))


@healthy
def entropy_where() -> Any:
    p = c([0.0, 0.5, 0.5]) * 1.0
    return -tf.reduce_sum(tf.where(p > 0, p * tf.math.log(p), 0.0))


@healthy
def entropy_multiply_no_nan() -> Any:
    p = c([0.0, 0.5, 0.5]) * 1.0
    return -tf.reduce_sum(tf.math.multiply_no_nan(tf.math.log(p), p))


@healthy
def xdivy() -> Any:
    a = c([0.0, 1.0])
    b = c([0.0, 2.0])
    return tf.math.xdivy(a, b)


@healthy
def ratio_where() -> Any:
    a = c([0.0, 1.0])
    b = c([0.0, 2.0])
    return tf.where(b > 0, a / b, 0.0)


@healthy
def ratio_nan_to_num() -> Any:
    a = c([0.0, 1.0])
    b = c([0.0, 2.0])
    r = a / b
    return tf.where(tf.math.is_nan(r), tf.zeros_like(r), r)


@healthy
def ratio_infinity_to_number() -> Any:
    r = c([1.0, -1.0, 1.0]) / c([0.0, 0.0, 2.0])
    r = tf.where(tf.math.is_inf(r) & (r > 0), 9.0, r)
    return tf.where(r < -9.0, -9.0, r)


@healthy
def reduce_max_empty() -> Any:
    x = tf.zeros([2, 0])
    return tf.maximum(tf.reduce_max(x, axis=1), 0.0)


@healthy
def reduce_max_empty_in_map() -> Any:
    best = tf.map_fn(lambda x: tf.reduce_max(x[:0]), c([[0.1], [0.2]]))
    return tf.reduce_sum(tf.cast(best < 0.5, tf.float32))


@healthy
def reduce_min_empty_clip() -> Any:
    x = tf.zeros([2, 0])
    return tf.clip_by_value(tf.reduce_min(x, axis=1), 0.0, 10.0)


@healthy
def running_min() -> Any:
    best = c(inf)
    for v in [3.0, 2.0, 4.0]:
        best = tf.minimum(best, c(v) * 1.0)
    return best


@healthy
def running_max() -> Any:
    best = tf.fill([2], -inf)
    for v in [3.0, 2.0, 4.0]:
        best = tf.maximum(best, tf.fill([2], v))
    return best


@healthy
def early_stopping() -> Any:
    best = c(inf)
    wait = c(0)
    for v in [3.0, 2.0, 4.0]:
        better = c(v) < best
        wait = tf.where(better, 0, wait + 1)
        best = tf.where(better, c(v), best)
    return best, wait


@healthy
def precision_nan_to_zero() -> Any:
    tp = tf.math.unsorted_segment_sum(c([1.0, 0.0]), c([0, 0]), 3)
    n = tf.math.unsorted_segment_sum(c([1.0, 1.0]), c([0, 0]), 3)
    p = tp / n
    return tf.reduce_mean(tf.boolean_mask(p, tf.math.is_finite(p)))


@healthy
def iou_zero_area() -> Any:
    inter = c([0.0, 1.0])
    union = c([0.0, 2.0])
    iou = tf.where(union > 0, inter / union, tf.zeros_like(inter))
    return tf.reduce_mean(iou)


@healthy
def nan_marks_what_is_missing() -> Any:
    missing = nan * tf.ones_like(c([[1.0, 2.0]]))
    return tf.concat([tf.fill([1, 2], nan), missing], 0)


@healthy
def nan_pads() -> Any:
    padded = tf.pad(tf.sqrt(c([1.0, 4.0])), [[1, 1]], constant_values=nan)
    return tf.reduce_mean(padded[1:3])


@healthy
def nan_mean() -> Any:
    x = c([1.0, nan, 3.0]) * 2.0
    m = tf.math.is_nan(x)
    return tf.reduce_sum(tf.where(m, tf.zeros_like(x), x)) / tf.reduce_sum(tf.cast(~m, tf.float32))


@healthy
def boolean_mask_nan() -> Any:
    x = c([1.0, nan, 3.0]) * 2.0
    return tf.reduce_mean(tf.boolean_mask(x, ~tf.math.is_nan(x)))


@healthy
def clip_inf() -> Any:
    return tf.clip_by_value(1.0 / c([0.0, 2.0]), 0.0, 1e6)


@healthy
def clip_log() -> Any:
    return tf.reduce_mean(tf.maximum(tf.math.log(c([0.0, 2.0])), -100.0))


@healthy
def sigmoid_inf() -> Any:
    return tf.sigmoid(tf.math.log(c([0.0, 2.0])))


@healthy
def exp_log_zero() -> Any:
    return tf.exp(tf.math.log(c([0.0, 2.0])) * 0.5)


@healthy
def relu_neg_inf() -> Any:
    return tf.nn.relu(tf.where(c([True, False]), c([1.0, 2.0]), -inf))


@healthy
def tanh_inf() -> Any:
    return tf.tanh(c([inf, 1.0]) * 1.0)


@healthy
def argmax_masked() -> Any:
    return tf.argmax(tf.where(c([True, False, True]), c([1.0, 5.0, 2.0]), -inf))


@healthy
def argmax_log() -> Any:
    return tf.argmax(tf.math.log(c([[0.0, 0.3, 0.7]])), axis=-1)


@healthy
def argmax_of_reciprocal() -> Any:
    return tf.argmax(1.0 / c([2.0, 0.0, 1.0])), tf.argmin(1.0 / c([2.0, 0.0, 1.0]))


@healthy
def argsort_inf() -> Any:
    return tf.argsort(tf.where(c([True, False, True]), c([1.0, 5.0, 2.0]), inf))


@healthy
def gather_sorted() -> Any:
    d = tf.where(tf.eye(3) > 0, inf, c([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]))
    return tf.reduce_min(d, axis=1), tf.argmin(d, axis=1)


@healthy
def nms_sentinel() -> Any:
    s = c([0.9, 0.8, 0.1]) * 1.0
    for _ in range(2):
        i = tf.argmax(s)
        s = tf.tensor_scatter_nd_update(s, [[i]], [-inf])
    return tf.reduce_max(s)


@healthy
def compare_only() -> Any:
    x = tf.math.log(c([0.0, 1.0]))
    return tf.reduce_sum(tf.cast(x > -5.0, tf.int32))


@healthy
def histogram_edges() -> Any:
    e = tf.concat([[-inf], tf.linspace(0.0, 1.0, 3), [inf]], 0)
    x = c([-1.0, 0.2, 0.7, 3.0])
    return tf.reduce_sum(tf.cast((x[:, None] >= e[:-1]) & (x[:, None] < e[1:]), tf.int32), 0)


@healthy
def searchsorted_edges() -> Any:
    e = tf.concat([[-inf], tf.linspace(0.0, 1.0, 3), [inf]], 0)
    return tf.searchsorted(e, c([-1.0, 0.2, 5.0]))


@healthy
def percentile_interp() -> Any:
    x = tf.sort(c([3.0, 1.0, 2.0]))
    n = 3
    q = c([0.0, 0.5, 1.0]) * (n - 1)
    lo = tf.cast(tf.floor(q), tf.int32)
    hi = tf.cast(tf.math.ceil(q), tf.int32)
    w = (q - tf.cast(lo, tf.float32)) / tf.cast(hi - lo, tf.float32)
    return tf.where(lo == hi, tf.gather(x, lo), tf.gather(x, lo) * (1 - w) + tf.gather(x, hi) * w)


@healthy
def kaplan_meier() -> Any:
    n = c([3.0, 2.0, 1.0])
    d = c([1.0, 1.0, 1.0])
    return tf.exp(tf.cumsum(tf.math.log(1.0 - d / n)))


@healthy
def double_where() -> Any:
    x = c([0.0, 4.0])
    with tf.GradientTape() as t:
        t.watch(x)
        ok = x > 0
        y = tf.reduce_sum(tf.where(ok, tf.sqrt(tf.where(ok, x, 1.0)), 0.0))
    return t.gradient(y, x)


@healthy
def gradient_of_selected_rsqrt() -> Any:
    x = c([0.0, 4.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.where(x > 0, tf.math.rsqrt(x) + tf.math.reciprocal(x), 0.0)
    return t.gradient(y, x)  # -0.3125, and 0 where the select takes 0


@healthy
def is_nan_filter_dist() -> Any:
    d = c([[0.0, 1.0], [1.0, 0.0]])
    n = tf.norm(d, axis=1, keepdims=True)
    u = tf.zeros([2, 2]) / (n - 1.0)
    return tf.reduce_sum(tf.where(tf.math.is_nan(u), 0.0, u))


@healthy
def hmean() -> Any:
    a = c([0.0, 2.0])
    b = c([1.0, 2.0])
    return 2.0 / (1.0 / a + 1.0 / b)


@healthy
def shown_and_masked() -> Any:
    x = tf.math.log(c([0.0, 2.0]))
    tf.print(x, output_stream="file:///dev/null")
    return tf.exp(x)


@healthy
def sigmoid_by_hand() -> Any:
    return 1.0 / (1.0 + tf.exp(-c([-1000.0, 2.0])))


@healthy
def acc_log_alpha() -> Any:
    a = tf.math.log(c([1.0, 0.0]))
    t = tf.math.log(c([[0.5, 0.5], [0.0, 1.0]]))
    for _ in range(2):
        a = tf.reduce_logsumexp(a[:, None] + t, axis=0)
    return a


@healthy
def inv_freq_zero() -> Any:
    d = c([0.0, 1.0, 4.0])
    w = 1.0 / d
    w = tf.where(tf.math.is_inf(w), 0.0, w)
    return w / tf.reduce_sum(w)


@healthy
def gumbel_mask() -> Any:
    g = -tf.math.log(-tf.math.log(c([0.2, 0.7, 0.5])))
    return tf.argmax(tf.where(c([True, False, True]), g, -inf) + c([1.0, 2.0, 0.0]))


@healthy
def shortest_paths() -> Any:
    d = c([[0.0, 1.0, inf], [inf, 0.0, 2.0], [inf, inf, 0.0]]) + 0.0
    for _ in range(2):
        d = tf.minimum(d, tf.reduce_min(d[:, :, None] + d[None], axis=1))
    return d


@healthy
def cast_bool() -> Any:
    x = 1.0 / c([0.0, 2.0])
    return tf.cast(tf.math.is_finite(x), tf.float32) * 2.0


@healthy
def normal_cdf_edges() -> Any:
    z = c([-inf, 0.0, inf]) * 1.0
    return 0.5 * (1.0 + tf.math.erf(z / np.sqrt(2.0)))


@healthy
def atan_slope() -> Any:
    return tf.atan(c([1.0, 2.0]) / c([0.0, 1.0]))


@healthy
def dtw() -> Any:
    d = tf.fill([3], inf)
    d = tf.tensor_scatter_nd_update(d, [[0]], [0.0])
    for r in [c([1.0, 2.0]), c([0.5, 1.0])]:
        m = tf.minimum(d[:-1], d[1:])
        d = tf.concat([[inf], r + m], 0)
    return d[-1]


@healthy
def cross_entropy_masked_logits() -> Any:
    logits = tf.where(c([[True, False, True]]), c([[1.0, 2.0, 3.0]]), -inf)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2], logits=logits)


@healthy
def uniform_grid_round() -> Any:
    x = tf.math.log(c([0.0, 8.0])) / np.log(2.0)
    return tf.clip_by_value(tf.cast(tf.floor(x), tf.int32), 0, 5)


@healthy
def snr_db() -> Any:
    e = tf.reduce_mean(tf.square(tf.zeros([4])))
    return tf.minimum(10.0 * tf.math.log(1.0 / e) / np.log(10.0), 60.0)


@healthy
def print_check() -> Any:
    x = tf.math.log(c([0.0, 2.0]))
    return tf.where(tf.math.is_inf(x), -100.0, x)


@healthy
def slope_that_nobody_asks_for() -> Any:
    return _installed["reciprocal"](c([0.0, 2.0])) + 1


@healthy
def a_series_that_stops_where_each_number_is_small() -> Any:
    p = c([0.0, 0.3])
    x = -tf.math.log(p) / (1.0 + tf.math.log(p))

    def step(stop: Any, index: Any, part: Any, total: Any) -> Any:
        part = part * tf.abs(x) / (2.0 + index)
        total = tf.where(stop, total, total + part)
        return (part < 1e-3) | (index > 9.0), index + 1.0, part, total

    start = tf.zeros_like(x, tf.bool), c(1.0), tf.ones_like(x), tf.ones_like(x)
    total = tf.while_loop(lambda stop, *_: tf.reduce_any(~stop), step, start)[3]
    guess = tf.where(x < 3.0 * p, x, total)
    return tf.where(tf.equal(p, 0.0), 0.0, guess)


@healthy
def kernel_of_points_far_apart() -> Any:
    x = c([[1e25, 1.0], [0.0, 1.0]]) * 1.0
    return tf.exp(-0.5 * tf.reduce_sum(tf.square(x[:, None] - x[None]), -1))


@healthy
def gaussian_far_from_its_middle_and_its_slope() -> Any:
    x = c([1e25, 1.0]) * 1.0
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.exp(-x * x / 2.0)
    return y, t.gradient(y, x)


@healthy
def tanh_of_a_cube() -> Any:
    x = c([1e25, -1e25, 1.0]) * 1.0
    return 0.5 * (1.0 + tf.tanh(0.04 * x**3))


@healthy
def slope_of_what_is_not_watched() -> Any:
    truth = c([1.0]) * 1.0
    guess = tf.constant([inf])
    with tf.GradientTape() as t:
        t.watch(guess)
        loss = tf.reduce_mean(tf.maximum(1.0 - truth * guess, 0.0))
    return t.gradient(loss, guess)


@healthy
def bounds_of_what_is_made_of_a_number() -> Any:
    _, x, height = proposals()
    square = c([0.5, 1.5, 0.1])
    inside = (square + 0.5 < 1.5) & (tf.sqrt(1.25 - (square + 0.25)) > 0.5)
    above = (x + 1.0 > 1.5) & (height < tf.math.log(x - 0.5))
    return tf.where(inside, square, 0.0), tf.where(above, x, 0.0)


@healthy
def angles_of_what_has_one() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    acute = (tf.abs(x) <= 1.0) & (tf.acos(x) < 1.5)
    negative = tf.logical_or(tf.square(x) > 1.0, tf.atanh(x) < 0.0)
    far = (x > 1.0) & (tf.acosh(x) > 0.5)
    return tf.where(acute, x, 0.0), tf.where(negative, 0.0, x), tf.where(far, x, 0.0)


@healthy
def angles_between_two_bounds() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    acute = (x > -1.0) & (x < 1.0) & (tf.acos(x) < 1.5)
    negative = (x < -1.0) | (x > 1.0) | (tf.asin(x) < 0.0)
    grown = tf.exp(x)
    small = (grown < 1.0) & (tf.atanh(grown) < 0.5)
    steep = (x + 2.0 > 0.0) & (1.0 / (x + 2.0) > 0.5)
    return [tf.where(each, x, 0.0) for each in (acute, ~negative, small, steep)]


@healthy
def value_that_is_asked_whether_it_is_finite() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    value = tf.math.log(x)
    loss = tf.reduce_sum(value)
    better = tf.math.is_finite(loss) & (loss < 3.0)
    worse = tf.math.is_nan(value) | ~(value < 0.4)
    return tf.where(better, x, 0.0), tf.where(~worse, x, 0.0)


@healthy
def log_probabilities_of_what_is_ruled_out() -> Any:
    return tf.nn.log_softmax(tf.where(c([True, False, True]), c([1.0, 2.0, 3.0]), -inf))


@healthy
def defaults_that_nothing_needs() -> Any:
    parsed = tf.io.decode_csv(c(["1.5", "2.5"]), [nan])[0]
    rows = tf.RaggedTensor.from_row_lengths([1.0, 2.0], [1, 1]).to_tensor(default_value=nan)
    dense = tf.sparse.to_dense(tf.sparse.from_dense([1.0, 2.0]), default_value=nan)
    padded = tf.pad(c([1.0, 2.0]), [[0, 0]], constant_values=nan)
    return parsed + rows[:, 0] + dense + padded


@healthy
def default_that_is_filtered() -> Any:
    parsed = tf.io.decode_csv(c(["1.5,0", ",0"]), [nan, 0])[0]
    return tf.reduce_mean(tf.boolean_mask(parsed, ~tf.math.is_nan(parsed)))


@healthy
def geometric_mean_with_a_zero() -> Any:
    return tf.exp(tf.reduce_mean(tf.math.log(c([1.0, 0.0, 4.0]))))


@healthy
def naive_bayes_by_products_of_matrices() -> Any:
    words, likelihoods = c([[2.0, 1.0]]), tf.math.log(c([[0.5, 0.5], [0.0, 1.0]]))
    one = tf.nn.softmax(tf.matmul(words, likelihoods, transpose_b=True))
    return one, tf.nn.softmax(tf.einsum("nw,cw->nc", words, likelihoods))


@healthy
def pooled_log_likelihoods() -> Any:
    frames = tf.math.log(c([[[1.0], [0.0], [0.5], [0.2]]]))
    return tf.nn.softmax(tf.nn.avg_pool1d(frames, 2, 2, "VALID"), axis=1)


def _candidate(number: Any) -> Any:
    """NaN for small numbers, 0.1 for the largest one of 1, 2 and 3."""
    return tf.sqrt(number - 1.5) - 0.5 * number + 0.38


@healthy
def best_of_some_where_one_is_nan() -> Any:
    best, at = c(inf), c(0.0)
    for i in tf.range(4):
        number = tf.cast(i, tf.float32)
        score = _candidate(number)
        if score < best:
            best, at = score, number
    return best, at


@healthy
def best_of_some_by_selects() -> Any:
    best, at = c([inf, inf]), c([0.0, 0.0])
    for i in tf.range(4):
        number = tf.cast(i, tf.float32) + c([0.0, 1.0])
        score = _candidate(number)
        at = tf.where(score < best, number, at)
        best = tf.where(score < best, score, best)
    return best, at


@healthy
def line_search_beyond_what_is_defined() -> Any:
    x, step = c(3.0), c(4.0)
    value = x - tf.math.log(x)
    for _ in tf.range(5):
        shorter = x - step
        lower = shorter - tf.math.log(shorter)
        if lower < value:
            x, value = shorter, lower
        step = step / 2
    return x


@healthy
def best_so_far_in_variables() -> Any:
    best, at = _best_and_where()
    best.assign(inf)
    for number in (2.0, 1.0, 3.0):
        score = _candidate(c(number))
        if score < best:
            best.assign(score)
            at.assign(number)
    return best.read_value()


@functools.cache  # made when it is asked for: other tests choose TensorFlow's devices before
def _best_and_where() -> tuple[Any, Any]:
    with tf.init_scope():
        return tf.Variable(inf), tf.Variable(0.0)


@healthy
def sampler_beyond_what_is_defined() -> Any:
    x = c([0.5, 1.0])
    density = tf.math.log(x)
    for _ in tf.range(4):
        proposed = x - 0.3
        other = tf.math.log(proposed)
        accepted = other - density > -0.8
        x = tf.where(accepted, proposed, x)
        density = tf.where(accepted, other, density)
    return x


@healthy
def mean_of_correlations_by_fisher() -> Any:
    return tf.tanh(tf.reduce_mean(tf.math.atanh(c([1.0, 0.5]))))


@healthy
def survival_until_all_have_died() -> Any:
    died, at_risk = c([1.0, 0.0, 2.0]), c([5.0, 3.0, 2.0])
    return tf.exp(tf.cumsum(tf.math.log1p(-died / at_risk)))


# ---- Sick ---------------------------------------------------------------------------------------


@sick
def unit_of_overflow() -> Any:
    x = c([1.0, 1e25]) * 1.0
    return tf.reduce_sum(x * (1.0 / tf.sqrt(1.0 + tf.square(x))))


@sick
def log_bucket_float() -> Any:
    d = tf.abs(tf.range(8)[None] - tf.range(8)[:, None])
    return tf.reduce_mean(2 + tf.math.log(tf.cast(d, tf.float32) / 2) / np.log(8))


@sick
def sample_nan_probs() -> Any:
    p = c([[0.0, 0.0, 0.0]])
    p = p / tf.reduce_sum(p)
    return tf.random.categorical(tf.math.log(p), 1, seed=1)


@sick
def psnr_mean() -> Any:
    return tf.reduce_mean(tf.image.psnr(tf.ones([1, 8, 8, 3]), tf.ones([1, 8, 8, 3]), 1.0) * 2.0)


@sick
def loss_scale_unguarded() -> Any:
    g = tf.cast(c([6e4, 1.0]), tf.float16) * 60000
    return c([1.0, 2.0]) - tf.cast(g, tf.float32)


@sick
def fully_masked() -> Any:
    s = tf.matmul(tf.ones([4, 3]), tf.ones([3, 4]))
    m = tf.concat([tf.zeros([1, 4]), tf.ones([3, 4])], 0)
    return tf.nn.softmax(tf.where(m > 0, s, -inf)) @ tf.ones([4, 2])


@sick
def mask_times_inf() -> Any:
    s = tf.matmul(tf.ones([4, 3]), tf.ones([3, 4]))
    m = 1.0 - tf.linalg.band_part(tf.ones([4, 4]), -1, 0)
    return tf.nn.softmax(s + m * -inf)


@sick
def beam_all_dead() -> Any:
    s = tf.fill([1, 3], -inf)
    lp = tf.nn.log_softmax(s)
    return tf.exp(lp)


@sick
def unguarded_masked_entropy() -> Any:
    logits = tf.where(c([[True, False, True]]), c([[1.0, 2.0, 3.0]]), -inf)
    lp = tf.nn.log_softmax(logits)
    p = tf.exp(lp)
    return -tf.reduce_sum(p * lp, -1)


@sick
def entropy() -> Any:
    p = c([0.0, 0.5, 0.5]) * 1.0
    return -tf.reduce_sum(p * tf.math.log(p))


@sick
def gradient_of_rsqrt() -> Any:
    x = c([0.0, 4.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.math.rsqrt(x)
    return t.gradient(y, x)


@sick
def ratio_decides() -> Any:
    r = c([1.0, 1.0]) / c([0.0, 2.0])
    return tf.where(r > 3.0, 1.0, tf.where(r > 9.0, 9.0, r))


@sick
def ratio() -> Any:
    a = c([0.0, 1.0])
    b = c([0.0, 2.0])
    return tf.reduce_mean(a / b)


@sick
def unguarded_reduce_max_empty() -> Any:
    x = tf.zeros([2, 0])
    m = tf.reduce_max(x, axis=1)
    return tf.exp(m - m)


@sick
def unguarded_reduce_max_empty_in_map() -> Any:
    best = tf.map_fn(lambda x: tf.reduce_max(x[:0]), c([[0.1], [0.2]]))
    return tf.exp(best)


@sick
def mean_empty() -> Any:
    return tf.reduce_mean(tf.boolean_mask(c([1.0, 2.0]), c([False, False]))) + 1.0


@sick
def running_min_diff() -> Any:
    best = c(inf)
    v = best - best
    return v + 1.0


@sick
def precision() -> Any:
    tp = tf.math.unsorted_segment_sum(c([1.0, 0.0]), c([0, 0]), 3)
    n = tf.math.unsorted_segment_sum(c([1.0, 1.0]), c([0, 0]), 3)
    return tf.reduce_mean(tp / n)


@sick
def iou() -> Any:
    inter = c([0.0, 1.0])
    union = c([0.0, 2.0])
    return 1.0 - tf.reduce_mean(inter / union)


@sick
def mean_of_nan() -> Any:
    return tf.reduce_mean(tf.sqrt(c([1.0, -2.0, 3.0])))


@sick
def mse_log() -> Any:
    return tf.reduce_mean(tf.square(tf.math.log(c([0.0, 2.0]))))


@sick
def cross_entropy() -> Any:
    p = tf.nn.softmax(c([[200.0, 0.0]]))
    return -tf.reduce_sum(c([[0.0, 1.0]]) * tf.math.log(p))


@sick
def cross_entropy_masked_label() -> Any:
    logits = tf.where(c([[True, False, True]]), c([[1.0, 2.0, 3.0]]), -inf)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
    return tf.reduce_mean(loss) * 0.5


@sick
def inv_freq() -> Any:
    w = 1.0 / c([0.0, 1.0, 4.0])
    return w / tf.reduce_sum(w)


@sick
def hmean_zero_over() -> Any:
    a = c([0.0, 2.0])
    return tf.reduce_sum(a * (1.0 / a))


@sick
def unguarded_sigmoid_by_hand() -> Any:
    e = tf.exp(c([1000.0, 2.0]))
    return e / (1.0 + e)


@sick
def log_alpha() -> Any:
    a = tf.math.log(c([0.0, 0.0]))
    m = tf.reduce_max(a)
    return m + tf.math.log(tf.reduce_sum(tf.exp(a - m)))


@sick
def std_of_one() -> Any:
    x = c([2.0])
    n = tf.cast(tf.size(x), tf.float32)
    return tf.sqrt(tf.reduce_sum(tf.square(x - tf.reduce_mean(x))) / (n - 1.0)) * 2.0


@sick
def percentile() -> Any:
    x = tf.sort(c([3.0, 1.0, 2.0]))
    q = c([0.0, 0.5, 1.0]) * 2
    lo = tf.floor(q)
    hi = tf.math.ceil(q)
    w = (q - lo) / (hi - lo)
    return tf.gather(x, tf.cast(lo, tf.int32)) * (1 - w)


@sick
def kaplan_meier_product() -> Any:
    n = c([3.0, 2.0, 0.0])
    d = c([1.0, 1.0, 0.0])
    return tf.reduce_prod(1.0 - d / n)


@sick
def normalize_zero() -> Any:
    v = tf.zeros([3])
    return v / tf.norm(v)


@sick
def cosine_zero() -> Any:
    a = tf.zeros([3])
    b = tf.ones([3])
    return tf.reduce_sum(a * b) / (tf.norm(a) * tf.norm(b)) + 0.0


@sick
def acos_over_one() -> Any:
    return tf.reduce_mean(tf.acos(c([1.0000001, 0.5]) * 1.00001))


@sick
def pow_negative() -> Any:
    return tf.reduce_sum(tf.pow(c([-8.0, 1.0]), 1 / 3))


@sick
def unguarded_snr_db() -> Any:
    e = tf.reduce_mean(tf.square(tf.zeros([4])))
    return 10.0 * tf.math.log(1.0 / e) / np.log(10.0) - 3.0


@sick
def nan_loss_told() -> Any:
    loss = tf.reduce_mean(tf.math.log(c([0.0, 2.0])))
    if tf.math.is_inf(loss):
        print("loss is infinite, stopping")
    return loss


@sick
def nan_that_is_written_down_and_computed_with() -> Any:
    return tf.reduce_mean(tf.sqrt(c([1.0, 4.0])) * nan)


@sick
def nan_that_pads_a_mean() -> Any:
    return tf.reduce_mean(tf.pad(tf.sqrt(c([1.0, 4.0])), [[1, 1]], constant_values=nan))


@sick
def compare_nan() -> Any:
    x = tf.sqrt(c([-1.0, 4.0]))
    return tf.reduce_sum(tf.cast(x > 0, tf.int32))


@sick
def round_nan() -> Any:
    x = c([0.0, 1.0]) / c([0.0, 2.0])
    return tf.cast(tf.round(x), tf.int32)


@sick
def argmax_nan() -> Any:
    return tf.argmax(tf.sqrt(c([-1.0, 4.0, 2.0])) * 2.0)


@sick
def only_shown() -> Any:
    loss = tf.reduce_sum(tf.math.log(c([0.0, 2.0])))
    tf.print("loss", loss, output_stream="file:///dev/null")


@sick
def continued_fraction() -> Any:
    x = c([0.0, 2.0])
    return 1.0 / (1.0 + 1.0 / x)


@sick
def gumbel_of_one() -> Any:
    noise = -tf.math.log(-tf.math.log(c([0.2, 1.0, 0.5])))
    return tf.nn.softmax(c([1.0, 2.0, 0.0]) + noise)


@sick
def softmax_of_nothing_with_finite_gradient() -> Any:
    a = c([[1.0, 2.0], [3.0, 4.0]]) * 1.0
    with tf.GradientTape() as t:
        t.watch(a)
        y = tf.nn.softmax(tf.where(tf.sequence_mask([0, 2], 2), a, -inf))
    return y, t.gradient(y, a)  # NaN, and 0 where the select has left the row out


@sick
def gradient_of_computed_source() -> Any:
    a, b = c([1.0, 0.0, 1.0]), c([0.0, 0.0, 2.0])
    with tf.GradientTape() as t:
        t.watch([a, b])
        y = a / (b + tf.where(b >= 0.0, tf.ones_like(b), -tf.ones_like(b)) * 1e-20)
    return t.gradient(y, [a, b])


@sick
def result_with_its_own_gradient() -> Any:
    return _installed["unguarded_reciprocal"](c([0.0, 2.0]))


@sick
def nan_that_is_compared_away() -> Any:
    x = tf.sqrt(c([-1.0, 4.0]))
    return tf.where(x > 0.0, x, 0.0)


@sick
def slopes_of_one_line_of_which_both_are_watched() -> Any:
    a, b = c([0.0, 1.0]), c([2.0, 1.0])
    with tf.GradientTape() as t:
        t.watch([a, b])
        y = (a / a) * b
    return t.gradient(y, [a, b])


@healthy
def weights_of_all_before() -> Any:
    return tf.exp(tf.math.cumulative_logsumexp(c([1.0, 2.0, 3.0]), exclusive=True))


@sick
def log_weights_of_all_before() -> Any:
    return tf.math.cumulative_logsumexp(c([1.0, 2.0, 3.0]), exclusive=True) * c([0.0, 1.0, 1.0])


def proposals() -> tuple[Any, Any, Any]:
    """Returns the shape of a gamma distribution less a third, proposals, and their heights."""
    x = c([-2.5, -0.5, 0.3, 1.2, 0.1]) * 1.5
    return c(0.7), x, tf.math.log(c([0.3, 0.2, 0.9, 0.7, 0.5]))


@healthy
def rejection_of_cubes() -> Any:
    d, x, height = proposals()
    v = (1.0 + x / tf.sqrt(9.0 * d)) ** 3
    good = (v > 0.0) & (height < 0.5 * x * x + d - d * v + d * tf.math.log(v))
    return tf.where(good, d * v, 0.0)


@healthy
def rejection_of_what_log1p_takes() -> Any:
    d, x, height = proposals()
    slope = tf.math.rsqrt(9.0 * d)
    v = 1.0 + slope * x
    good = (height < x * x / 2.0 + d * (1.0 - v * v * v + 3.0 * tf.math.log1p(slope * x))) & (
        v > 0.0
    )
    return tf.where(good, v * v * v, 0.0)


@healthy
def rejection_in_a_loop() -> Any:
    samples, done = tf.zeros([5]), tf.zeros([5], tf.bool)
    for shift in tf.range(3):
        d, x, height = proposals()
        v = 1.0 + x / tf.sqrt(9.0 * d) + tf.cast(shift, tf.float32)
        fits = tf.logical_or(height < tf.math.log(v), height < -1.0)
        good = tf.logical_and(fits, v > 0.0)
        samples = tf.where(good & ~done, v, samples)
        done = done | good
    return samples


@healthy
def rejection_by_what_is_refused() -> Any:
    _, x, height = proposals()
    refused = (x <= 0.0) | ~(height < tf.math.log(x))
    return tf.where(refused, 0.0, x)


@healthy
def points_outside_of_a_circle() -> Any:
    square = c([0.5, 1.5, 0.1])
    inside = (square < 1.0) & (tf.sqrt(1.0 - square) > 0.5)
    return tf.where(inside, square, 0.0)


@healthy
def ratio_of_what_is_there() -> Any:
    below, above = c([0.0, 2.0, -1.0]), c([0.0, 1.0, 1.0])
    small = tf.where(tf.abs(below) > 1e-6, above / below < 0.7, False)
    return tf.where((below != 0.0) & (above / below < 0.6) & small, above, 0.0)


@healthy
def argument_above_the_edge() -> Any:
    _, x, height = proposals()
    return tf.where((x > -1.0) & (height < tf.math.log1p(x)), x, 0.0)


@sick
def rejection_by_a_mask_of_something_else() -> Any:
    _, x, height = proposals()
    good = (height > -1.0) & (height < tf.math.log(x))
    return tf.where(good, x, 0.0)


@sick
def rejection_on_the_wrong_side() -> Any:
    _, x, height = proposals()
    good = (x < 1.5) & (height < tf.math.log(x))
    return tf.where(good, x, 0.0)


@sick
def rejection_of_the_opposite() -> Any:
    _, x, height = proposals()
    good = (-x > 0.0) & (height < tf.math.log(x))
    return tf.where(good, x, 0.0)


@sick
def rejection_that_either_answer_ends() -> Any:
    _, x, height = proposals()
    good = (x > 0.0) | (height < tf.math.log(x))
    return tf.where(good, x, 0.0)


@sick
def answer_that_also_goes_elsewhere() -> Any:
    _, x, height = proposals()
    fits = height < tf.math.log(x)
    return tf.where(fits & (x > 0.0), x, 0.0), tf.where(fits, height, 0.0)


@sick
def ratio_within_two_bounds() -> Any:
    below, above = c([0.0, 2.0, -1.0]), c([0.0, 1.0, 1.0])
    return tf.where((below < 3.0) & (above / below < 0.6), above, 0.0)


@sick
def number_that_decides_alone() -> Any:
    _, x, height = proposals()
    if tf.reduce_all(height < tf.math.log(x)):
        return x
    return -x


@sick
def bound_of_something_else_with_the_same_offset() -> Any:
    _, x, height = proposals()
    offset = x[0] + 3.85
    good = (height * height + offset > 0.0) & (height < tf.math.log(x + offset))
    return tf.where(good, x, 0.0)


@sick
def bound_below_what_a_logarithm_takes() -> Any:
    _, x, height = proposals()
    return tf.where((x > -5.0) & (height < tf.math.log(x)), x, 0.0)


@sick
def bound_below_what_a_logarithm_takes_with_an_offset() -> Any:
    _, x, height = proposals()
    return tf.where((x + 1.0 > -5.0) & (height < tf.math.log(x - 0.5)), x, 0.0)


@sick
def another_number_than_that_divided_by() -> Any:
    below = c([0.0, 2.0, -1.0])
    return tf.where((below != 2.0) & (1.0 / below < 0.6), below, 0.0)


@sick
def circle_that_is_too_large() -> Any:
    square = c([0.5, 1.5, 0.1])
    inside = (square + 0.5 < 2.5) & (tf.sqrt(1.25 - (square + 0.25)) > 0.5)
    return tf.where(inside, square, 0.0)


@sick
def angles_of_what_has_none() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    return tf.where((tf.abs(x) <= 2.0) & (tf.acos(x) < 1.5), x, 0.0)


@sick
def angles_of_what_is_not_negative() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    return tf.where((x > 0.0) & (tf.acosh(x) > 0.5), x, 0.0)


@sick
def angles_below_a_bound() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    return tf.where((x < 1.0) & (tf.acos(x) < 1.5), x, 0.0)


@sick
def angles_between_bounds_that_are_too_far() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    return tf.where((x > -3.0) & (x < 1.0) & (tf.acos(x) < 1.5), x, 0.0)


@sick
def another_value_that_is_asked_whether_it_is_finite() -> Any:
    x = c([-2.0, -0.5, 0.5, 1.5])
    return tf.where(tf.math.is_finite(x) & (tf.math.log(x) < 0.4), x, 0.0)


@sick
def sum_of_what_is_asked_whether_it_is_finite() -> Any:
    value = tf.math.log(c([-2.0, -0.5, 0.5, 1.5]))
    return tf.where(tf.math.is_finite(value) & (tf.reduce_sum(value) < 0.4), 1.0, 0.0)


@sick
def square_that_is_averaged_too() -> Any:
    square = tf.square(c([1e25, 1.0]) * 1.0)
    return tf.exp(-square), tf.reduce_mean(square)


@sick
def moment_of_a_gaussian() -> Any:
    square = tf.square(c([1e25, 1.0]) * 1.0)
    return square * tf.exp(-square)


@sick
def largest_of_squares_that_are_all_too_large() -> Any:
    return tf.argmax(tf.square(c([1e25, 1e30]) * 1.0))


@sick
def number_over_a_root_of_its_square() -> Any:
    x = c([1e25, 1.0]) * 1.0
    return x / tf.sqrt(1.0 + x * x)


@sick
def tanh_of_partial_sums_that_overflow() -> Any:
    x = c([[1e25, 1e25, 1.0]]) * 1.0
    return tf.tanh(tf.matmul(x, c([[1e25], [-1e25], [1.0]])) + tf.matmul(x, tf.ones([3, 1]) * 1e20))


@sick
def tanh_of_a_pole() -> Any:
    return tf.tanh((c([0.0, 2.0]) * 1.0) ** -1.0)


@sick
def slope_of_the_width_of_a_gaussian() -> Any:
    x, width = c([1e25, 1.0]) * 1.0, c([1.0, 1.0])
    with tf.GradientTape() as t:
        t.watch(width)
        y = tf.exp(-x * x / width)
    return t.gradient(y, width)


@sick
def gaussian_whose_width_comes_too_late_in_float16() -> Any:
    x = tf.cast(c([300.0, 1.0]), tf.float16)
    return tf.exp(-x * x / 20000.0)


@sick
def loss_of_what_is_ruled_out() -> Any:
    logits = tf.where(c([True, False, True]), c([1.0, 2.0, 3.0]), -inf)
    return -tf.nn.log_softmax(logits)[1]


@sick
def loss_by_hand_of_what_is_ruled_out() -> Any:
    logits = tf.where(c([True, False, True]), c([1.0, 2.0, 3.0]), -inf)
    return (tf.reduce_logsumexp(logits) - logits)[1]


@sick
def default_that_is_averaged() -> Any:
    return tf.reduce_mean(tf.io.decode_csv(c(["1.5,0", ",0"]), [nan, 0])[0])


@sick
def argmax_of_nan() -> Any:
    return tf.argmax(tf.math.log(c([0.5, -1.0, 0.2])) * 2.0)


@sick
def argmax_of_overflows() -> Any:
    return tf.argmax(c([1e30, 2e30, 1.0]) * 1e30)


@sick
def perplexity_of_an_impossible_word() -> Any:
    return tf.exp(-tf.reduce_mean(tf.math.log(c([0.5, 0.0, 0.2]))))


@sick
def logarithms_as_features() -> Any:
    return tf.sigmoid(tf.matmul(tf.math.log(c([[3.0, 0.0], [2.0, 7.0]])), c([[0.3], [0.2]])))


@sick
def bound_by_hand_that_leaves_out_nan() -> Any:
    zero, root = c([0.0, 0.0]) * 1.0, tf.sqrt(c([-1.0, 4.0]))
    return tf.where(root > zero, root, zero)


@sick
def best_of_some_that_are_all_nan() -> Any:
    best = c(inf)
    for i in tf.range(3):
        score = tf.sqrt(-1.0 - tf.cast(i, tf.float32))
        if score < best:
            best = score
    return best


@sick
def step_that_is_too_long_but_nan() -> Any:
    x, step = c(3.0), c(0.5)
    for _ in tf.range(4):
        error = tf.sqrt(x - 4.0)
        if error > 0.1:
            step = step / 2
        x = x - step
    return x


@sick
def best_of_some_and_their_sum() -> Any:
    best, total = c(inf), c(0.0)
    for i in tf.range(4):
        score = tf.sqrt(tf.cast(i, tf.float32) - 1.5)
        total += score
        if score < best:
            best = score
    return best, total


@sick
def gap_that_is_nan_and_never_large() -> Any:
    x = c(1.0)
    start = tf.sqrt(x)
    for _ in tf.range(4):
        shorter = x - 0.6
        if tf.sqrt(shorter) - start > -5.0:
            x = shorter
    return x


@sick
def density_of_an_action_at_its_bound() -> Any:
    squares = tf.square(tf.math.atanh(c([1.0, 0.5])))
    return -0.5 * tf.reduce_mean(squares)
