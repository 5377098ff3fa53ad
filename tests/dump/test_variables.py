"""What is meant to be trained, as facts of a dump."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

from tensorflow.python.ops import resource_variable_ops  # noqa: E402
from tensorflow.python.ops import variables as tf_variables  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis import SIDES, heat_of  # noqa: E402
from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow  # noqa: E402
from tfdbg_tui.diagnosis.losses import losses  # noqa: E402
from tfdbg_tui.dump.tensorflow import variables  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 10


class Net(keras.Model):  # type: ignore[name-defined]
    """One layer is trained, one cut off, one frozen, and one hidden from the optimizer."""

    def __init__(self) -> None:
        super().__init__(name="net")
        self.cut, self.frozen, self.trained = (
            keras.layers.Dense(3, name=name) for name in ("cut", "frozen", "trained")
        )
        hidden = keras.layers.Dense(3, name="hidden")
        hidden.build((None, 3))
        self.hidden: Any = lambda x: hidden(x)
        self.frozen.trainable = False

    def call(self, x: Any) -> Any:
        x = tf.stop_gradient(self.cut(x))
        return self.trained(self.hidden(tf.tanh(self.frozen(x))))


def train(eagerly: bool) -> None:
    model: Any = Net()
    optimizer = keras.optimizers.Adam(0.01)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        pairs = zip(gradients, model.trainable_variables, strict=True)
        optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])

    traced = step if eagerly else tf.function(step)
    model(tf.ones([2, 3]))
    for _ in range(STEPS):
        traced(tf.ones([2, 3]))


@pytest.fixture(params=[True, False], ids=["eager", "graph"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> tfdbg_tui.Run:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        train(request.param)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.open_run(tmp_path)


def test_what_is_trained_is_on_record(run: tfdbg_tui.Run) -> None:
    assert not run.omissions
    named = {v.handle: v for v in run.variables}
    trainable = {v.layer.path: v.trainable for v in named.values() if v.layer}
    assert trainable == {
        "net/cut": True,
        "net/frozen": False,
        "net/trained": True,
        "net/hidden": True,
    }
    slots = {(v.optimizer, v.name, named[v.slot_of].name) for v in named.values() if v.slot_of}
    assert len(slots) == 4  # moments of a kernel and a bias
    assert {name for _, _, name in slots} == {"net/trained/kernel", "net/trained/bias"}
    assert {name for _, name, _ in slots} == {"momentum", "velocity"}

    def layers(handles: Any) -> set[str]:
        return {named[h].layer.path for h in handles}

    told = run.gradient_requests[-1]
    assert layers(told.asked) == {"net/cut", "net/trained"}
    assert layers(told.unconnected) == {"net/cut"}
    assert layers(told.left_out) == {"net/hidden"}
    report = tfdbg_tui.diagnose(run)
    found = {s.layer.path for s in report.suspects if s.rule == "layer-never-changes"}
    assert found == {"net/cut", "net/hidden"}


def test_zeros_in_place_of_no_gradient_are_none(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        used, cut, of_unknown_size = tf.Variable([1.0]), tf.Variable([1.0]), unknown_size()

        @tf.function
        def gradients() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(used + tf.sign(used) + tf.stop_gradient(cut))
            asked, zero = [used, cut, of_unknown_size], tf.UnconnectedGradients.ZERO
            return tape.gradient(loss, asked, unconnected_gradients=zero)

        assert [gradient.numpy().sum() for gradient in gradients()] == [1.0, 0.0, 0.0]
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (told,) = tfdbg_tui.open_run(tmp_path).gradient_requests
    assert (len(told.asked), len(told.unconnected)) == (3, 2)
    assert told.unconnected == told.asked[1:]


def unknown_size() -> Any:
    return tf.Variable(tf.ones([2]), shape=tf.TensorShape([None]))


def test_gradients_that_are_only_looked_at_are_no_training(tmp_path: Path) -> None:
    """What one tape trains says nothing of what others were asked for."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        weight = tf.Variable(1.0)
        for _ in range(STEPS):
            with tf.GradientTape() as tape:
                loss = weight * weight
            weight.assign_sub(0.1 * tape.gradient(loss, weight))
        x, y = tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = x * x + tf.stop_gradient(y * y)
        assert tape.gradient(loss, [x, y])[1] is None
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    assert any(told.unconnected for told in run.gradient_requests)
    assert not tfdbg_tui.diagnose(run).suspects


@pytest.mark.parametrize(("times", "told"), [(1, []), (3, ["layer-never-changes"])])
def test_what_the_only_step_leaves_as_it_is_may_be_of_the_next(
    tmp_path: Path, times: int, told: list[str]
) -> None:
    """As an actor, where a program fails after it has trained the critic once."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        actor, critic = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
        actor.build([None, 3])
        critic.build([None, 2])

        @tf.function
        def train(x: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(critic(actor(x)) ** 2)
            for variable, slope in zip(
                critic.variables, tape.gradient(loss, critic.variables), strict=True
            ):
                variable.assign_sub(0.1 * slope)

        for _ in range(times):
            train(tf.ones([4, 3]))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    assert [suspect.rule for suspect in report.suspects] == told


@pytest.mark.parametrize(("is_loaded", "told"), [(True, []), (False, ["layer-never-changes"])])
def test_a_saved_model_that_is_loaded_may_stay_as_it_is(
    tmp_path: Path, is_loaded: bool, told: list[str]
) -> None:
    """It is no layer that could be frozen: features of it are what a loss compares, say."""
    features = tf.Module()
    features.w = tf.Variable([1.0, 2.0], name="w")
    features.take = tf.function(
        lambda x: x * features.w, input_signature=[tf.TensorSpec([2], tf.float32)]
    )
    tf.saved_model.save(features, str(tmp_path / "saved"))
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "dump"), "ADAPTIVE", -1)
    try:
        own = tf.Module()
        own.w = tf.Variable([1.0, 2.0], name="w")
        own.take = lambda x: x * own.w
        taken = tf.saved_model.load(str(tmp_path / "saved")) if is_loaded else own
        trained = tf.Variable([3.0, 4.0])
        for _ in range(STEPS):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(taken.take(trained) ** 2)
            trained.assign_sub(0.01 * tape.gradient(loss, trained))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path / "dump"))
    assert [suspect.rule for suspect in report.suspects] == told


def test_a_tape_that_is_asked_for_what_its_loss_is_not_of_is_of_a_training(tmp_path: Path) -> None:
    """An actor whose action is stopped has no gradient; the critic that judges it is trained."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        actor, critic = tf.Variable(1.0, name="actor"), tf.Variable(1.0, name="critic")
        for _ in range(STEPS):
            with tf.GradientTape() as tape:
                loss = critic * critic
            critic.assign_sub(0.1 * tape.gradient(loss, critic))
            with tf.GradientTape() as tape:
                loss = critic * tf.stop_gradient(actor)
            assert tape.gradient(loss, actor) is None
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    assert [found.variables for found in report.suspects] == [("actor",)]


class Late(tf.Module):  # type: ignore[name-defined]
    """A module that makes its variable in its first call."""

    made: Any = None

    def __call__(self, x: Any) -> Any:
        if self.made is None:
            self.made = tf.Variable(2.0, name="made")
        return self.made * x


class Around(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.late = Late()

    def __call__(self, x: Any) -> Any:
        return self.late(x)


def test_a_variable_that_a_module_makes_in_its_first_call_is_its_own(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        around = Around()
        with tf.GradientTape() as tape:
            loss = around(tf.ones([]))
        tape.gradient(loss, around.trainable_variables)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (variable,) = tfdbg_tui.open_run(tmp_path).variables
    assert (variable.layer.path, variable.trainable) == ("around/late", True)


def test_eager_gradients_are_of_the_layers_whose_ops_they_are_of(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        one, two = (keras.layers.Dense(3, activation="tanh", name=name) for name in ("one", "two"))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(two(one(tf.ones([2, 3]))) ** 2)
        tape.gradient(loss, one.trainable_variables + two.trainable_variables)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    found = [
        (e.op_type, e.layer.path if e.layer else "")
        for e in run.executions
        if e.op_type in ("MatMul", "TanhGrad", "Mean")
    ]
    forward = [("MatMul", "one"), ("MatMul", "two"), ("Mean", "")]
    backward = [
        ("TanhGrad", "two"),
        *[("MatMul", "two")] * 2,
        ("TanhGrad", "one"),
        ("MatMul", "one"),
    ]
    assert found == [*forward, *backward]
    heat = heat_of(run)
    gradients = heat.cells.rows[heat.cells.sides == SIDES.index("gradient")]
    assert {heat.rows[row].name for row in gradients.tolist()} >= {"one", "two"}


@pytest.mark.parametrize(("asked", "verdict"), [(["w"], "clean"), (["w", "x"], "bad")])
def test_eager_gradients_that_no_tape_gives_do_no_harm(
    tmp_path: Path, asked: list[str], verdict: str
) -> None:
    """TensorFlow computes the gradient of both inputs of a convolution, whichever is wanted."""
    given = {"w": tf.fill([1, 1, 1, 1], 1e30), "x": tf.ones([1, 2, 2, 1])}
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        for _ in range(20):
            with tf.GradientTape() as tape:
                tape.watch(given)
                y = tf.nn.conv2d(given["x"], given["w"], 1, "VALID")
            tape.gradient(y, [given[name] for name in asked], tf.fill([1, 2, 2, 1], 1e10))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    assert run.num_alerts == 20
    assert tfdbg_tui.diagnose(run).verdict == verdict


@pytest.mark.parametrize(
    ("asked", "verdict"), [(["x"], "clean"), (["kept", "x"], "bad"), (["kept"], "bad")]
)
def test_a_gradient_that_is_given_does_harm_although_the_tape_goes_on_with_it(
    tmp_path: Path, asked: list[str], verdict: str
) -> None:
    """The gradient of the select leaves out what is bad in that of `kept`: nothing else uses it."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            given = {"x": x, "kept": tf.where(x > 0, x, 0.0)}
            y = tf.sqrt(given["kept"])
        tape.gradient(y, [given[name] for name in asked])
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).verdict == verdict


def test_variables_and_what_optimizers_keep_are_rows(run: tfdbg_tui.Run) -> None:
    heat = heat_of(run)
    rows = [(row.depth, row.name) for row in heat.rows]
    trained = rows.index((1, "trained"))
    assert (2, "kernel") in rows[trained + 1 : trained + 6]
    assert (3, "momentum") in rows[trained + 1 : trained + 6]
    row = next(n for n, row in enumerate(heat.rows) if row[:1] == ("kernel",) and n > trained)
    mine = heat.cells.rows == row
    weights, updates = (heat.cells.largest[mine & (heat.cells.sides == n)] for n in range(2))
    # Eagerly, one line of the optimizer is for all variables: not all that it adds is measured.
    # Of ten steps 0, 1, 2, 4 and 7 are.
    assert updates.size == weights.size == 5 if len(run.graph_executions) else updates.size
    assert updates.max() == pytest.approx(0.01, rel=0.1)  # as Adam's first steps are
    layers = heat.without_variables()
    assert {row.name for row in layers.rows} >= {"net", "trained", "frozen"}
    assert "kernel" not in {row.name for row in layers.rows}


def test_variables_of_replicas_cost_nothing_else(tmp_path: Path) -> None:
    """Outside of a replica they have no handle, and say so by an error."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
            model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
            model.compile(keras.optimizers.Adam(), "mse", jit_compile=False)
        model.fit(tf.ones([4, 3]), tf.ones([4, 2]), batch_size=2, verbose=0)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    assert not run.omissions
    assert run.gradient_requests


def test_a_variable_of_the_programs_own_class_may_have_nothing_of_its_own() -> None:
    """As one that stands for another, and answers for it by properties of the program."""

    class StandsFor(tf_variables.Variable):
        def __init__(self) -> None: ...

    class NotBegun(resource_variable_ops.BaseResourceVariable):
        def __init__(self) -> None: ...

    for variable in (StandsFor(), NotBegun()):
        assert variables.is_variable(variable)
        assert variables.handle_id(variable) is None
        assert not variables.name_of(variable)
        assert not variables.is_trainable(variable)


def test_a_variable_of_early_keras_3_has_its_names_itself() -> None:
    assert variables.name_of(SimpleNamespace(name="kernel", path="net/kernel")) == "net/kernel"


@pytest.mark.parametrize("spike", [1e10, 1.0], ids=["after one enormous batch", "healthy"])
def test_an_accumulator_beyond_all_gradients_is_told(tmp_path: Path, spike: float) -> None:
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name="amount")
    optimizer = keras.optimizers.Adagrad(0.1)

    @tf.function
    def step(x: Any, y: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((layer(x) - y) ** 2)
        (weights,) = layer.trainable_variables
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        for number in range(14):
            step(tf.ones([8, 4]), tf.fill([8, 1], spike if number == 2 else 1.0 + number % 3))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    told = [(found.rule, found.layer and found.layer.name) for found in report.suspects]
    assert told == ([("optimizer-slot-exploded", "amount")] if spike > 1 else [])


def test_what_is_differentiated_is_of_the_process_that_asks(tmp_path: Path) -> None:
    """Each process numbers its tensors by itself."""
    weights = tf.Variable([1.0, 2.0])
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(weights))
    tape.gradient(loss, weights)
    tfdbg_tui.disable_dump_debug_info()
    for path in tmp_path.glob("tfdbg_events.*"):
        *prefix, host, suffix = path.name.split(".")
        shutil.copy(path, tmp_path / ".".join((*prefix, f"{host}0", suffix)))
    run = tfdbg_tui.open_run(tmp_path)
    found = list(losses(Dataflow(run)))
    processes = {run.executions.kind(event.index).file_set for event in found}
    assert len(found) == len(processes) == 2
    assert tfdbg_tui.diagnose(run).verdict == "clean"
