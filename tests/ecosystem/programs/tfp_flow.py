"""TFP bijectors: a masked autoregressive flow trained by maximum likelihood."""

import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras

tfd, tfb = tfp.distributions, tfp.bijectors
tf_keras.utils.set_random_seed(36)
noise = tf.random.stateless_normal([256, 2], seed=(2, 1))
data = tf.stack([noise[:, 0], noise[:, 0] ** 2 / 4 + 0.3 * noise[:, 1]], axis=-1)
network = tfb.AutoregressiveNetwork(params=2, hidden_units=[16, 16], activation="relu")
flow = tfd.TransformedDistribution(
    tfd.Sample(tfd.Normal(0.0, 1.0), 2),
    tfb.Chain([tfb.MaskedAutoregressiveFlow(network), tfb.Permute([1, 0])]),
)
optimizer = tf_keras.optimizers.legacy.Adam(0.01)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(flow.log_prob(data))
    variables = flow.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


print("result losses", [float(step()) for _ in range(15)])
print("result sample", flow.sample(3, seed=(4, 4)).numpy().tolist())
spline = tfb.RationalQuadraticSpline([1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [1.0, 0.5], range_min=-3.0)
points = tf.linspace(-4.0, 4.0, 7)
print("result spline", spline.forward(points).numpy().tolist())
print("result density", spline.forward_log_det_jacobian(points, event_ndims=0).numpy().tolist())
