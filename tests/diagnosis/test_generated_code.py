"""Which line of the user's a line of AutoGraph's code was made of, by their texts."""

from __future__ import annotations

import pytest

from tfdbg_tui.diagnosis.generated_code import origin_of

PROGRAM = """
@tf.function
def evaluate(x):
    def replica(x):
        y = tf.math.log(x * w)
        return tf.reduce_sum(y)
    return strategy.run(replica, args=(x,))

@tf.function
def train(x):
    def replica(x):
        if decays:
            y = tf.math.log(x * w)
        else:
            y = tf.math.log(x * w)
        w.assign_sub(y)
    strategy.run(replica, args=(x,))

def train(x):
    pass

@tf.function
def inline(x):
    return strategy.run(lambda x: tf.sqrt(x), args=(x,))
"""
GENERATED = """
def outer_factory():
    def inner_factory(ag__):
        def tf__train(x):
            with ag__.FunctionScope('train', 'fscope', ag__.STD) as fscope:
                def replica(x):
                    def if_body():
                        nonlocal y
                        y = ag__.converted_call(ag__.ld(tf).math.log, (ag__.ld(x) * ag__.ld(w),), None, fscope)
                    def else_body():
                        nonlocal y
                        y = ag__.converted_call(ag__.ld(tf).math.log, (ag__.ld(x) * ag__.ld(w),), None, fscope)
                    ag__.if_stmt(ag__.ld(decays), if_body, else_body, get_state, set_state, ('y',), 1)
                    ag__.converted_call(ag__.ld(w).assign_sub, (ag__.ld(y),), None, fscope)
                ag__.converted_call(ag__.ld(strategy).run, (ag__.ld(replica),), dict(args=(ag__.ld(x),)), fscope)
        return tf__train
    return inner_factory
"""  # noqa: E501  # as AutoGraph writes it


def lines_of(text: str) -> tuple[str, ...]:
    return tuple(text.splitlines())


@pytest.mark.parametrize(("generated", "original"), [(9, 13), (12, 15), (14, 16), (15, 17)])
def test_the_line_of_the_function_that_was_converted(generated: int, original: int) -> None:
    found = origin_of(lines_of(GENERATED), generated, lines_of(PROGRAM))
    assert found is not None
    assert (found.line, found.function) == (original, "train" if original == 17 else "replica")


def test_a_function_that_is_another_files_is_not_found() -> None:
    other = lines_of(PROGRAM.replace("def train", "def test"))
    assert origin_of(lines_of(GENERATED), 9, other) is None
    assert origin_of(lines_of(GENERATED), 5, lines_of(PROGRAM)) is None


def test_what_is_written_inline_is_found_by_the_function_around_it() -> None:
    generated = lines_of(
        "def tf__inline(x):\n"
        "    ag__.converted_call(ag__.ld(strategy).run, (ag__.autograph_artifact(lambda x: "
        "ag__.converted_call(ag__.ld(tf).sqrt, (ag__.ld(x),), None, fscope)),), "
        "dict(args=(ag__.ld(x),)), fscope)\n"
    )
    found = origin_of(generated, 2, lines_of(PROGRAM))
    assert found is not None
    assert (found.line, found.function) == (24, "inline")
