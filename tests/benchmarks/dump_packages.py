"""The programs that `bench_dump.py` measures: of packages that stand on TensorFlow.

`pip install 'tfdbg-tui[bench]'` brings the packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dump_programs import Program, normal

if TYPE_CHECKING:
    from collections.abc import Callable


def hmc(bad: bool) -> Callable[[], object]:
    """TFP: 20 samples by Hamiltonian Monte Carlo with an adapted step size."""
    import tensorflow as tf
    import tensorflow_probability as tfp

    tfd, tfb = tfp.distributions, tfp.bijectors
    data = normal([40], bad)

    def log_prob(mean: Any, scale: Any) -> Any:
        prior = tfd.Normal(0.0, 5.0).log_prob(mean) + tfd.HalfCauchy(0.0, 2.0).log_prob(scale)
        return prior + tf.reduce_sum(tfd.Normal(mean, scale).log_prob(data))

    kernel = tfp.mcmc.TransformedTransitionKernel(
        tfp.mcmc.HamiltonianMonteCarlo(log_prob, step_size=0.1, num_leapfrog_steps=3),
        bijector=[tfb.Identity(), tfb.Softplus()],
    )
    kernel = tfp.mcmc.SimpleStepSizeAdaptation(kernel, num_adaptation_steps=10)

    @tf.function
    def sample() -> Any:
        start = [tf.constant(0.0), tf.constant(1.0)]
        return tfp.mcmc.sample_chain(20, start, kernel=kernel, trace_fn=None, seed=(1, 2))

    return lambda: [state.numpy() for state in sample()]


def lbfgs(_: bool) -> Callable[[], object]:
    """TFP: 40 iterations of L-BFGS on Rosenbrock's function in ten dimensions."""
    import tensorflow as tf
    import tensorflow_probability as tfp

    def rosenbrock(x: Any) -> Any:
        return tf.reduce_sum((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2)

    @tf.function
    def minimize() -> Any:
        return tfp.optimizer.lbfgs_minimize(
            lambda x: tfp.math.value_and_gradient(rosenbrock, x),
            tf.fill([10], tf.constant(-1.0, tf.float64)),
            max_iterations=40,
        ).position

    return lambda: minimize().numpy()


def gpflow_hmc(bad: bool) -> Callable[[], object]:
    """GPflow: the hyperparameters of a regression, 10 samples by Hamiltonian Monte Carlo."""
    import gpflow
    import tensorflow as tf
    import tensorflow_probability as tfp

    x, y = (normal([15, 1], is_bad, "float64") for is_bad in (False, bad))
    model = gpflow.models.GPR((x, y), gpflow.kernels.Matern52())
    two = tf.constant(2.0, tf.float64)
    for parameter in model.trainable_parameters:
        parameter.prior = tfp.distributions.Gamma(two, two)
    posterior = model.log_posterior_density
    helper = gpflow.optimizers.SamplingHelper(posterior, model.trainable_parameters)
    kernel = tfp.mcmc.HamiltonianMonteCarlo(
        helper.target_log_prob_fn, num_leapfrog_steps=3, step_size=0.05
    )

    @tf.function
    def sample() -> Any:
        return tfp.mcmc.sample_chain(
            10, helper.current_state, kernel=kernel, trace_fn=None, seed=(1, 2)
        )

    return lambda: [state.numpy() for state in sample()]


def svgp(_: bool) -> Callable[[], object]:
    """GPflow: a step of Adam on a sparse variational classifier, batch 32."""
    import gpflow
    import tensorflow as tf

    x = normal([32, 1], bad=False, dtype="float64")
    y = tf.cast(tf.sin(3 * x) > 0, tf.float64)
    points = tf.linspace(tf.constant(-2.0, tf.float64), 2.0, 8)[:, None]
    model = gpflow.models.SVGP(gpflow.kernels.Matern32(), gpflow.likelihoods.Bernoulli(), points)
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train() -> Any:
        with tf.GradientTape() as tape:
            loss = model.training_loss((x, y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return lambda: train().numpy()


PROGRAMS = {
    "tfp_hmc": Program(hmc, 5, package="tensorflow_probability"),
    "tfp_lbfgs": Program(lbfgs, 3, can_be_bad=False, package="tensorflow_probability"),
    "gpflow_hmc": Program(gpflow_hmc, 3, package="gpflow"),
    "gpflow_svgp": Program(svgp, 50, can_be_bad=False, package="gpflow"),
}
