"""TFP: a structural time series, fitted by variational inference, and its forecast."""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras

sts = tfp.sts
tf.random.set_seed(35)
months = np.arange(36)
series = 0.1 * months + np.sin(months * np.pi / 6) + 0.1 * np.cos(5.0 * months)
series = series.astype("float32")
trend = sts.LocalLinearTrend(observed_time_series=series)
season = sts.Seasonal(num_seasons=4, observed_time_series=series)
model = sts.Sum([trend, season], observed_time_series=series)
posterior = sts.build_factored_surrogate_posterior(model=model, seed=(1, 1))
losses = tfp.vi.fit_surrogate_posterior(
    model.joint_distribution(observed_time_series=series).log_prob,
    posterior,
    optimizer=tf_keras.optimizers.legacy.Adam(0.1),
    num_steps=15,
    seed=(1, 2),
)
print("result losses", losses.numpy().tolist())
forecast = sts.forecast(model, series, posterior.sample(5, seed=(1, 3)), num_steps_forecast=6)
print("result forecast", forecast.mean().numpy().ravel().tolist())
