"""GPflow: a kernel written by hand, whose distance has no gradient where two points are one."""

import gpflow
import numpy as np
import tensorflow as tf


class Exponential(gpflow.kernels.Kernel):
    def __init__(self):
        super().__init__()
        self.lengthscale = gpflow.Parameter(1.0, transform=gpflow.utilities.positive())

    def K(self, X, X2=None):  # noqa: N802, N803
        other = X if X2 is None else X2
        apart = (X[:, None, :] - other[None, :, :]) / self.lengthscale
        distance = tf.sqrt(tf.reduce_sum(apart**2, -1))  # BUG Sqrt|SqrtGrad: 0 on the diagonal
        return tf.exp(-distance)

    def K_diag(self, X):  # noqa: N802, N803
        return tf.ones(tf.shape(X)[:-1], X.dtype)


rng = np.random.default_rng(43)
x = rng.uniform(0, 4, (12, 1))
model = gpflow.models.GPR((x, np.sin(x)), Exponential(), noise_variance=0.1)
with tf.GradientTape() as tape:
    loss = tf.function(model.training_loss)()
gradients = tape.gradient(loss, model.trainable_variables)
print("result loss", float(loss))
print("result gradients", [each.numpy().tolist() for each in gradients])
