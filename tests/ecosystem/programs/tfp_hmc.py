"""TFP: Hamiltonian Monte Carlo with an adapted step size, in a tf.function, traced by user code."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd, tfb = tfp.distributions, tfp.bijectors
tf.random.set_seed(31)
data = tfd.Normal(1.5, 0.7).sample(40, seed=1)


def log_prob(mean, scale):
    prior = tfd.Normal(0.0, 5.0).log_prob(mean) + tfd.HalfCauchy(0.0, 2.0).log_prob(scale)
    return prior + tf.reduce_sum(tfd.Normal(mean, scale).log_prob(data))


kernel = tfp.mcmc.TransformedTransitionKernel(
    tfp.mcmc.HamiltonianMonteCarlo(log_prob, step_size=0.1, num_leapfrog_steps=3),
    bijector=[tfb.Identity(), tfb.Softplus()],
)
kernel = tfp.mcmc.SimpleStepSizeAdaptation(kernel, num_adaptation_steps=30)


@tf.function
def sample():
    return tfp.mcmc.sample_chain(
        num_results=40,
        num_burnin_steps=40,
        current_state=[tf.constant(0.0), tf.constant(1.0)],
        kernel=kernel,
        trace_fn=lambda _, results: results.inner_results.inner_results.is_accepted,
        seed=(1, 2),
    )


(mean, scale), accepted = sample()
print("result mean", mean.numpy().tolist())
print("result scale", scale.numpy().tolist())
print("result accepted", int(tf.reduce_sum(tf.cast(accepted, tf.int32))))
