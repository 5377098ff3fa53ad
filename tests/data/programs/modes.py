"""A few eager ops and one function, with the kinds of tensors that a reader can trip over."""

import numpy as np
import tensorflow as tf

state = tf.Variable(tf.zeros([3]), name="state")


@tf.function
def normalise(x):
    total = tf.reduce_sum(x)
    state.assign_add(x / total)
    return tf.math.log(x / total), total


@tf.function
def narrow(x):
    half = tf.cast(x, tf.float16) * tf.constant(1000.0, tf.float16)
    brain = tf.cast(x, tf.bfloat16) * tf.constant(3e38, tf.bfloat16)
    return half * half, brain * brain


def main():
    x = tf.constant([1.0, 0.0, 3.0])
    for _ in range(3):
        logs, _total = normalise(x)  # log(0) = -∞
        x = tf.abs(logs * 0.5)
    squares, _ = narrow(tf.constant([1.0, 2.0, 0.5]))
    tf.cast(squares, tf.float32) + 1.0
    tf.math.top_k(tf.constant([3.0, np.nan, 1.0]), k=2)  # float values, int32 indices
    tf.unique(tf.constant([1.0, 1.0, 2.0]))
    tf.strings.join(["a", "b"])
    tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=4, element_dtype=tf.float32)
    tf.complex(tf.constant([0.0, np.inf]), tf.constant([1.0, 2.0])) * 2.0
    tf.zeros([0, 3]) + 1.0
    tf.ones([1, 1, 2, 1, 1, 1, 2, 1]) * 2.0
    try:  # noqa: SIM105
        tf.linalg.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    except tf.errors.InvalidArgumentError:
        pass


if __name__ == "__main__":
    main()
