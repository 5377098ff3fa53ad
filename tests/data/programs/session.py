"""A TensorFlow 1 graph in a session: traces, and nothing on the execution timeline."""

import tensorflow as tf


def main():
    tf1 = tf.compat.v1
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [2], name="x")
        y = tf.math.log(x, name="log") * 2.0
        weight = tf1.get_variable("weight", [2], initializer=tf1.ones_initializer())
        update = tf1.assign_add(weight, y)
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            for value in ([1.0, 2.0], [1.0, 0.0]):
                session.run(update, {x: value})


if __name__ == "__main__":
    main()
