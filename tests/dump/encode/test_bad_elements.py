"""Where the first bad elements of a tensor are, from the program to the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


@tf.function
def transposed(x: Any) -> Any:
    product = tf.raw_ops.MatMul(a=x, b=tf.constant([[1.0, 2.0], [3.0, 4.0]]), name="product")
    return tf.transpose(product, name="transposed")


def bad_batch() -> Any:
    """Returns a batch with more NaN than are told, behind infinite elements that are not told."""
    batch = np.ones((1 << 16, 2), np.float32)
    batch[40_000:40_009, 1], batch[50_000:50_009, 0] = -np.inf, np.nan
    return batch


def found_in(array: Any) -> tuple[tuple[int, ...], ...]:
    nan = np.isnan(array)
    return tuple(map(tuple, np.argwhere(nan if nan.any() else np.isinf(array))[:8].tolist()))


def test_the_first_bad_elements_are_told(tmp_path: Path) -> None:
    batch = bad_batch()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        product = transposed(tf.constant(batch)).numpy().T
        scalar = tf.math.log(tf.constant(0.0)).numpy()
        total = tf.constant(np.array([1.0, complex(0, np.nan)])) + 1.0
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path))
    told: dict[str, Any] = {trace.op_name: trace.summary for trace in run.graph_executions}
    executed: dict[str, Any] = {made.op_type: made.outputs[0] for made in run.executions}
    assert told["product"].shape == product.shape
    assert told["product"].bad_elements == found_in(product)
    assert told["x"].bad_elements == found_in(batch)
    # Of a copy that is only known to have the same elements it is not told where they are.
    assert (told["transposed"].shape, told["transposed"].bad_elements) == ((2, 1 << 16), ())
    assert executed["Log"].bad_elements == found_in(scalar) == ((),)
    assert executed["AddV2"].bad_elements == found_in(total) == ((1,),)
