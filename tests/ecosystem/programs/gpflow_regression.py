"""GPflow: exact regression, trained with SciPy's L-BFGS-B."""

import gpflow
import numpy as np

rng = np.random.default_rng(40)
x = np.sort(rng.uniform(0, 6, (25, 1)), axis=0)
y = np.sin(x) + 0.1 * rng.normal(size=(25, 1))
kernel = gpflow.kernels.SquaredExponential() + gpflow.kernels.Linear(variance=0.1)
model = gpflow.models.GPR((x, y), kernel=kernel, noise_variance=0.1)
optimizer = gpflow.optimizers.Scipy()
found = optimizer.minimize(model.training_loss, model.trainable_variables, options={"maxiter": 15})
print("result loss", float(found.fun))
mean, variance = model.predict_y(np.linspace(0, 7, 5)[:, None])
print("result mean", mean.numpy().ravel().tolist())
print("result variance", variance.numpy().ravel().tolist())
