"""TFP optimizers: L-BFGS, BFGS, Nelder-Mead and differential evolution on Rosenbrock's function."""

import tensorflow as tf
import tensorflow_probability as tfp


def rosenbrock(point):
    x, y = point[..., 0], point[..., 1]
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


def with_gradient(point):
    return tfp.math.value_and_gradient(rosenbrock, point)


start = tf.constant([-1.2, 1.0], tf.float64)
found = tfp.optimizer.lbfgs_minimize(with_gradient, start, max_iterations=40)
print("result lbfgs", bool(found.converged), found.position.numpy().tolist())
found = tf.function(lambda: tfp.optimizer.bfgs_minimize(with_gradient, start, max_iterations=40))()
print("result bfgs", bool(found.converged), found.position.numpy().tolist())
found = tfp.optimizer.nelder_mead_minimize(rosenbrock, initial_vertex=start, max_iterations=60)
print("result nelder_mead", found.position.numpy().tolist())
found = tfp.optimizer.differential_evolution_minimize(
    lambda x, y: (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2,
    initial_position=(tf.constant(-1.0), tf.constant(1.0)),
    population_size=20,
    max_iterations=20,
    seed=7,
)
print("result evolution", [part.numpy().tolist() for part in found.position])
root = tfp.math.find_root_chandrupatla(lambda x: x**3 - 2.0, 0.0, 2.0)
print("result root", float(root.estimated_root))
