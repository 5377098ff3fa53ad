"""TFP: a random walk over a standard deviation that nothing keeps positive."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
data = tfd.Normal(0.5, 0.3).sample(30, seed=2)


def log_prob(mean, scale):
    squares = tf.reduce_sum(tf.square((data - mean) / scale))
    return -0.5 * squares - 30.0 * tf.math.log(scale)  # BUG Log: the walk leads below 0


@tf.function
def sample():
    return tfp.mcmc.sample_chain(
        num_results=30,
        current_state=[tf.constant(0.0), tf.constant(0.4)],
        kernel=tfp.mcmc.RandomWalkMetropolis(log_prob, tfp.mcmc.random_walk_normal_fn(0.5)),
        trace_fn=lambda _, results: results.proposed_results.target_log_prob,
        seed=(7, 8),
    )


(mean, scale), proposed = sample()
print("result mean", mean.numpy().tolist())
print("result proposed", proposed.numpy().tolist())
print("result bad", int(tf.reduce_sum(tf.cast(tf.math.is_nan(proposed), tf.int32))))
