"""Sonnet: an MLP with batch normalisation and an LSTM core, trained by its own optimizers."""

import sonnet as snt
import tensorflow as tf

tf.random.set_seed(50)
x = tf.random.stateless_normal([64, 6, 5], seed=(1, 1))
y = tf.reduce_sum(x[:, :, 0], axis=1, keepdims=True)
mlp = snt.Sequential([snt.Linear(12), tf.nn.relu, snt.Linear(8)])
norm = snt.BatchNorm(create_scale=True, create_offset=True)
core = snt.LSTM(8)
head = snt.Linear(1)
optimizer = snt.optimizers.Adam(0.01)


@tf.function
def step():
    with tf.GradientTape() as tape:
        hidden = norm(snt.BatchApply(mlp)(x), is_training=True)
        outputs, _ = snt.static_unroll(
            core, tf.transpose(hidden, [1, 0, 2]), core.initial_state(64)
        )
        loss = tf.reduce_mean(tf.square(head(outputs[-1]) - y))
    variables = [*mlp.trainable_variables, *norm.trainable_variables]
    variables += [*core.trainable_variables, *head.trainable_variables]
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
    optimizer.apply(gradients, variables)
    return loss


print("result losses", [float(step()) for _ in range(8)])
