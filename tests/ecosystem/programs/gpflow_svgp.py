"""GPflow: a sparse variational classifier, natural gradients and Adam on minibatches."""

import gpflow
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(41)
x = rng.uniform(-2, 2, (120, 1))
y = (np.sin(3 * x) > 0).astype(float)
model = gpflow.models.SVGP(
    gpflow.kernels.Matern32(),
    gpflow.likelihoods.Bernoulli(),
    inducing_variable=np.linspace(-2, 2, 8)[:, None],
    num_data=120,
)
gpflow.set_trainable(model.q_mu, False)
gpflow.set_trainable(model.q_sqrt, False)
batches = iter(tf.data.Dataset.from_tensor_slices((x, y)).repeat().shuffle(120, seed=1).batch(32))
loss = model.training_loss_closure(batches, compile=True)
natural = gpflow.optimizers.NaturalGradient(gamma=0.1)
adam = tf.keras.optimizers.Adam(0.01)
for _ in range(6):
    natural.minimize(loss, var_list=[(model.q_mu, model.q_sqrt)])
    with tf.GradientTape() as tape:
        value = loss()
    adam.apply_gradients(
        zip(tape.gradient(value, model.trainable_variables), model.trainable_variables, strict=True)
    )
    print("result loss", float(value))
print("result mean", model.predict_y(np.linspace(-2, 2, 5)[:, None])[0].numpy().ravel().tolist())
