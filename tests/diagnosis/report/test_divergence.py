"""A root that is the end of a divergence says so, with numbers and steps; others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tests.diagnosis.report.dumped import first_root  # noqa: E402
from tfdbg_tui.dump.observe import magnitudes  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def regression(rate: float, *, in_graph: bool) -> None:
    x = tf.reshape(tf.range(32.0) / 16.0 - 1.0, [8, 4])
    weights = tf.Variable(tf.zeros([4, 1]))

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))
        weights.assign_sub(rate * tape.gradient(loss, weights))

    call = tf.function(step) if in_graph else step
    for number in range(60):
        with tfdbg_tui.step(number):
            call()


@pytest.mark.parametrize("in_graph", [True, False])
def test_a_rate_that_is_too_high(tmp_path: Path, *, in_graph: bool) -> None:
    root = first_root(tmp_path, lambda: regression(20.0, in_graph=in_graph))
    assert root.rule == "grew-until-overflow"
    measured = (n for n in range(root.step) if n in magnitudes.EARLY)
    assert f"in step {max(measured)}" in root.evidence
    assert "learning rate" in root.fix


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_loss_that_falls_without_end(tmp_path: Path, sign: float) -> None:
    x = tf.reshape(tf.range(32.0) / 16.0 - 1.0, [8, 4])
    weights = tf.Variable(tf.zeros([4, 1]))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = sign * tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))
        weights.assign_sub(20.0 * tape.gradient(loss, weights))
        return loss

    def program() -> None:
        for number in range(60):
            with tfdbg_tui.step(number):
                step()

    root = first_root(tmp_path, program)
    expected = "grew-until-overflow" if sign > 0 else "loss-without-lower-bound"
    assert root.rule == expected
    assert ("fell from -1 in step 0" in root.evidence) is (sign < 0)


@pytest.mark.parametrize("layer", ["SimpleRNN", "Dense"])
def test_what_helps_recurrent_layers_is_told_of_these(tmp_path: Path, layer: str) -> None:
    keras, shape = tf.keras, (6, 2) if layer == "SimpleRNN" else (2,)

    def program() -> None:
        first = getattr(keras.layers, layer)(4, activation="linear")
        model = keras.Sequential([keras.Input(shape), first])
        model.compile(keras.optimizers.SGD(1e4), "mse", jit_compile=False)
        model.fit(tf.ones([8, *shape]), tf.zeros([8, 4]), epochs=20, verbose=0)

    root = first_root(tmp_path, program)
    assert "learning rate" in root.fix
    assert ("In a recurrent layer" in root.fix) is (layer == "SimpleRNN")


@pytest.mark.parametrize("recurrent", [True, False])
def test_a_gradient_that_explodes_through_time(tmp_path: Path, *, recurrent: bool) -> None:
    """The optimizer's square overflows: what is to be changed is the layer."""
    keras = tf.keras

    def program() -> None:
        initial = keras.initializers.Constant(3.0)
        layer = keras.layers.SimpleRNN(2, "linear", recurrent_initializer=initial, name="hidden")
        first = layer if recurrent else keras.layers.Dense(2, kernel_initializer=initial)
        model = keras.Sequential([keras.Input((16, 2) if recurrent else (2,)), first])
        model.compile(keras.optimizers.Adam(), "mse", jit_compile=False)
        model.fit(
            tf.fill([4, *model.input_shape[1:]], 10.0 if recurrent else 1e12),
            tf.zeros([4, 2]),
            verbose=0,
        )

    root = first_root(tmp_path, program)
    assert root.rule == (
        "gradient-grew-over-iterations" if recurrent else "squared-gradient-overflow"
    )
    assert ("the gradient that it takes its largest" in root.evidence) is recurrent
    assert ("SimpleRNN(" in root.location.code) is recurrent


def test_growth_of_other_tensors_explains_nothing(tmp_path: Path) -> None:
    weights = tf.Variable(1.0)

    @tf.function
    def log(x: Any) -> Any:
        weights.assign(weights * 10.0)
        return tf.math.log(x) * weights

    def program() -> None:
        for number in range(12):
            log(tf.constant(0.0 if number == 8 else 1.0))

    assert first_root(tmp_path, program).rule == "log-of-zero"


def test_growth_that_ends_at_once_is_told_too(tmp_path: Path) -> None:
    weights = tf.Variable([[3.5]])

    @tf.function
    def cube() -> None:
        weights.assign(tf.matmul(weights * weights, weights))

    def program() -> None:
        for _ in range(5):
            cube()

    root = first_root(tmp_path, program)
    assert root.rule == "matmul-overflow"  # nothing is trained here
    assert "grew from 42.9 in step 0 to 4.9e+14 in step 2" in root.evidence


def test_a_loop_whose_numbers_grow_is_told_by_its_iterations(tmp_path: Path) -> None:
    factor = tf.fill([2, 2], 1e4)

    @tf.function
    def product(x: Any) -> Any:
        for _ in tf.range(20):
            x = tf.matmul(x, factor)
        return x

    root = first_root(tmp_path, lambda: product(tf.ones([2, 2])))
    assert (root.rule, root.certainty) == ("grew-over-iterations", "likely")
    assert "grew from 2e+04 in iteration 0 to 3.2e+21 in iteration 4: ×2e+04 an" in root.evidence


def test_calls_after_one_another_are_no_loop(tmp_path: Path) -> None:
    factor = tf.fill([2, 2], 1e6)

    @tf.function
    def product(x: Any) -> Any:
        return tf.matmul(x, factor)

    @tf.function
    def layers(x: Any) -> Any:
        for _ in range(8):
            x = product(x)
        return x

    assert first_root(tmp_path, lambda: layers(tf.ones([2, 2]))).rule == "matmul-overflow"


def test_a_jump_is_no_growth(tmp_path: Path) -> None:
    @tf.function
    def product(x: Any) -> Any:
        return tf.matmul(x, x)

    def program() -> None:
        for value in (1.0, 20.0, 400.0, 1e30):
            product(tf.fill([4, 4], value))

    assert first_root(tmp_path, program).rule == "matmul-overflow"


def test_calls_that_did_not_compute_it_are_not_counted(tmp_path: Path) -> None:
    weights = tf.Variable([[1e10]])

    @tf.function
    def call(x: Any) -> None:
        if x[0, 0] > 0.0:
            with tf.GradientTape() as tape:
                loss = tf.square(tf.matmul(x, weights))
            weights.assign_sub(tape.gradient(loss, weights))

    def program() -> None:
        for number in (0.0, 0.0, 0.0, 1e-3, 1e-3, 1e-3, 1e30):
            call(tf.constant([[number]]))

    root = first_root(tmp_path, program)
    assert root.rule == "diverged-until-overflow"
    assert root.evidence.endswith(
        "finite in the 3 computations before; at most 1e+07 when it was measured last, and not "
        "measured in step 5: a batch there may have begun it"
    )


def test_what_grows_before_anything_is_trained_is_no_training(tmp_path: Path) -> None:
    weights = tf.Variable(1.0)

    def program() -> None:
        y = tf.constant([10.0])
        for _ in range(8):
            y = tf.pow(y, 2.0)
        weights.assign_sub(tf.reduce_sum(y) * 0.0)

    assert first_root(tmp_path, program).rule == "product-overflow"


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        (8, "overflowed-at-once"),
        (7, "diverged-until-overflow"),  # of steps 5 and 6 nothing is on record
    ],
)
def test_one_batch_that_is_far_from_all_others_is_no_growth(
    tmp_path: Path, step: int, rule: str
) -> None:
    weights = tf.Variable(tf.fill([4, 1], 1e10))

    @tf.function
    def train(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, weights)))
        weights.assign_sub(tape.gradient(loss, weights) * 1e-9)

    def program() -> None:
        for number in range(step + 1):
            with tfdbg_tui.step(number):
                train(tf.fill([2, 4], 1e30 if number == step else 1.0))

    root = first_root(tmp_path, program)
    assert root.rule == rule
    told = "at most 4e+10 in all steps measured, 0 to 7" in root.evidence
    assert told is (rule == "overflowed-at-once")


@pytest.mark.parametrize(
    ("first", "rule"), [(1e10, "huge-from-the-first-step"), (1e-3, "diverged-until-overflow")]
)
def test_weights_that_are_huge_before_anything_is_trained(
    tmp_path: Path, first: float, rule: str
) -> None:
    """The first step makes the next one overflow, whatever the learning rate is."""
    weights = tf.Variable(tf.fill([4, 1], first))

    @tf.function
    def train(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, weights)))
        weights.assign_sub(1e20 / first * tape.gradient(loss, weights))
        return loss

    def program() -> None:
        for number in range(3):
            with tfdbg_tui.step(number):
                train(tf.fill([2, 4], 1.0))

    root = first_root(tmp_path, program)
    assert root.rule == rule
    assert ("in step 0 already" in root.evidence) is (rule == "huge-from-the-first-step")


def test_numbers_that_swing_far_above_the_first_have_grown(tmp_path: Path) -> None:
    """As those of a ReLU that is off in one of the steps: the last one was no larger than ever."""
    weights = tf.Variable(tf.fill([4, 1], 1e10))

    @tf.function
    def train(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, weights)))
        weights.assign_sub(tape.gradient(loss, weights) * 0.0)

    def program() -> None:
        for number, value in enumerate((1e-9, 1e4, 1.0, 1e30)):
            with tfdbg_tui.step(number):
                train(tf.fill([2, 4], value))

    root = first_root(tmp_path, program)
    assert root.rule == "diverged-until-overflow"
    assert "grew from 40 in step 0 to 4e+10 in step 2" in root.evidence


@pytest.mark.parametrize("in_variable", [True, False])
def test_what_grows_where_nothing_is_trained(tmp_path: Path, *, in_variable: bool) -> None:
    def program() -> None:
        state = tf.Variable([1.0, 2.0]) if in_variable else tf.constant([1.0, 2.0])
        for _ in range(40):
            change = -300.0 * state
            state = state.assign(change) if in_variable else change

    root = first_root(tmp_path, program)
    assert (root.rule, "learning rate" in root.fix) == ("grew-over-computations", False)
    assert "its largest magnitude grew from" in root.evidence


def test_batches_that_one_call_loops_over_are_steps(tmp_path: Path) -> None:
    x = tf.reshape(tf.range(32.0) / 16.0 - 1.0, [8, 4])
    weights = tf.Variable(tf.zeros([4, 1]))

    @tf.function
    def train(data: Any) -> Any:
        loss = 0.0
        for batch in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(batch, weights) - 1.0))
            weights.assign_sub(20.0 * tape.gradient(loss, weights))
        return loss

    root = first_root(tmp_path, lambda: train(tf.data.Dataset.from_tensors(x).repeat(60)))
    assert root.rule == "diverged-until-overflow"
    assert "grew from 1 in batch 0 to" in root.evidence
    assert f"finite in the {root.iteration} computations before" in root.evidence


@pytest.mark.parametrize("fetched", ["slot", "variable"])
def test_what_the_optimizer_of_a_session_keeps_is_not_its_result(
    tmp_path: Path, fetched: str
) -> None:
    v1 = tf.compat.v1

    def program() -> None:
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [])
            weights = v1.get_variable("w", initializer=[1.0], use_resource=False)
            optimizer = v1.train.AdamOptimizer(0.1)
            train = optimizer.minimize(tf.reduce_sum(weights * x))
            session.run(v1.global_variables_initializer())
            for step in range(6):
                session.run(train, {x: 1e20 if step == 3 else 1.0})
                session.run(optimizer.get_slot(weights, "v") if fetched == "slot" else weights)

    root = first_root(tmp_path, program)
    assert root.rule == "optimizer-step"
    expected = {
        "slot": "1 +∞ of 1 in what ApplyAdam keeps: w/Adam_1:0",
        "variable": "1 NaN of 1 out of ApplyAdam; w/Adam:0, w/Adam_1:0 left no record",
    }
    assert root.evidence == expected[fetched]


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        (lambda y: y - 5.0 * y**3, "grew-over-iterations"),
        (lambda y: y * 1e6, "grew-over-iterations"),
        (lambda y: tf.where(y > 3.0, y * 3e38, y + 1.0), "product-overflow"),
    ],
    ids=["faster_and_faster", "by_the_same_factor", "at_once"],
)
def test_numbers_of_a_few_iterations_tell_that_they_grow(
    tmp_path: Path, program: Callable[[Any], Any], rule: str
) -> None:
    @tf.function
    def solve(y: Any) -> Any:
        for _ in tf.range(20):
            y = program(y)
        return y

    root = first_root(tmp_path, lambda: solve(tf.constant([1.0, 2.0])))
    assert root.rule == rule
