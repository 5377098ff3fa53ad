"""What the program leaves out again does no harm, in eager code and in a graph alike."""

from __future__ import annotations

import contextlib
import inspect
import operator
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tests.diagnosis import idioms  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tfdbg_tui.diagnosis.report.findings import Report


@contextlib.contextmanager
def recorded(directory: Path) -> Iterator[None]:
    """Records what runs inside."""
    tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1)
    try:
        yield
    finally:
        tfdbg_tui.disable_dump_debug_info()


def lines_of_trouble(program: Callable[[], Any], directory: Path) -> list[set[int]]:
    """Returns the lines that are reported of a program as it is, and of it as a `tf.function`."""
    found = []
    for name, function in (("eager", program), ("graph", tf.function(program))):
        logdir = directory / program.__name__ / name
        with recorded(logdir):
            function()
        report = diagnose(open_run(logdir))
        found.append({f.location.line if f.location else 0 for f in report.roots + report.suspects})
    return found


def test_what_is_left_out_again_is_harmless(tmp_path: Path) -> None:
    assert len(idioms.HEALTHY) > 50
    found = {program.__name__: lines_of_trouble(program, tmp_path) for program in idioms.HEALTHY}
    assert {name: lines for name, lines in found.items() if any(lines)} == {}


def test_what_is_not_left_out_is_found_in_the_same_line(tmp_path: Path) -> None:
    assert len(idioms.SICK) > 30
    found = {program.__name__: lines_of_trouble(program, tmp_path) for program in idioms.SICK}
    unlike = {name: lines for name, lines in found.items() if not lines[0] or lines[0] != lines[1]}
    assert unlike == {}


def likelihood(part: float) -> Any:
    return tf.reduce_mean(-tf.math.log(tf.constant([0.5, part])))


def rising(part: float) -> Any:
    return tf.reduce_mean(tf.exp(tf.constant([1.0, 1.0 / (part + 1e-3)])))


def keep_by_comparing(loss: Any, best: Any) -> Any:
    return loss if loss < best else best


READS: tuple[Callable[[Any], object], ...] = (float, str, operator.methodcaller("numpy"))


def unread(loss: Any) -> None:
    pass


@pytest.mark.parametrize("keep", [keep_by_comparing, tf.minimum])
@pytest.mark.parametrize("loss_of", [likelihood, rising])
def test_a_bad_loss_is_told_that_python_shows_beside_the_best_one(
    loss_of: Callable[[float], Any], keep: Callable[[Any, Any], Any], tmp_path: Path
) -> None:
    roots = {}
    for number, show in enumerate((*READS, unread)):
        best = tf.constant(1e9)
        with recorded(tmp_path / str(number)):
            for part in (0.3, 0.0):
                loss = loss_of(part)
                best = keep(loss, best)
                show(loss)
        report = diagnose(open_run(tmp_path / str(number)))
        roots[number] = [root.op_type for root in report.roots]
    shown = [roots.pop(number) for number, _ in enumerate(READS)]
    assert shown == [["Log" if loss_of is likelihood else "Exp"]] * len(READS)
    assert list(roots.values()) == [[]]


def test_a_bad_loss_is_told_that_python_shows_where_a_variable_keeps_the_best_one(
    tmp_path: Path,
) -> None:
    with recorded(tmp_path):
        best = tf.Variable(1e9)
        for part in (0.3, 0.0, 0.0):
            loss = likelihood(part)
            best.assign(tf.minimum(loss, best))
            assert np.isinf(float(loss)) == (part == 0.0)
    assert [root.op_type for root in diagnose(open_run(tmp_path)).roots] == ["Log"]


CUT_OFF: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (tf.math.log, lambda scores: tf.maximum(scores, -50.0)),
    (lambda counts: 1.0 + tf.math.log(counts), lambda weights: tf.maximum(0.0, weights)),
    (lambda x: tf.exp(99.0 - x), lambda perplexity: tf.minimum(perplexity, tf.constant(1e4))),
    (lambda x: tf.exp(99.0 - x), lambda factor: tf.clip_by_value(factor, 0.0, 10.0)),
)


@pytest.mark.parametrize(("make", "cut_off"), CUT_OFF)
def test_bad_values_do_no_harm_that_python_shows_and_a_constant_replaces(
    make: Callable[[Any], Any], cut_off: Callable[[Any], Any], tmp_path: Path
) -> None:
    with recorded(tmp_path):
        made = make(tf.constant([0.0, 1.0]))
        assert "inf" in str(made)
        assert np.isfinite(cut_off(made).numpy()).all()
    assert not diagnose(open_run(tmp_path)).roots


def test_a_bad_array_is_told_that_python_shows_though_parts_of_it_are_good(tmp_path: Path) -> None:
    with recorded(tmp_path):
        scores = tf.math.log(tf.constant([0.0, 1.0]))
        assert "inf" in str(scores)
        assert tf.exp(scores[1]) == 1.0
    assert [root.op_type for root in diagnose(open_run(tmp_path)).roots] == ["Log"]


def test_a_ratio_of_zero_does_no_harm_that_a_sampler_shows(tmp_path: Path) -> None:
    with recorded(tmp_path):
        for probability in (0.5, 0.0):
            ratio = tf.math.log(tf.constant(probability)) - tf.math.log(tf.constant(0.5))
            print(ratio.numpy())
            if tf.math.log(tf.constant(0.3)) < ratio:
                assert probability
    assert not diagnose(open_run(tmp_path)).roots


def test_the_smallest_of_nothing_does_no_harm_that_python_shows(tmp_path: Path) -> None:
    with recorded(tmp_path):
        for least in (0.0, 4.0, 9.0):
            found = tf.constant([3.0, 5.0, 2.0])
            smallest = tf.reduce_min(tf.boolean_mask(found, found > least))
            assert float(smallest) > 1.0
            assert smallest > 1.0
    assert not diagnose(open_run(tmp_path)).roots


def test_bad_values_do_no_harm_that_python_shows_and_was_given(tmp_path: Path) -> None:
    with recorded(tmp_path):
        for distance in tf.data.Dataset.from_tensor_slices([1.0, np.inf]):
            assert tf.minimum(distance, 10.0) <= distance.numpy()
    assert not diagnose(open_run(tmp_path)).roots


def applied(gradient: Any) -> bool:
    return True


def scaled_training(
    directory: Path, ask: Callable[[Any], Any], overflows: Callable[[int], bool]
) -> Report:
    """Returns the report of an eager training in float16; `ask` says if a step counts."""
    tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1)
    try:
        w = tf.Variable(tf.ones([8, 4]))
        x = tf.ones([6, 8])
        for step in range(20):
            with tf.GradientTape() as tape:
                y = tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16))
                loss = tf.reduce_mean(tf.cast(y, tf.float32) ** 2)
                scaled = loss * (1e6 if overflows(step) else 8.0)
            gradient = tape.gradient(scaled, w)
            if ask(gradient):
                w.assign_sub(gradient * 1e-4)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return diagnose(open_run(str(directory)))


def by_numpy(gradient: Any) -> Any:
    return np.isfinite(gradient).all()


def by_tensorflow(gradient: Any) -> Any:
    return tf.reduce_all(tf.math.is_finite(gradient))


def test_gradients_that_python_leaves_out_are_harmless(tmp_path: Path) -> None:
    first = scaled_training(tmp_path / "first", by_numpy, lambda step: step < 3)
    assert (first.verdict, len(first.roots)) == ("clean", 0)
    never = scaled_training(tmp_path / "never", applied, lambda step: step < 3)
    assert (never.verdict, len(never.roots)) == ("bad", 1)
    all_along = scaled_training(tmp_path / "all", by_numpy, lambda step: step > 0)
    assert all_along.verdict == "bad"  # nothing shows that Python has looked


def test_steps_that_are_skipped_eagerly_are_counted(tmp_path: Path) -> None:
    report = scaled_training(tmp_path, by_tensorflow, lambda step: step % 4 > 0)
    (suspect,) = report.suspects
    assert suspect.rule == "most-steps-skipped"
    assert "not finite in 15 of 20 steps" in suspect.evidence


def test_without_stacks_a_loss_is_not_taken_for_a_gradient_that_no_tape_gives(
    tmp_path: Path,
) -> None:
    with recorded(tmp_path):
        w = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_sum(w * w) + tf.reduce_sum(tf.math.log(tf.constant([0.0, 1.0])))
        tape.gradient(loss, w)
    assert diagnose(open_run(tmp_path)).verdict == "bad"
    (stacks,) = tmp_path.glob("*.stack_frames")
    stacks.unlink()
    assert diagnose(open_run(tmp_path)).verdict == "bad"


def test_what_is_only_printed_is_not_blamed_for_what_comes_from_python_later(
    tmp_path: Path,
) -> None:
    with recorded(tmp_path):
        tf.reduce_mean(tf.zeros([0, 3])).numpy()
        tf.function(lambda batch: tf.reduce_sum(batch * 2.0))(np.array([1.0, np.nan], np.float32))
    roots = diagnose(open_run(tmp_path)).roots
    assert [root.op_type for root in roots] == ["Mean", "Placeholder"]


def test_nan_of_a_power_is_no_overflow(tmp_path: Path) -> None:
    with recorded(tmp_path):
        half = tf.cast(tf.fill([100], 700.0), tf.float16)
        tf.reduce_sum(half * half)
        tf.pow(tf.constant([-8.0, 8.0]), 1 / 3)
    roots = diagnose(open_run(tmp_path)).roots
    assert [root.op_type for root in roots] == ["Mul", "Pow"]


def test_all_that_comes_in_bad_is_told(tmp_path: Path) -> None:
    @tf.function
    def distance(x: Any, y: Any) -> Any:
        return tf.reduce_sum(tf.square(tf.reduce_sum(x, 1) - y))

    x, y = np.ones((4, 3), np.float32), np.ones(4, np.float32)
    x[2, 1] = y[1] = np.nan
    with recorded(tmp_path):
        distance(tf.constant(x), tf.constant(y))
    (root,) = diagnose(open_run(tmp_path)).roots
    assert root.op_name == "x"
    assert "so came y:0" in root.evidence


def test_what_came_in_is_no_consequence_of_what_is_computed_later(tmp_path: Path) -> None:
    @tf.function
    def both(x: Any, y: Any) -> Any:
        return tf.reduce_sum(x), tf.reduce_sum(tf.math.log(y))

    with recorded(tmp_path):
        both(tf.constant([1.0, np.nan]), tf.constant([-1.0, 1.0]))
    roots = diagnose(open_run(tmp_path)).roots
    assert {root.op_type for root in roots} == {"Placeholder", "Log"}


def test_the_first_overflow_of_a_loop_is_told_whatever_its_variable_is_called(
    tmp_path: Path,
) -> None:
    @tf.function
    def series(x: Any) -> Any:
        power, factor, total = x, tf.constant(1.0), x * 0.0
        for _ in tf.range(60):
            total += power / factor
            power = tf.square(power)
            factor *= 10.0
        return total

    with recorded(tmp_path):
        series(tf.constant([1.0, 20.0]))
    (root,) = diagnose(open_run(tmp_path)).roots
    assert root.op_type == "Square"


def test_a_variable_that_python_made_bad_is_told_with_its_line(tmp_path: Path) -> None:
    weight = tf.Variable([1.0, 1.0])
    total = tf.function(lambda: tf.reduce_sum(weight))
    with recorded(tmp_path):
        weight.assign([1.0, np.nan])
        total()
    (root,) = diagnose(open_run(tmp_path)).roots
    assert "assigned at test_idioms.py:" in root.evidence


def test_an_element_that_python_made_bad_is_told_with_its_line(tmp_path: Path) -> None:
    weight = tf.Variable([1.0, 1.0, 1.0])
    total = tf.function(lambda: tf.reduce_sum(weight))
    with recorded(tmp_path):
        weight[1:2].assign([np.nan])
        line = inspect.currentframe().f_lineno - 1
        weight.scatter_nd_update([[0]], [2.0])
        total()
    (root,) = diagnose(open_run(tmp_path)).roots
    assert f"assigned at test_idioms.py:{line}" in root.evidence


def test_a_variable_that_an_eager_op_reads_by_itself_is_told_from_an_array(tmp_path: Path) -> None:
    bad, other = np.array([5.0, np.nan], np.float32), np.array([np.nan, 1.0], np.float32)
    variable = tf.Variable([1.0, 1.0])
    for name, assigned, taken, op_type in (
        ("variable", [bad], variable, "AssignVariableOp"),
        ("array", [bad], other, "Sqrt"),
        ("array, as the variable was", [bad, [1.0, 2.0]], bad, "Sqrt"),
    ):
        with recorded(tmp_path / name):
            for value in assigned:
                variable.assign(value)
            tf.sqrt(taken)
        (root,) = diagnose(open_run(tmp_path / name)).roots
        assert (root.op_type, root.rule == "bad-array") == (op_type, taken is not variable), name


def test_a_line_that_is_part_of_several_functions_is_one_root(tmp_path: Path) -> None:
    def masked(x: Any) -> Any:
        return tf.reduce_sum(x) / tf.reduce_sum(x * 0.0)

    train, test = tf.function(lambda x: masked(x) + 1.0), tf.function(lambda x: masked(x) * 2.0)
    with recorded(tmp_path):
        test(tf.constant([1.0, 2.0]))
        train(tf.constant([1.0, 3.0]))
    (root,) = diagnose(open_run(tmp_path)).roots
    assert root.op_type == "RealDiv"


def test_what_a_python_function_has_computed_is_what_it_gives(tmp_path: Path) -> None:
    @tf.function
    def scaled(x: Any) -> Any:
        return tf.numpy_function(lambda y: tf.math.log(y).numpy(), [x], tf.float32) * 2.0

    with recorded(tmp_path):
        scaled(tf.constant([0.0, 1.0]))
    (root,) = diagnose(open_run(tmp_path)).roots
    assert root.op_type == "Log"


def test_means_of_nothing_in_one_line_are_one_bug(tmp_path: Path) -> None:
    @tf.function
    def loss(x: Any, classes: Any) -> Any:
        means = [tf.reduce_mean(tf.boolean_mask(x, classes == number)) for number in range(4)]
        return tf.add_n(means)

    with recorded(tmp_path):
        loss(tf.constant([1.0, 2.0]), tf.constant([0, 1]))
    (root,) = diagnose(open_run(tmp_path)).roots
    assert root.op_type == "Mean"


def several_lines_of_one_tensor() -> Any:
    x = tf.constant([3.0, 0.0, -8.0]) * 1.0
    power = tf.pow(x, 1 / 3)
    root = tf.sqrt(x)
    ratio = 1.0 / x
    return power, root, ratio


def one_line_of_one_tensor_and_its_gradient() -> Any:
    x = tf.constant([3.0, 0.0]) * 1.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.log(x) + 1.0 / x
    return y, tape.gradient(y, x)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (several_lines_of_one_tensor, [["Pow"], ["Sqrt"], ["RealDiv"]]),
        (one_line_of_one_tensor_and_its_gradient, [["Log", "RealDiv"]]),
    ],
)
@pytest.mark.parametrize("in_graph", [False, True])
def test_each_line_is_told_of_what_several_make_of_one_tensor(
    tmp_path: Path, program: Callable[[], Any], wanted: list[list[str]], in_graph: bool
) -> None:
    with recorded(tmp_path):
        (tf.function(program) if in_graph else program)()
    roots = diagnose(open_run(tmp_path)).roots
    assert len(roots) == len(wanted)
    assert all(root.op_type in types for root, types in zip(roots, wanted, strict=True))
    assert {root.certainty for root in roots} == {"proved"}


def of_data(number: int, place: int) -> Any:
    data = np.ones(number, np.float32)
    data[place] = np.nan
    return data


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_data_that_was_there_before_a_bug_is_no_consequence_of_it(
    tmp_path: Path, same: bool, in_graph: bool
) -> None:
    def total(x: Any) -> Any:
        return tf.reduce_sum(x * 2.0)

    def mean(y: Any) -> Any:
        return tf.reduce_mean(y + 1.0)

    if in_graph:
        total, mean = map(tf.function, (total, mean))
    with recorded(tmp_path):
        first = tf.constant(of_data(3, 1))
        second = first if same else tf.constant(of_data(5, 2))
        total(first)
        mean(second)
    assert len(diagnose(open_run(tmp_path)).roots) == (1 if same else 2)


def test_what_python_made_of_a_result_may_be_bad_because_of_it(tmp_path: Path) -> None:
    act, value = tf.function(lambda x: tf.tanh(tf.reduce_sum(x))), tf.function(tf.reduce_mean)
    with recorded(tmp_path):
        action = act(tf.constant(of_data(3, 1))).numpy()
        value(np.array([1.0, action], np.float32))
    assert len(diagnose(open_run(tmp_path)).roots) == 1


def test_an_output_that_nothing_takes_beside_one_that_is_taken_is_harmless(tmp_path: Path) -> None:
    def taken(slot: int) -> Callable[[], Any]:
        def program() -> Any:
            parts = tf.unstack(tf.math.log(tf.constant([[0.0, 1.0], [1.0, 1.0]])))
            return parts[slot] + 1.0

        return program

    for slot, verdict in ((0, "bad"), (1, "clean")):
        with recorded(tmp_path / str(slot)):
            tf.function(taken(slot))()
        assert diagnose(open_run(tmp_path / str(slot))).verdict == verdict
