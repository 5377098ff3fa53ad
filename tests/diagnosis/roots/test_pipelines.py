"""Where bad values of data pipelines go: which of several an element is of, and what keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def dataset(function: Callable[[Any], Any], *numbers: float) -> Any:
    return tf.data.Dataset.from_tensor_slices(list(numbers)).map(function)


def logs() -> Any:
    return dataset(lambda x: tf.math.log(x), 1.0, 0.0).batch(2)


def reciprocals() -> Any:
    return dataset(lambda x: 1.0 / x, 1.0, 0.0).batch(2)


def masked_logs() -> Any:
    return dataset(lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0), 1.0, -1.0).batch(2)


def masked_in_one(_: Path) -> None:
    next(iter(masked_logs()))
    next(iter(reciprocals()))


def replaced_after_one(_: Path) -> None:
    x = next(iter(logs()))
    tf.where(tf.math.is_inf(x), 0.0, x)
    next(iter(reciprocals()))


def bad_in_both(_: Path) -> None:
    next(iter(logs()))
    next(iter(reciprocals()))


def bad_before(_: Path) -> None:
    tf.function(lambda x: tf.math.rsqrt(x))(tf.zeros([2]))
    next(iter(logs()))


def saved(root: Path) -> None:
    logs().map(lambda x: x * 2.0).save(str(root / "saved"))


def kept_in_a_file(root: Path) -> None:
    logs().cache(str(root / "kept")).reduce(np.int64(0), lambda count, _: count + 1)


def as_integers(_: Path) -> None:
    logs().unbatch().reduce(np.int64(0), lambda total, x: total + tf.cast(x, tf.int64))


def as_text(_: Path) -> None:
    tf.function(lambda x: tf.io.serialize_tensor(tf.math.log(x)))(tf.zeros([2]))


def as_bits(_: Path) -> None:
    tf.function(lambda x: tf.bitcast(tf.math.log(x), tf.int32))(tf.zeros([2]))


def finite(x: Any) -> Any:
    return tf.where(tf.math.is_finite(x), x, 0.0)


def masked_by_a_loop(_: Path) -> None:
    @tf.function
    def total(numbers: Any) -> Any:
        found = tf.constant(0.0)
        for x in numbers:
            found += tf.reduce_sum(finite(x))
        return found

    total(logs())


def made_into_a_dataset(_: Path) -> None:
    numbers = tf.math.log(tf.constant([1.0, 0.0]))
    next(iter(tf.data.Dataset.from_tensor_slices(numbers).batch(2)))


def made_into_a_dataset_and_mapped(_: Path) -> None:
    numbers = tf.function(lambda x: tf.math.log(x))(tf.constant([0.0, 1.0]))
    next(iter(tf.data.Dataset.from_tensor_slices(numbers).map(lambda x: x * 2.0)))


def made_into_a_dataset_and_masked(_: Path) -> None:
    numbers = tf.math.log(tf.constant([0.0, 1.0]))
    next(iter(tf.data.Dataset.from_tensor_slices(numbers).map(finite)))


def masked_in_a_list_before(_: Path) -> None:
    @tf.function
    def total(x: Any) -> Any:
        logs = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            logs = logs.write(i, tf.math.log(x[i]))
        return tf.reduce_sum(tf.where(x > 0.0, logs.stack(), 0.0))

    total(tf.constant([0.0, 1.0, 2.0]))
    missing = tf.TensorSpec([], tf.float32)
    next(iter(tf.data.Dataset.from_generator(lambda: iter([np.nan]), output_signature=missing)))


def masked_when_reduced(_: Path) -> None:
    logs().unbatch().reduce(0.0, lambda total, x: total + finite(x))


def masked_and_saved(root: Path) -> None:
    logs().map(finite).save(str(root / "saved"))


def counted(_: Path) -> None:
    logs().prefetch(1).reduce(np.int64(0), lambda count, _: count + 1)


def counted_by_python(_: Path) -> None:
    number = 0
    for _number, (_x, _y) in enumerate(dataset(lambda x: (tf.math.log(x), x), 1.0, 0.0)):
        number += 1
    for _x, y in dataset(lambda x: (tf.math.log(x), x), 1.0, 0.0):
        number += int(y.numpy())


def read_by_python(_: Path) -> None:
    number = 0
    for x, _y in dataset(lambda x: (tf.math.log(x), x), 1.0, 0.0):
        number += x.numpy() < 5.0


def checked(x: Any) -> Any:
    return tf.debugging.check_numerics(tf.math.log(x), "not finite")


def dropped(_: Path) -> None:
    list(dataset(checked, 1.0, 0.0).batch(1).ignore_errors())


def dropped_in_one_of_two_ways(_: Path) -> None:
    numbers = dataset(checked, 1.0, 0.0)
    list(numbers.ignore_errors())
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(numbers)


def column_not_used(_: Path) -> None:
    both = dataset(lambda x: (x, tf.math.log(x)), 1.0, 0.0)
    both.reduce(0.0, lambda total, columns: total + columns[0])


def column_used(_: Path) -> None:
    both = dataset(lambda x: (x, tf.math.log(x)), 1.0, 0.0)
    both.reduce(0.0, lambda total, columns: total + columns[1])


def column_not_used_in_a_function(_: Path) -> None:
    @tf.function
    def total(columns: Any) -> Any:
        found = tf.constant(0.0)
        for x, _ in columns:
            found += x
        return found

    total(dataset(lambda x: (x, tf.math.log(x)), 1.0, 0.0))


def element_not_used_in_a_function(_: Path) -> None:
    @tf.function
    def double(iterator: Any) -> Any:
        return next(iterator)[0] * 2.0

    iterator = iter(dataset(lambda x: (x, tf.math.log(x)), 1.0, 0.0))
    double(iterator)
    double(iterator)


def skipped(_: Path) -> None:
    logs().unbatch().take(1).reduce(0.0, lambda total, x: total + x)


def saved_and_another_one_iterated(root: Path) -> None:
    logs().save(str(root / "saved"))
    for x in dataset(lambda x: x * 2.0, 1.0):
        tf.reduce_sum(x)


def filtered_and_saved(root: Path) -> None:
    finite = logs().unbatch().filter(lambda x: tf.math.is_finite(x))
    finite.save(str(root / "saved"))


def let_pass_and_saved(root: Path) -> None:
    logs().unbatch().filter(lambda x: x < 5.0).save(str(root / "saved"))


def other_column_filtered_and_saved(root: Path) -> None:
    both = dataset(lambda x: (x, tf.math.log(x)), 1.0, 0.0).map(lambda x, y: (y, x))
    both.filter(lambda _, x: tf.math.is_finite(x)).save(str(root / "saved"))


def ended_by_nan(_: Path) -> None:
    positive = dataset(lambda x: tf.math.log(x), 1.0, -1.0, 2.0).take_while(lambda x: x > -5.0)
    positive.reduce(0.0, lambda total, x: total + x)


def nan_filtered(_: Path) -> None:
    positive = dataset(lambda x: tf.math.log(x), 1.0, -1.0).filter(lambda x: x > -5.0)
    positive.reduce(0.0, lambda total, x: total + x)


def saved_beside_a_function_that_seems_to_reduce(root: Path) -> None:
    @tf.function
    def reduce_numbers(x: Any) -> Any:
        return tf.where(x > 0.0, tf.math.log(x), 0.0)

    dataset(lambda x: x + 1.0, 1.0).save(str(root / "other"))
    logs().save(str(root / "saved"))
    reduce_numbers(tf.constant([np.nan, 1.0]))


def scanned(function: Callable[[Any, Any], Any], first: Any = 1.0) -> None:
    numbers = tf.data.Dataset.from_tensor_slices([0.0, 1.0, 2.0]).scan(first, function)
    list(numbers.as_numpy_iterator())


def state_divided_by_an_element(_: Path) -> None:
    scanned(lambda state, x: (state / x, state))


def state_divided_and_given_out(_: Path) -> None:
    scanned(lambda state, x: (state / x,) * 2)


def bad_state_replaced(_: Path) -> None:
    scanned(lambda state, x: (finite(state) + 1.0 / x, x))


def bad_state_after_the_last_element(_: Path) -> None:
    scanned(lambda state, x: (state / (2.0 - x), state))


def bad_first_state(_: Path) -> None:
    scanned(lambda state, x: (state + x, state), np.float32("inf"))


def first_state_made_by_an_op(_: Path) -> None:
    scanned(lambda state, x: (state + x, state), tf.math.log(0.0))


def bad_element_of_a_scan(_: Path) -> None:
    logs().unbatch().scan(1.0, lambda state, x: (finite(state + x), x)).reduce(
        0.0, lambda total, x: total + x
    )


def scanned_in_a_function(_: Path) -> None:
    @tf.function
    def total(x: Any) -> Any:
        found = tf.constant(0.0)
        numbers = tf.data.Dataset.range(3).scan(
            tf.math.log(x), lambda state, i: (state + tf.cast(i, tf.float32), state)
        )
        for number in numbers:
            found += number
        return found

    total(tf.zeros([]))


def reduced_twice(_: Path) -> None:
    numbers = tf.data.Dataset.from_tensor_slices([1.0, 0.0])
    for first in (1.0, 2.0):
        numbers.reduce(first, lambda total, x: total / x)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (masked_in_one, ["RealDiv"]),
        (replaced_after_one, ["RealDiv"]),
        (bad_in_both, ["Log", "RealDiv"]),
        (bad_before, ["Log", "Rsqrt"]),
        (saved, ["Log"]),
        (kept_in_a_file, ["Log"]),
        (as_integers, ["Log"]),
        (as_text, ["Log"]),
        (as_bits, ["Log"]),
        (made_into_a_dataset, ["Log"]),
        (made_into_a_dataset_and_mapped, ["Log"]),
        (made_into_a_dataset_and_masked, []),
        (masked_in_a_list_before, ["PyFunc"]),
        (masked_by_a_loop, []),
        (masked_when_reduced, []),
        (masked_and_saved, []),
        (counted, []),
        (counted_by_python, []),
        (read_by_python, ["Log"]),
        (dropped, []),
        (dropped_in_one_of_two_ways, ["Log"]),
        (column_not_used, []),
        (column_used, ["Log"]),
        (column_not_used_in_a_function, []),
        (element_not_used_in_a_function, []),
        (skipped, []),
        (saved_and_another_one_iterated, ["Log"]),
        (filtered_and_saved, []),
        (let_pass_and_saved, ["Log"]),
        (other_column_filtered_and_saved, ["Log"]),
        (ended_by_nan, ["Log"]),
        (nan_filtered, []),
        (saved_beside_a_function_that_seems_to_reduce, ["Log"]),
        (state_divided_by_an_element, ["RealDiv"]),
        (state_divided_and_given_out, ["RealDiv"]),
        (bad_state_replaced, []),
        (bad_state_after_the_last_element, []),
        (bad_first_state, ["Placeholder"]),
        (first_state_made_by_an_op, ["Log"]),
        (bad_element_of_a_scan, ["Log"]),
        (scanned_in_a_function, ["Log"]),
        (reduced_twice, ["RealDiv"]),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_roots(tmp_path: Path, program: Callable[[Path], None], wanted: list[str]) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "logdir"), "ADAPTIVE", -1)
    try:
        program(tmp_path)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path / "logdir"))
    assert sorted(root.op_type for root in report.roots) == wanted


def test_a_first_state_is_no_data(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        bad_first_state(tmp_path)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    assert [root.rule for root in report.roots] == ["bad-argument"]
