"""DeepXDE: a nonlinear diffusion whose flow is the root of a solution that begins at 0."""

import os

os.environ["DDE_BACKEND"] = "tensorflow"

import deepxde as dde
import keras
import numpy as np
import tensorflow as tf

dde.config.set_random_seed(61)
dde.config.disable_xla_jit()


def equation(x, y):
    flow = tf.sqrt(y)  # BUG Sqrt|SqrtGrad: the network is 0 at 0
    return dde.grad.hessian(y, x) - flow + tf.cos(x)


geometry = dde.geometry.Interval(0, 1)
edge = dde.icbc.DirichletBC(geometry, lambda x: 0 * x, lambda x, on: on)
data = dde.data.PDE(geometry, equation, edge, 12, 2)
model = dde.Model(data, dde.nn.FNN([1, 12, 1], "tanh", keras.initializers.GlorotNormal(seed=1)))
model.compile("adam", lr=0.01)
losses, state = model.train(iterations=10, display_every=5, verbose=0)
print("result losses", [np.array(each).tolist() for each in losses.loss_train])
