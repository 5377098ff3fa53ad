"""What the dump writer asks of TensorFlow beyond its public interface, besides the hooks.

All of it is there in TensorFlow 2.16 to 2.21; what is not makes the import of this module fail.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import os
import re
import threading
from typing import TYPE_CHECKING, Any

from tensorflow import DeviceSpec
from tensorflow import config as tf_config
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.data.ops import options as options_lib
from tensorflow.python.debug.lib import op_callbacks_common
from tensorflow.python.eager import context, wrap_function
from tensorflow.python.eager.polymorphic_function import atomic_function, attributes
from tensorflow.python.framework import dtypes, op_def_library, ops, tensor_shape
from tensorflow.python.framework import func_graph as func_graph_module
from tensorflow.python.ops import control_flow_util, control_flow_util_v2, gen_dataset_ops
from tensorflow.python.ops import script_ops as _script_ops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

OWN_NAME = "tfdbg_tui"
"""What the names of the functions that the writer adds begin with."""

OWN_SCOPE = OWN_NAME + "/"
"""Name scope of the ops that the writer adds to graphs; they are not recorded."""

_FUNCTION_PREFIXES = ("__inference_", "__forward_", "__backward_")

_TRUSTED = tuple(
    os.path.join(os.path.dirname(spec.origin), "")
    for name in ("tensorflow", "keras", "tfdbg_tui")
    if (spec := importlib.util.find_spec(name)) and spec.origin
)
_AUTOGRAPH_CALL = os.path.join("autograph", "impl", "api.py")


def is_function_name(op_type: str | bytes) -> bool:
    """Return whether an eager op type is the name of a traced function.

    TensorFlow's generated Python names ops in bytes, but functions in str.
    """
    return isinstance(op_type, str) and op_type.startswith(_FUNCTION_PREFIXES)


def is_compiled(graph: Any, attributes_of_function: Any) -> bool:
    """Return whether XLA compiles a function by itself, whoever calls it."""
    value = attributes_of_function.get(attributes.XLA_COMPILE)
    return bool(value is not None and value.b) or bool(
        control_flow_util.GraphOrParentsInXlaContext(graph)
    )


def forward_function_name(attrs: Any) -> str | None:
    """Return the name of the forward function that a backward function's attributes give."""
    value = (attrs or {}).get(attributes.FORWARD_FUNCTION)
    if value is None:
        return None
    name = getattr(value, "s", value)
    return name.decode() if isinstance(name, bytes) else str(name)


def is_loop_graph(graph: Any) -> bool:
    """Return whether a graph is the condition or body of a While loop."""
    kinds = (control_flow_util_v2.WhileCondFuncGraph, control_flow_util_v2.WhileBodyFuncGraph)
    return isinstance(graph, kinds)


def is_loop_condition(graph: Any) -> bool:
    """Return whether a graph is the condition of a While loop."""
    return isinstance(graph, control_flow_util_v2.WhileCondFuncGraph)


def is_loop(op: Any) -> bool:
    """Return whether an op is a While loop."""
    return op.type in ("While", "StatelessWhile")


def mark_as_own(graph: Any) -> None:
    """Keep a graph that the writer builds for itself from being recorded."""
    graph._tfdbg_tui_own = True


def is_own(graph: Any) -> bool:
    """Return whether a graph was marked by `mark_as_own`."""
    return getattr(graph, "_tfdbg_tui_own", False)


def own_graph() -> Any:
    """Return a new, empty graph for ops of ours, which nothing of the program's is around."""
    with ops.Graph().as_default():
        graph = func_graph_module.FuncGraph(OWN_NAME)
    mark_as_own(graph)
    return graph


def new_input(graph: Any, name: str, dtype: Any, shape: Any, device: str) -> Any:
    """Return a new placeholder in a graph of ours.

    A training step has thousands, which take a third of the time that `tf.placeholder` does.
    """
    node = node_def_pb2.NodeDef(op="Placeholder", name=name, device=device)
    node.attr["dtype"].type = dtypes.as_dtype(dtype).base_dtype.as_datatype_enum
    node.attr["shape"].shape.CopyFrom(tensor_shape.as_shape(shape).as_proto())
    made = ops._create_c_op(graph, node, [], [], extract_traceback=False)
    return ops.Operation._from_c_op(made, graph).outputs[0]


def new_op(op_type: str, **arguments: Any) -> Any:
    """Return a new op of the current graph, also where it has no outputs."""
    return op_def_library._apply_op_helper(op_type, **arguments)[2]


def definition_of(graph: Any) -> tuple[Any, list[Any]]:
    """Return the FunctionDef of a graph of ours, and the runtime functions that it calls."""
    name = control_flow_util_v2.unique_fn_name(OWN_NAME, "added")
    function = atomic_function.from_func_graph(name, graph, {})
    return function.definition, function.children


def function_def(name: str) -> Any:
    """Return a copy of the FunctionDef of a runtime function."""
    return context.context().get_function_def(name)


def make_function(definition: Any, children: Iterable[Any]) -> Any:
    """Return a new runtime function, which is there as long as this object.

    Args:
        definition: Its FunctionDef.
        children: The runtime functions that it calls, themselves made here or of graphs.
    """
    function = atomic_function.from_function_def(definition, None)
    called = {child.name: child for own in children for child in (own, *own.children)}
    function._children = list(called.values())
    return function


def function_name(function: Any) -> str:
    """Return the name of a runtime function."""
    name = function.name
    return name.decode() if isinstance(name, bytes) else str(name)


def call_instead(op: Any, attribute: str, names: list[str]) -> None:
    """Let an op of a v1 graph, which no session has run, call other functions."""
    if isinstance(op.get_attr(attribute), list):
        op._set_func_list_attr(attribute, names)
    else:
        op._set_func_attr(attribute, names[0])


def add_to_graph(graph: Any, function: Any) -> None:
    """Add a runtime function to a v1 graph."""
    graph._add_function_recursive(function)


def function_graph(graph: Any, name: str) -> Any:
    """Return the FuncGraph that a function of a v1 graph was made of; None for an imported one."""
    return getattr(graph._functions.get(name), "graph", None)


def dataset_graph(variant: Any) -> Any:
    """Return the GraphDef of a dataset, whatever state it depends on."""
    ignore = options_lib.ExternalStatePolicy.IGNORE.value
    serialized = gen_dataset_ops.dataset_to_graph_v2(variant, external_state_policy=ignore)
    return graph_pb2.GraphDef.FromString(serialized.numpy())


def changed_graph(serialized: Any, change: Callable[[Any], None]) -> Any:
    """Return a serialized GraphDef, which is a string tensor, after a change."""
    graph_def = graph_pb2.GraphDef.FromString(serialized.numpy())
    change(graph_def)
    return ops.convert_to_tensor(graph_def.SerializeToString())


def dataset_of(graph_def: Any) -> Any:
    """Return the variant tensor of a new dataset with a GraphDef."""
    (output,) = (node.input[0] for node in graph_def.node if node.op == "_Retval")
    return wrap_function.function_from_graph_def(graph_def, [], output + ":0")()


def copy_name(name: str) -> str:
    """Return a new name for a function that runs in place of one of the program's."""
    return f"{name}_tfdbg_tui_{next(_numbers)}"


def original_name(name: str) -> str:
    """Return the name of the program's function that a function runs in place of, if it does."""
    return _COPY_MARK.sub("", name)


def restore_names(error: BaseException) -> None:
    """Name the program's functions in the message of an error, where it names those that ran."""
    message = getattr(error, "_message", None)
    if isinstance(message, str):
        error._message = _COPY_MARK.sub("", message)  # type: ignore[attr-defined]


_numbers = itertools.count(1)
_COPY_MARK = re.compile(r"_tfdbg_tui_\d+")


def on_custom_device(tensors: Iterable[Any]) -> bool:
    """Return whether eager tensors are on a device like that of DTensor, which knows no Python."""
    return any("device:CUSTOM:" in tensor.device for tensor in tensors)


def has_accelerator() -> bool:
    """Return whether this process computes on anything but CPUs."""
    return any(d.device_type != "CPU" for d in tf_config.list_logical_devices())


def full_device_name(device: str) -> str:
    """Return the name of a device with job, replica, task and index.

    An op without a device is placed by TensorFlow at run time, on the first accelerator where
    there is one; the name given here is that default.
    """
    return _full_name(device or "", context.context().host_address_space(), has_accelerator())


def remote_device() -> str | None:
    """Return the device that the program has chosen, if it is another process's; else None."""
    device = context.context().device_name
    if not device or "/job:" not in device:
        return None
    mine = DeviceSpec.from_string(context.context().host_address_space())
    chosen = mine.make_merged_spec(DeviceSpec.from_string(device))
    is_mine = (chosen.job, chosen.replica, chosen.task) == (mine.job, mine.replica, mine.task)
    return None if is_mine else device


@functools.lru_cache(maxsize=1024)
def _full_name(device: str, address: str, accelerated: bool) -> str:
    spec = DeviceSpec.from_string(address).make_merged_spec(DeviceSpec.from_string(device))
    if spec.device_type is None:
        spec = spec.replace(device_type="GPU" if accelerated else "CPU", device_index=0)
    return str(spec.replace(device_index=spec.device_index or 0).to_string())


def set_bool_attribute(op: Any, name: str, value: bool) -> None:
    """Set an attribute of an op that its definition does not have."""
    op._set_attr(name, attr_value_pb2.AttrValue(b=value))


def ops_tensorflow_skips() -> frozenset[str]:
    """Return the op types that TensorFlow's own instrumentation does not record as events."""
    return frozenset(name.decode() for name in op_callbacks_common.OP_CALLBACK_SKIP_OPS)


def is_reference(tensor: Any) -> bool:
    """Return whether a tensor is the memory of a variable, maybe not initialised yet."""
    return bool(tensor.dtype._is_ref_dtype)


def is_in_v1_control_flow(op: Any) -> bool:
    """Return whether an op is inside of a v1 loop or branch."""
    return op._get_control_flow_context() is not None


def is_users(frame: Any) -> bool:
    """Return whether a stack frame, or what AutoGraph ran for it, is of code outside of libraries.

    Those are TensorFlow, Keras and this package.
    """
    while frame.f_back is not None and frame.f_code.co_filename.endswith(_AUTOGRAPH_CALL):
        frame = frame.f_back
    return not frame.f_code.co_filename.startswith(_TRUSTED)


def doubt_shapes(graph: Any) -> None:
    """Note that a shape was set by hand in a graph: what the graph returns may have others."""
    # Outermost of all, where the program runs eagerly, is a graph that stays empty.
    while graph is not None and graph.version:
        graph._tfdbg_tui_shapes_doubtful = True
        graph = getattr(graph, "outer_graph", None)


def are_shapes_doubtful(graph: Any) -> bool:
    """Return whether tensors of a graph may have other shapes at run time than while tracing.

    Nothing checks a `set_shape`, nor what one function of a `tf.data` pipeline hands to the next.
    """
    while graph is not None:
        if getattr(graph, "_tfdbg_tui_shapes_doubtful", False):
            return True
        if (getattr(graph, "name", None) or "").startswith("Dataset_"):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def are_shapes_doubtful_now() -> bool:
    """Return whether a function that is called now may get other shapes than it is traced for."""
    return not context.executing_eagerly() and are_shapes_doubtful(ops.get_default_graph())


def py_func_token(function: Callable[..., Any]) -> str:
    """Register a Python function for the PyFunc op; TensorFlow refers to it weakly."""
    token: str = _script_ops._py_funcs.insert(function)
    _own_py_funcs.add(token)
    return token


def is_own_py_func(token: str) -> bool:
    """Return whether `py_func_token` returned a token."""
    return token in _own_py_funcs


_own_py_funcs: set[str] = set()


def eager_queue(name: str, dtype: Any, width: int, capacity: int) -> Any:
    """Return the handle of a queue of vectors that functions know by its name.

    Args:
        name: Its name.
        dtype: Type of the elements.
        width: Length of the vectors.
        capacity: How many it holds.
    """
    handle = context.context()._handle
    known, queue = _queues.get(name, (None, None))
    if known is not handle:
        types = ("component_types", [dtype.as_datatype_enum], "shapes", [[width]])
        queue = _run_op("FIFOQueueV2", [], (*types, "capacity", capacity, "shared_name", name))
        _queues[name] = handle, queue
    return queue


_queues: dict[str, tuple[Any, Any]] = {}


def dequeue_all(queue: Any, dtype: Any) -> Any:
    """Take all that is in a queue, as an array; None if there is nothing."""
    size = _run_op("QueueSizeV2", [queue], ())
    if not size.numpy():
        return None
    types = ("component_types", [dtype.as_datatype_enum])
    return _run_op("QueueDequeueManyV2", [queue, size], types).numpy()


def _run_op(op_type: str, inputs: list[Any], attributes_of_op: tuple[Any, ...]) -> Any:
    """Run an eager op that no op callback sees; return its output."""
    handle = context.context()._handle
    return pywrap_tfe.TFE_Py_Execute(handle, "/device:CPU:0", op_type, inputs, attributes_of_op, 1)[
        0
    ]


@contextlib.contextmanager
def own_work() -> Iterator[None]:
    """Nothing that this thread does meanwhile is the program's."""
    before, _thread.own_work = _thread.own_work, True
    try:
        yield
    finally:
        _thread.own_work = before


def in_own_work() -> bool:
    """Return whether this thread is in `own_work`."""
    return _thread.own_work


class _Thread(threading.local):
    own_work = False
    adds_ops = False


_thread = _Thread()


@contextlib.contextmanager
def no_graph_callbacks() -> Iterator[None]:
    """No op callbacks, whoever's they are, for graph ops that we add in this thread."""
    eager_context = context.context()
    before = eager_context.invoking_op_callbacks, _thread.adds_ops
    eager_context.invoking_op_callbacks = _thread.adds_ops = True
    try:
        yield
    finally:
        eager_context.invoking_op_callbacks, _thread.adds_ops = before


def adds_ops() -> bool:
    """Return whether this thread is in `no_graph_callbacks`."""
    return _thread.adds_ops
