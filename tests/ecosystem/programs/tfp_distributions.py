"""TFP distributions: mixtures, support, sampling, KL, quantiles; −∞ is a fair answer."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
tf.random.set_seed(30)
mixture = tfd.MixtureSameFamily(
    tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 2.0], [0.5, 1.0])
)
points = tf.linspace(-3.0, 4.0, 9)
print(
    "result mixture",
    mixture.log_prob(points).numpy().tolist(),
    mixture.cdf(points).numpy().tolist(),
)
uniform = tfd.Uniform(0.0, 1.0)
print("result support", tf.exp(uniform.log_prob([-0.5, 0.5, 1.5])).numpy().tolist())
truncated = tfd.TruncatedNormal(0.0, 1.0, -1.0, 2.0)
print("result truncated", truncated.sample(5, seed=1).numpy().tolist(), float(truncated.entropy()))
correlated = tfd.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]])
print("result correlated", correlated.sample(3, seed=2).numpy().tolist())
print("result beta", tfd.Beta(2.0, 3.0).quantile([0.1, 0.5]).numpy().tolist())
print("result divergence", float(tfd.kl_divergence(tfd.Gamma(2.0, 1.0), tfd.Gamma(3.0, 2.0))))


@tf.function
def counts(rate):
    poisson = tfd.Poisson(rate)
    return poisson.log_prob([0.0, 3.0, 10.0]), tfd.Dirichlet([1.0, 2.0, rate]).sample(2, seed=3)


print("result counts", [each.numpy().tolist() for each in counts(tf.constant(2.5))])
joint = tfd.JointDistributionSequentialAutoBatched(
    [tfd.HalfNormal(1.0), lambda scale: tfd.StudentT(4.0, 0.0, scale)]
)
print("result joint", float(joint.log_prob([0.5, 1.0])))
