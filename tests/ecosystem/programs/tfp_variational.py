"""TFP: variational inference with a surrogate of transformed normals."""

import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras

tfd, tfb = tfp.distributions, tfp.bijectors
tf.random.set_seed(33)
x = tf.random.stateless_normal([50, 2], seed=(1, 1))
y = x @ tf.constant([[1.0], [-2.0]]) + 0.3 * tf.random.stateless_normal([50, 1], seed=(1, 2))


def log_prob(weights, noise):
    prior = tf.reduce_sum(tfd.Normal(0.0, 2.0).log_prob(weights), -1)
    prior += tfd.HalfNormal(1.0).log_prob(noise)
    likelihood = tfd.Normal(tf.linalg.matvec(x, weights), noise[..., None])
    return prior + tf.reduce_sum(likelihood.log_prob(y[:, 0]), -1)


surrogate = tfd.JointDistributionSequential(
    [
        tfd.Independent(
            tfd.Normal(
                tf.Variable(tf.zeros(2)),
                tfp.util.TransformedVariable(tf.ones(2), tfb.Softplus()),
            ),
            1,
        ),
        tfd.LogNormal(tf.Variable(0.0), tfp.util.TransformedVariable(0.5, tfb.Softplus())),
    ]
)
losses = tfp.vi.fit_surrogate_posterior(
    log_prob,
    surrogate,
    optimizer=tf_keras.optimizers.legacy.Adam(0.1),
    num_steps=60,
    sample_size=4,
    seed=(5, 6),
)
print("result losses", losses.numpy().tolist())
print("result weights", surrogate.model[0].mean().numpy().tolist())
