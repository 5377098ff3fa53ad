"""On accelerators: where the ops that we add run, and that no large tensor is copied to the host.

No accelerator is needed: one is assumed, and each op is looked up in TensorFlow's registry of
kernels.  That of the package `tensorflow` for Linux holds the kernels for GPUs; `tensorflow-cpu`
has none, and with it the tests that ask for them are skipped:

    python -m venv cuda && cuda/bin/pip install 'tensorflow==2.21.*' pytest -e .
    cuda/bin/python -m pytest tests/dump/tensorflow/test_tensor_ops.py
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tensorflow.python.framework import kernels  # noqa: E402

import tfdbg_tui  # noqa: E402
from tests.dump import device_programs as programs  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump.encode import eager_tensors  # noqa: E402
from tfdbg_tui.dump.encode.repetitions import Repeats  # noqa: E402
from tfdbg_tui.dump.observe import compiled, looks  # noqa: E402
from tfdbg_tui.dump.observe.groups import Group  # noqa: E402
from tfdbg_tui.dump.record import recorder  # noqa: E402
from tfdbg_tui.dump.tensorflow import (  # noqa: E402
    device_looks,
    devices,
    functions,
    own,
    resources,
)
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SMALL = 4096
"""Elements of a tensor that may be copied to the host: see `instrument`."""
_HANDOVERS = ("PyFunc", "Stage")
_COMPUTED = [dtype for dtype in programs.FLOATS if dtype not in programs.FLOAT8]


@functools.cache
def gpu_kernels(op_type: str, devices: tuple[str, ...] = ("GPU", "DEFAULT")) -> list[Any]:
    found = kernels.get_registered_kernels_for_op(op_type).kernel
    return [kernel for kernel in found if kernel.device_type in devices]


HAS_REGISTRY = any(kernel.device_type == "GPU" for kernel in gpu_kernels("MatMul"))
needs_registry = pytest.mark.skipif(
    not HAS_REGISTRY,
    reason="this TensorFlow has no kernels for GPUs: see the first lines of the file",
)


@contextlib.contextmanager
def dumping(root: Path, mode: str) -> Iterator[None]:
    tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
    try:
        yield
    finally:
        dump.disable_dump_debug_info()


@pytest.fixture(autouse=True, scope="module")
def _accelerator() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "has_accelerator", lambda: True)
        yield


@pytest.fixture(scope="module", params=programs.MODES if HAS_REGISTRY else ("SHAPE", "ADAPTIVE"))
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextlib.contextmanager
def noting_own_ops(found: list[Any]) -> Iterator[None]:
    """Note the ops that are added to functions, without what stands for the program's."""
    scope = own.scope

    @contextlib.contextmanager
    def noting(graph: Any) -> Iterator[None]:
        before = len(graph.get_operations())
        with scope(graph):
            yield
        new = graph.get_operations()[before:]
        found.extend(op for op in new if op.type != "Placeholder")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "scope", noting)
        yield


@pytest.fixture(scope="module")
def own_ops(mode: str, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The ops that are added to functions in a mode."""
    found: list[Any] = []
    with noting_own_ops(found), dumping(tmp_path_factory.mktemp(mode), mode):
        for call in programs.dtype_calls():
            call(2.0)
        for other in programs.other_calls():
            other()
    return found


def attributes(op: Any) -> dict[str, set[int]]:
    """Return the type attributes of an op, as sets of DataType numbers."""
    attrs = op.node_def.attr
    return {name: {attrs[name].type, *attrs[name].list.type} - {0} for name in attrs}


def kernel_for(op_type: str, types: dict[str, set[int]], **where: Any) -> Any:
    for kernel in gpu_kernels(op_type, **where):
        allowed = ((types[c.name], set(c.allowed_values.list.type)) for c in kernel.constraint)
        if all(wanted <= given for wanted, given in allowed):
            return kernel
    return None


def is_large(tensor: Any) -> bool:
    """Return whether a tensor may have many elements: one of those that are put together, too."""
    if tensor.op.type in ("Pack", "Merge"):
        return any(map(is_large, tensor.op.inputs))
    if tensor.op.type == "PyFunc":
        return False  # Python makes it on the host.
    if tensor.op.type == "Shape":
        return False  # As many elements as there are dimensions.
    if tensor.op.type == "DebugNumericSummaryV2":
        return False  # A value vector: ten numbers at most.
    if tensor.op.type in ("Switch", "StatefulPartitionedCall"):
        return False  # Copied only where the branch is taken.
    if tensor.dtype == tf.bool and tensor.op.type != "Placeholder":
        return False  # A condition.
    return not tensor.shape.is_fully_defined() or tensor.shape.num_elements() > _SMALL


def is_on_host(op: Any) -> bool:
    return "CPU" in op.device


def test_no_large_tensor_goes_to_the_host(mode: str, own_ops: list[Any]) -> None:
    if mode == "FULL_TENSOR":
        pytest.skip("the mode that copies everything")
    assert any(op.type in _HANDOVERS for op in own_ops)
    for op in own_ops:
        if is_on_host(op):
            copied = [tensor for tensor in op.inputs if is_large(tensor)]
            assert not copied, f"{op.type} {op.name} copies {copied}"
        else:
            assert op.type not in _HANDOVERS, f"{op.name} is placed on no device"


@pytest.mark.parametrize("health_mode", programs.HEALTH_MODES)
def test_the_same_is_on_record_of_graphs(
    tmp_path: Path, health_mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensors are joined where an accelerator is, and taken by a function."""
    # Which iterations are alike depends on which had the time to be measured.
    monkeypatch.setattr(recorder.Recorder, "repeats", Repeats.NONE)
    found = {}
    for there in (True, False):
        monkeypatch.setattr(devices, "has_accelerator", lambda there=there: there)
        with dumping(tmp_path / str(there), health_mode):
            for call in programs.dtype_calls():
                for divisor in (2.0, 0.0, 0.0, 2.0):
                    call(divisor)
        traces = oracle.traces(oracle.open_reader(str(tmp_path / str(there))), values=True)
        # The device, which TensorFlow would have chosen, is another.
        found[there] = sorted(str((*key[:5], key[6:], count)) for key, count in traces.items())
    assert found[True] == found[False]


@pytest.mark.parametrize("health_mode", ["ADAPTIVE", "FULL_HEALTH"])
def test_extremes_are_found_where_the_tensors_are(
    tmp_path: Path, health_mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tf.constant([[1.5, -2.0], [0.0, 7.0]])

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def step(x: Any) -> Any:
        others = [tf.cast(x, dtype) * tf.cast(1, dtype) for dtype in _COMPUTED]
        return [*others, tf.cast(x, tf.float16)[:0] * 2.0]

    found, graphs, call = {}, [], functions.call

    def noting(ops: Any, graph: Any, arguments: Any) -> Any:
        graphs.append(graph)
        return call(ops, graph, arguments)

    for there in (True, False):
        monkeypatch.setattr(devices, "has_accelerator", lambda there=there: there)
        if there:
            monkeypatch.setattr(functions, "call", noting)
            monkeypatch.setattr(Group, "detail", None)  # No tensor is handed to Python.
        with dumping(tmp_path / str(there), health_mode):
            step(x)
        monkeypatch.undo()
        found[there] = [
            (trace.op_name, trace.output_slot, trace.summary.minimum, trace.summary.maximum)
            for trace in tfdbg_tui.open_run(tmp_path / str(there)).graph_executions
        ]
    assert found[True] == found[False]
    assert ("x", 0, -2.0, 7.0) in found[True]
    assert [low for _, _, low, _ in found[True]].count(-2.0) > len(_COMPUTED)
    called = [op for graph in graphs for op in graph.get_operations()]
    assert {"Min", "Max", "PyFunc"} <= {op.type for op in called}
    for op in called:
        if HAS_REGISTRY and op.type != "Placeholder" and not is_on_host(op):
            assert kernel_for(op.type, attributes(op)), op


def test_few_tensors_of_a_healthy_execution_cross_devices(tmp_path: Path) -> None:
    """Each takes an op that sends it, and one that waits for it."""
    own_ops: list[Any] = []

    @tf.function
    def step(x: Any) -> Any:
        for _ in range(50):
            x = tf.tanh(x @ x)
        return x

    with noting_own_ops(own_ops), dumping(tmp_path, "ADAPTIVE"):
        step(tf.ones([64, 64]))
    assert {op.type for op in own_ops} >= {"ConcatV2", "StatefulPartitionedCall"}
    on_host = filter(is_on_host, own_ops)
    crossing = {t.name for op in on_host for t in op.inputs if not is_on_host(t.op)}
    # Whether something is bad, what Python has found or been told then, the number of the call.
    assert len(crossing) == 4
    assert sum(op.type == "DebugNumericSummaryV2" for op in own_ops) == 1


def test_few_bytes_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "ALL_JOINED_BYTES", 4 * 4 * 4 * 4)  # four of those below
    own_ops: list[Any] = []
    step = tf.function(lambda x: [tf.sin(x * float(number)) for number in range(6)])
    with noting_own_ops(own_ops), dumping(tmp_path, "CONCISE_HEALTH"):
        step(tf.ones([4, 4]))
    (joined,) = (op for op in own_ops if op.type == "ConcatV2")
    assert len({tensor.name for tensor in joined.inputs}) == 4 + 1, "and the axis"
    looks_alone = [op for op in own_ops if op.type == "DebugNumericSummaryV2"][1:]
    assert len(looks_alone) == 6 - 4, "that of the product is covered"


@needs_registry
def test_every_op_has_a_kernel_for_gpus(own_ops: list[Any]) -> None:
    assert own_ops
    for op in own_ops:
        types = attributes(op)
        if not is_on_host(op):
            kernel = kernel_for(op.type, types)
            assert kernel is not None, f"no kernel for {op.type} {types}"
            assert not read_on_host(op, kernel), f"{op.type} {types} reads in host memory"


def read_on_host(op: Any, kernel: Any) -> list[Any]:
    """Return the inputs of an op that are large, and copied to the host for it.

    TensorFlow keeps int32 tensors in host memory by itself.
    """
    names = []
    for argument in op.op_def.input_arg:
        attrs = op.node_def.attr
        listed = attrs[argument.type_list_attr].list.type
        number = attrs[argument.number_attr].i if argument.number_attr else len(listed) or 1
        names += [argument.name] * number
    return [
        tensor
        for name, tensor in zip(names, op.inputs, strict=True)
        if name in kernel.host_memory_arg and is_large(tensor) and tensor.dtype != tf.int32
    ]


@needs_registry
def test_every_op_compiles_for_gpus(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_ops: list[Any] = []
    create = compiled.CompiledBuffer.__init__

    def noting(self: Any, place: Any, *args: Any) -> None:
        before = len(place.graph.get_operations())
        create(self, place, *args)
        own_ops.extend(place.graph.get_operations()[before:])

    monkeypatch.setattr(compiled.CompiledBuffer, "__init__", noting)
    with dumping(tmp_path, mode):
        for call in programs.compiled_calls():
            call(2.0)
    assert own_ops
    for op in own_ops:
        if op.type != "Placeholder":
            assert kernel_for(op.type, attributes(op), devices=("XLA_GPU_JIT",)), op


@needs_registry
@pytest.mark.parametrize("dtype", programs.FLOATS, ids=lambda dtype: dtype.name)
def test_eager_tensors_have_kernels_for_gpus(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are all there, so that the function runs in one thread, which cannot send tensors."""
    graphs = []

    def noting(graph: Any) -> Any:
        graphs.append(graph)
        return definition_of(graph)

    definition_of = functions.definition_of
    monkeypatch.setattr(functions, "definition_of", noting)
    monkeypatch.setattr(device_looks, "_functions", resources.OfContexts())
    tensor = tf.cast(tf.ones([2, 3]), dtype)
    for most, tensors in (6, [tensor, tensor]), (5, [tensor]):  # The last is too large to copy.
        monkeypatch.setattr(device_looks, "_MAX_COPIED", most)
        device_looks.all_finite(tensors)
        device_looks.counts(tensors, TensorDebugMode.FULL_HEALTH)
    if not dtype.is_complex:
        device_looks.extremes(tensor)
    for op in (op for graph in graphs for op in graph.get_operations()):
        if op.type != "Placeholder":
            assert op.device == tensor.device
            kernel = kernel_for(op.type, attributes(op))
            assert kernel, f"no kernel for {op.type} {attributes(op)}"
            assert not read_on_host(op, kernel)


@pytest.mark.parametrize("health_mode", programs.HEALTH_MODES)
def test_eager_tensors_are_counted_where_they_are(
    tmp_path: Path, health_mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a device counts is what numpy counts, of every type that an op can make."""
    counted = {}
    for place in ("host", "device"):
        monkeypatch.setattr(
            eager_tensors.EagerTensors, "_on_accelerator", lambda *_, there=place: there == "device"
        )
        with dumping(tmp_path / place, health_mode):
            make_eager_tensors()
        reader = oracle.open_reader(str(tmp_path / place))
        counted[place] = oracle.executions(reader, values=True)
    assert counted["host"].total() >= 3 * len(programs.FLOATS)
    assert counted["device"] == counted["host"]


def make_eager_tensors() -> None:
    for dtype in programs.FLOATS:
        for values in ([1.0, -2.0, 0.0], [np.inf, 0.0, 1.0], [np.nan, -np.inf, np.inf]):
            if dtype.is_complex:
                tf.complex(*[tf.constant(v, dtype.real_dtype) for v in (values, values[::-1])])
            else:
                tf.identity(tf.cast(tf.constant(values), dtype))
