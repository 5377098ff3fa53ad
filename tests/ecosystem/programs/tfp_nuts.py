"""TFP: the eight schools with the No-U-Turn Sampler."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
# A chain makes other numbers of other last bits: the same kernels run with a dump and without it.
tf.config.optimizer.set_experimental_options({"remapping": False, "arithmetic_optimization": False})
effects = tf.constant([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
errors = tf.constant([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
model = tfd.JointDistributionSequential(
    [
        tfd.Normal(0.0, 10.0),
        tfd.Normal(5.0, 1.0),
        tfd.Sample(tfd.Normal(0.0, 1.0), 8),
        lambda each, log_spread, mean: tfd.Independent(
            tfd.Normal(mean + tf.exp(log_spread) * each, errors), 1
        ),
    ]
)
kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(
    tfp.mcmc.NoUTurnSampler(
        lambda mean, log_spread, each: model.log_prob([mean, log_spread, each, effects]),
        step_size=0.2,
        max_tree_depth=4,
    ),
    num_adaptation_steps=15,
)


@tf.function
def sample():
    return tfp.mcmc.sample_chain(
        num_results=15,
        num_burnin_steps=15,
        current_state=[tf.zeros([]), tf.zeros([]), tf.zeros([8])],
        kernel=kernel,
        trace_fn=lambda _, results: results.inner_results.leapfrogs_taken,
        seed=(3, 4),
    )


(mean, log_spread, _), leapfrogs = sample()
print("result mean", mean.numpy().tolist())
print("result log_spread", log_spread.numpy().tolist())
print("result leapfrogs", leapfrogs.numpy().tolist())
