"""What is told to do where an op is inside of a call of a library, which its user cannot change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INF = float("inf")


def sum_of_a_masked_row() -> Any:
    scores = tf.where([[False, False], [True, True]], tf.ones([2, 2]) * 2.0, -INF)
    return tf.reduce_mean(tf.reduce_logsumexp(scores, axis=-1))


def mean_of_a_masked_row() -> Any:
    mask = tf.constant([[True, True, False], [False, False, False]])
    return tf.keras.layers.GlobalAveragePooling1D()(tf.ones([2, 3, 4]) * 2.0, mask=mask)


def own_sum() -> Any:
    return tf.math.log(tf.reduce_sum(tf.ones([2]) * 0.0))


def own_ratio_of_ratios() -> Any:
    x = tf.ones([2]) * 2.0
    return tf.divide(tf.divide(x, 3.0), x * 0.0)


def generated_ratio() -> Any:
    made: dict[str, Any] = {"sin": tf.sin}
    exec(compile("def f(x):\n    return sin(x) / x\n", "<lambdifygenerated-1>", "exec"), made)
    return made["f"](tf.zeros([2]) * 1.0)


@pytest.mark.parametrize(
    ("program", "call"),
    [
        (sum_of_a_masked_row, "Log is inside of reduce_logsumexp (tensorflow): change what"),
        (mean_of_a_masked_row, "RealDiv is inside of GlobalAveragePooling1D: change what"),
        (generated_ratio, "RealDiv is inside of f, which is generated (<lambdifygenerated-1>:2)"),
        (own_sum, ""),
        (own_ratio_of_ratios, ""),
    ],
)
@pytest.mark.parametrize("in_graph", [False, True])
def test_what_is_given_to_a_library_is_to_be_changed_not_what_it_computes(
    tmp_path: Path, program: Callable[[], Any], call: str, in_graph: bool
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        (tf.function(program) if in_graph else program)()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (root,) = diagnose(open_run(tmp_path)).roots
    assert root.fix.startswith(call)
    assert ("is inside of" in root.fix) == bool(call)
