"""DeepXDE: a physics-informed network for Poisson's equation."""

import os

os.environ["DDE_BACKEND"] = "tensorflow"

import deepxde as dde
import keras
import numpy as np
import tensorflow as tf

dde.config.set_random_seed(60)
dde.config.disable_xla_jit()


def equation(x, y):
    return -dde.grad.hessian(y, x) - np.pi**2 * tf.sin(np.pi * x)


geometry = dde.geometry.Interval(-1, 1)
edge = dde.icbc.DirichletBC(geometry, lambda x: np.sin(np.pi * x), lambda x, on: on)
data = dde.data.PDE(
    geometry, equation, edge, 16, 2, solution=lambda x: np.sin(np.pi * x), num_test=30
)
net = dde.nn.FNN([1, 16, 16, 1], "tanh", keras.initializers.GlorotUniform(seed=1))
model = dde.Model(data, net)
model.compile("adam", lr=0.001, metrics=["l2 relative error"])
losses, state = model.train(iterations=40, display_every=20, verbose=0)
print("result losses", [each.tolist() for each in np.array(losses.loss_train)])
print("result predict", model.predict(np.linspace(-1, 1, 5)[:, None]).ravel().tolist())
