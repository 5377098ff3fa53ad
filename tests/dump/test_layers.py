"""Keras layers and `tf.Module`s as facts of a dump."""

from __future__ import annotations

import inspect
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

from tensorflow.python.ops.resource_variable_ops import ResourceVariable  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.tensorflow import layers  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Linear(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.ones([2, 2]))

    def __call__(self, x: Any) -> Any:
        return tf.matmul(x, self.weights)


class Stack(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.blocks = [Linear(), Linear()]
        self.head = Linear()

    @tf.function
    def logits(this, x: Any) -> Any:  # noqa: N805 - modules are known however they call themselves
        for block in this.blocks:
            x = tf.tanh(block(x))
        return this.head(x)


@tf.function
def loss(stack: Stack, x: Any) -> Any:
    return tf.reduce_max(stack.logits(x))


asked: list[str] = []
"""What of the classes below was asked for that only the program may ask for."""


class Odd(tf.Module):  # type: ignore[name-defined]
    @property
    def name(self) -> str:
        asked.append("name")
        raise RuntimeError("no name")

    @property
    def variables(self) -> Any:
        asked.append("variables")
        raise RuntimeError("no variables")

    @property
    def trainable(self) -> Any:
        asked.append("trainable")
        return tf.constant(True)

    def __getattr__(self, name: str) -> Any:
        asked.append(name)
        raise AttributeError(name)

    def __call__(self, x: Any) -> Any:
        return tf.sin(x)

    __hash__ = None


class OddLayer(keras.layers.Layer):  # type: ignore[name-defined]
    @property
    def variables(self) -> Any:
        asked.append("variables")
        return super().variables

    def call(self, x: Any) -> Any:
        return tf.sin(x)


class OddVariable(ResourceVariable):
    @property
    def handle(self) -> Any:
        asked.append("handle")
        return super().handle

    @property
    def trainable(self) -> Any:
        asked.append("trainable")
        return super().trainable

    @property
    def name(self) -> str:
        asked.append("name")
        return "other"


class OddKerasVariable(keras.Variable):  # type: ignore[name-defined]
    @property
    def path(self) -> str:
        asked.append("path")
        return "other"


class Cached:
    """What a module has may have attributes of the same names as a variable of Keras."""

    def __init__(self) -> None:
        self._value = tf.Variable(1.0, name="cached")


class Variables(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.cached, self.own = Cached(), tf.Variable(3.0, name="own")
        self.odd = OddVariable(2.0, name="odd"), OddKerasVariable(5.0, name="odd_keras")
        asked.clear()  # TensorFlow and Keras may ask, as they make them.

    def __call__(self, x: Any) -> Any:
        return tf.sin(x)


class Spied(tf.__internal__.CompositeTensor):  # type: ignore[name-defined]
    """A composite tensor whose spec is a program's code, as those of TFP's distributions are."""

    asked = 0

    @property
    def _type_spec(self) -> Any:
        Spied.asked += 1
        return tf.RaggedTensorSpec([None, None])

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        return self._type_spec


def classifier() -> Any:
    """Returns a model in a model, the inner one in float16."""
    inner = keras.Input((2,))
    wide = keras.layers.Dense(3, name="wide", dtype="mixed_float16")
    encoder = keras.Model(inner, wide(inner), name="encoder")
    outer = keras.Input((2,))
    head = keras.layers.Dense(1, name="head")
    return keras.Model(outer, head(encoder(outer)), name="classifier")


def dumped(directory: Path, program: Any) -> tfdbg_tui.Run:
    tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.open_run(directory)


def types_of_ops(run: tfdbg_tui.Run) -> dict[str, set[str]]:
    """Returns the types of the ops of graphs by the path of their layer."""
    found = defaultdict(set)
    for graph in run.graphs.values():
        for op in graph.ops.values():
            found[op.layer.path if op.layer else ""].add(op.op_type)
    return found


def types_of_executions(run: tfdbg_tui.Run) -> dict[str, list[str]]:
    """Returns the types of what was executed by the path of its layer."""
    found = defaultdict(list)
    for execution in run.executions:
        found[execution.layer.path if execution.layer else ""].append(execution.op_type)
    return found


def test_layers_of_keras(tmp_path: Path) -> None:
    """Each op is in the layer that was called, whether traced or executed; building is no call."""
    call = keras.layers.Layer.__call__
    signature = inspect.signature(keras.layers.Dense.call)

    def program() -> None:
        model = classifier()
        model.compile("sgd", "mse", jit_compile=False)
        model.fit(tf.ones([4, 2]), tf.ones([4, 1]), batch_size=2, verbose=0)
        model(tf.ones([4, 2]))
        assert keras.layers.Layer.__call__ is call
        assert inspect.signature(keras.layers.Dense.call) == signature

    run = dumped(tmp_path, program)
    told = [(layer.path, layer.kind, layer.dtype_policy) for layer in run.layers]
    assert told == [
        ("classifier", "Functional, float32", "float32"),
        ("classifier/encoder", "Functional, float32", "float32"),
        ("classifier/encoder/wide", "Dense, float16", "mixed_float16"),
        ("classifier/head", "Dense, float32", "float32"),
    ]
    traced, executed = types_of_ops(run), types_of_executions(run)
    assert {"MatMul", "Cast"} <= traced["classifier/encoder/wide"]
    assert {"MatMul", "AddV2"} <= traced["classifier/head"]
    assert "MatMul" in executed["classifier/encoder/wide"]
    assert "MatMul" not in executed[""]
    assert "AssignSubVariableOp" in traced[""]  # the optimizer's step


def test_modules_are_named_by_the_attributes_that_hold_them(tmp_path: Path) -> None:
    stack = Stack()
    run = dumped(tmp_path, lambda: [loss(stack, tf.ones([1, 2])), Linear()(tf.ones([1, 2]))])
    traced = types_of_ops(run)
    assert "MatMul" in traced["stack/blocks[0]"] & traced["stack/blocks[1]"] & traced["stack/head"]
    assert "Tanh" in traced["stack"]
    assert "Max" in traced[""]  # a function that is given a module is none of its methods
    assert "MatMul" in types_of_executions(run)["linear"]
    assert {layer.class_name for layer in run.layers} == {"Stack", "Linear"}


def test_a_model_that_is_made_again_is_no_other(tmp_path: Path) -> None:
    run = dumped(tmp_path, lambda: [Linear()(tf.ones([1, 2])) for _ in range(3)])
    assert [layer.path for layer in run.layers] == ["linear"]
    assert types_of_executions(run)["linear"].count("MatMul") == 3


def test_no_code_of_the_program_runs_to_find_variables(tmp_path: Path) -> None:
    linear = Linear()
    linear.spied = Spied()
    run = dumped(tmp_path, lambda: linear(tf.ones([1, 2])))
    assert [variable.layer.path for variable in run.variables] == ["linear"]
    assert not Spied.asked


class Keyed(tf.Module):  # type: ignore[name-defined]
    """Holds a module under a variable: the text of that reads its value."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = tf.Variable(1.0).ref()
        self.held: dict[Any, Any] = {"other": 1, self.linear: Linear()}

    def __call__(self, x: Any) -> Any:
        return self.held[self.linear](x)


def test_a_module_under_a_variable_has_its_number(tmp_path: Path) -> None:
    keyed = Keyed()
    run = dumped(tmp_path, lambda: keyed(tf.ones([1, 2])))
    types = types_of_executions(run)
    assert types["keyed/held[1]"].count("MatMul") == 1
    assert run.omissions == ()


def test_no_code_of_a_variable_runs_to_describe_it(tmp_path: Path) -> None:
    run = dumped(tmp_path, lambda: Variables()(tf.ones([])))
    assert asked == []
    assert {variable.name for variable in run.variables} == {"own", "odd", "odd_keras"}
    assert not run.omissions


def test_no_code_of_a_layer_runs_to_describe_it(tmp_path: Path) -> None:
    odd, layer, x = Odd(), OddLayer(name="layer"), tf.ones([])
    layer(x)
    asked.clear()
    run = dumped(tmp_path, lambda: [odd(x), layer(x)])
    assert asked == []
    assert [layer.path for layer in run.layers] == ["odd", "layer"]
    assert types_of_executions(run)["odd"] == types_of_executions(run)["layer"] == ["Sin"]
    assert not run.omissions


def test_a_layer_of_early_keras_3_has_its_policy_under_another_name() -> None:
    layer = keras.layers.Dense(1, dtype="mixed_float16")
    if hasattr(layer, "_dtype_policy"):
        layer.__dict__["dtype_policy"] = layer.__dict__.pop("_dtype_policy")
    assert layers.describe(layer, None)[2:] == ("mixed_float16", "float16")


def ratio(above: Any, below: Any) -> Any:
    return above / below  # BUILT


def functional() -> Any:
    """Returns a model with operations that are no layers, one of which two lines put into it."""
    given = keras.Input((2,))
    hidden = keras.layers.Dense(2, name="hidden")(given)  # BUILT
    shared = keras.layers.Activation("tanh", name="shared")  # BUILT
    made = shared(keras.ops.log(hidden))  # BUILT
    return keras.Model(given, shared(ratio(made, hidden)))


def test_operations_of_a_functional_model_are_told_where_they_are_built(tmp_path: Path) -> None:
    """What computes is Keras' own code, called by `fit`."""

    def program() -> None:
        model = functional()
        model.compile("sgd", "mse", jit_compile=False)
        model.fit(tf.ones([4, 2]), tf.ones([4, 2]), batch_size=2, verbose=0)
        model(tf.ones([4, 2]))

    run = dumped(tmp_path, program)
    source, first = inspect.getsourcelines(ratio)
    built = [first + source.index("    return above / below  # BUILT\n")]
    source, first = inspect.getsourcelines(functional)
    built += [first + number for number, line in enumerate(source) if "# BUILT" in line]
    stacks = [op.stack_id for graph in run.graphs.values() for op in graph.ops.values() if op.layer]
    stacks += [execution.stack_id for execution in run.executions if execution.layer]
    told = defaultdict(set)
    for place in map(run.stack, stacks):
        frames = [frame for frame in place if frame.path == __file__]
        told[frames[-1].function].add(frames[-1].line)
    assert told["ratio (builds true_divide)"] == {built[0]}
    assert told["functional (builds hidden)"] == {built[1]}
    assert told["functional (builds shared)"] == {built[2]}  # Two lines put it into the model.
    assert told["functional (builds log)"] == {built[3]}
    names = {layer.path.partition("/")[2] for layer in run.layers}
    assert names == {"", "hidden", "log", "shared", "true_divide"}


def test_operations_that_are_in_no_model_are_no_layers(tmp_path: Path) -> None:
    """`ops.cond` makes one for each call, with a name of its own."""

    def program() -> None:
        for _ in range(2):
            keras.ops.cond(True, lambda: tf.sin(1.0), lambda: tf.cos(1.0))

    run = dumped(tmp_path, program)
    assert types_of_executions(run) == {"": ["Sin", "Sin"]}
    assert not run.layers


class Named(keras.layers.Activation):  # type: ignore[name-defined]
    def __init__(self, name: str) -> None:
        super().__init__("tanh", name=name)


def added() -> Any:
    """Returns a model that Keras builds anew whenever a layer is added."""
    model = keras.Sequential([keras.Input((2,))])
    model.add(keras.layers.Dense(2, name="first"))  # BUILT
    model.add(Named("second"))  # BUILT
    model.add(keras.layers.Dense(2, name="third"))  # BUILT
    return model


def listed() -> Any:
    """Returns a model that Keras builds when it is called."""
    return keras.Sequential(
        [
            keras.layers.Dense(2, name="first"),  # BUILT
            Named("second"),  # BUILT
            keras.layers.Dense(2, name="third"),  # BUILT
        ]
    )


@pytest.mark.parametrize("make", [added, listed])
def test_layers_of_a_sequential_model_are_told_where_they_are_made(
    tmp_path: Path, make: Callable[[], Any]
) -> None:
    def program() -> None:
        model = make()
        model.compile("sgd", "mse", jit_compile=False)
        model.fit(tf.ones([4, 2]), tf.ones([4, 2]), batch_size=2, verbose=0)

    run = dumped(tmp_path, program)
    source, first = inspect.getsourcelines(make)
    built = [first + number for number, line in enumerate(source) if "# BUILT" in line]
    told = defaultdict(set)
    for graph in run.graphs.values():
        for op in graph.ops.values():
            if op.layer is not None:
                frames = [f for f in run.stack(op.stack_id) if f.path == __file__]
                told[op.layer.path.rpartition("/")[2]].add(frames[-1].line)
    assert [told[name] for name in ("first", "second", "third")] == [{line} for line in built]


class Doubled(keras.layers.Layer):  # type: ignore[name-defined]
    def call(self, x: Any) -> Any:
        return keras.ops.sin(x) * 2.0  # OWN


def test_a_layer_of_the_program_is_told_where_it_computes(tmp_path: Path) -> None:
    given = keras.Input((2,))
    model = keras.Model(given, Doubled()(given))
    run = dumped(tmp_path, lambda: model(tf.ones([4, 2])))
    source, first = inspect.getsourcelines(Doubled)
    own = first + next(number for number, line in enumerate(source) if "# OWN" in line)
    places = [run.stack(made.stack_id) for made in run.executions if made.op_type == "Sin"]
    assert [[f.line for f in place if f.path == __file__][-1] for place in places] == [own]


def test_the_fix_of_an_operation_takes_symbolic_tensors(tmp_path: Path) -> None:
    given = keras.Input((2,))
    made = keras.ops.log(keras.ops.relu(given))
    model = keras.Model(given, made)
    (root,) = tfdbg_tui.diagnose(dumped(tmp_path, lambda: model(tf.zeros([4, 2])))).roots
    assert root.layer is not None
    assert root.layer.class_name == "Log"
    assert root.suggestion.endswith(
        " → keras.ops.log(keras.ops.maximum(keras.ops.relu(given), 1e-7))"
    )


def test_a_layer_of_tensorflow_1_is_named_after_its_scope() -> None:
    """`tf.layers` counts names and scopes apart; variables and ops are named by the scope."""
    layer = keras.layers.Dense(1, name="dense_2")
    assert layers.describe(layer, None).name == "dense_2"
    with tf.Graph().as_default(), tf.compat.v1.variable_scope("tower/dense_1") as scope:
        layer._scope = scope
    assert layers.describe(layer, None).name == "dense_1"
