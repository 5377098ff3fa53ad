"""TFP: maximum likelihood of a log-normal regression; one of the incomes is 0."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
years = tf.linspace(0.0, 1.0, 32)
incomes = tf.exp(1.0 + 0.5 * years + 0.2 * tf.random.stateless_normal([32], seed=(3, 3)))
incomes = tf.tensor_scatter_nd_update(incomes, [[17]], [0.0])
weights = tf.Variable([0.0, 0.0])
spread = tfp.util.TransformedVariable(1.0, tfp.bijectors.Softplus())


@tf.function
def step():
    with tf.GradientTape() as tape:
        model = tfd.LogNormal(weights[0] + weights[1] * years, spread)
        likelihood = model.log_prob(incomes)  # BUG Log|Log1p: the logarithm of an income of 0
        loss = -tf.reduce_mean(likelihood)
    gradient = tape.gradient(loss, weights)
    weights.assign_sub(0.05 * gradient)
    return loss


print("result losses", [float(step()) for _ in range(4)])
print("result weights", weights.numpy().tolist())
