"""GPflow: the hyperparameters of a regression sampled by Hamiltonian Monte Carlo of TFP."""

import gpflow
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from gpflow.utilities import to_default_float

rng = np.random.default_rng(42)
x = rng.uniform(0, 4, (15, 1))
model = gpflow.models.GPR(
    (x, np.cos(x) + 0.1 * rng.normal(size=(15, 1))), gpflow.kernels.Matern52()
)
for parameter in (model.kernel.variance, model.kernel.lengthscales, model.likelihood.variance):
    parameter.prior = tfp.distributions.Gamma(to_default_float(2.0), to_default_float(2.0))
helper = gpflow.optimizers.SamplingHelper(model.log_posterior_density, model.trainable_parameters)
kernel = tfp.mcmc.HamiltonianMonteCarlo(
    helper.target_log_prob_fn, num_leapfrog_steps=3, step_size=0.05
)


@tf.function
def sample():
    return tfp.mcmc.sample_chain(
        num_results=10,
        num_burnin_steps=5,
        current_state=helper.current_state,
        kernel=kernel,
        trace_fn=lambda _, results: results.is_accepted,
        seed=9,
    )


samples, accepted = sample()
for parameter in helper.convert_to_constrained_values(samples):
    print("result samples", parameter.numpy().tolist())
print("result accepted", accepted.numpy().tolist())
