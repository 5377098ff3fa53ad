"""The ops that look at one tensor, and the If that gets the tensors themselves when one is bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework import func_graph as func_graph_module
from tensorflow.python.ops import (
    control_flow_util_v2,
    gen_debug_ops,
    gen_functional_ops,
    gen_script_ops,
)

from tfdbg_tui.dump import summaries, tensorflow_internals
from tfdbg_tui.dump.graphs import OWN_SCOPE
from tfdbg_tui.dump.groups import DETAIL_WIDTH
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence


def summary(tensor: Any, mode: TensorDebugMode) -> Any:
    """Return what TensorFlow's own summary op finds in a tensor in a mode."""
    with _beside(tensor):
        return gen_debug_ops.debug_numeric_summary_v2(
            tensor, tensor_id=0, tensor_debug_mode=int(mode), output_dtype=tf.float64
        )


def _beside(tensor: Any) -> Any:
    return tf.device(tensor.device or None)


def curt_summary(tensor: Any) -> Any:
    """Return ``[0, has NaN or infinity]`` of any floating or complex tensor."""
    dtype = tensor.dtype.base_dtype
    with _beside(tensor):
        if dtype.is_complex:
            tensor = tf.raw_ops.Bitcast(input=tensor, type=dtype.real_dtype)
        elif dtype.as_datatype_enum not in summaries.KERNEL_FLOATS or (
            # There is no bfloat16 kernel of the summary op for GPUs.
            dtype == tf.bfloat16 and tensorflow_internals.has_accelerator()
        ):
            tensor = tf.raw_ops.Cast(x=tensor, DstT=tf.float32)
    return summary(tensor, TensorDebugMode.CURT_HEALTH)


def for_sign(tensor: Any) -> Any:
    """Return a float32 or float64 tensor with the signs of any floating tensor."""
    dtype = tensor.dtype.base_dtype
    with _beside(tensor):
        if dtype.is_complex:
            return tf.raw_ops.ComplexAbs(x=tensor, Tout=dtype.real_dtype)
        if dtype in (tf.float32, tf.float64):
            return tensor
        return tf.raw_ops.Cast(x=tensor, DstT=tf.float32)


def details_if_bad(condition: Any, inputs: list[Any], token: str) -> Any:
    """Return the PyFunc of `inputs` where the condition holds, else an empty array."""

    def then(*arguments: Any) -> Any:
        result = gen_script_ops.py_func(list(arguments), token, Tout=[tf.float64])[0]
        result.set_shape([None, DETAIL_WIDTH])
        return result

    def otherwise(*_: Any) -> Any:
        return tf.zeros([0, DETAIL_WIDTH], tf.float64)

    specs = [tf.TensorSpec(t.shape, t.dtype) for t in inputs]
    branches = [_branch(name, f, specs) for name, f in (("then", then), ("else", otherwise))]
    output = gen_functional_ops._if(condition, inputs, [tf.float64], *branches)[0]
    if tensorflow_internals.has_accelerator():
        # Lowered to Switch and Merge, the tensors stay on the device unless the branch is taken.
        tensorflow_internals.set_bool_attribute(output.op, "_lower_using_switch_merge", True)
    return output


def _branch(name: str, function: Any, specs: Sequence[Any]) -> str:
    unique = control_flow_util_v2.unique_fn_name(OWN_SCOPE + "/", name)
    graph = func_graph_module.FuncGraph(unique)
    tensorflow_internals.mark_as_own(graph)
    func_graph_module.func_graph_from_py_func(
        unique, function, [], {}, signature=specs, func_graph=graph, add_control_dependencies=False
    )
    created: str = control_flow_util_v2.create_new_tf_function(graph)
    return created
