import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(62)
x = np.random.rand(256, 5).astype("float32")
y = 40 + 10 * x[:, :1] - 25 * x[:, 1:2]

trunk = keras.layers.Dense(64, activation="relu", name="trunk")
out = keras.layers.Dense(1, name="out")


@tf.function
def forward(x):
    h = trunk(x)
    return out(h)


forward(x[:2])
weights = trunk.trainable_variables + out.trainable_variables
sgd = keras.optimizers.SGD(0.5)
for step in range(60):
    sl = np.random.choice(256, 32, replace=False)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(forward(x[sl]) - y[sl]))
    sgd.apply_gradients(zip(tape.gradient(loss, weights), weights))
    if step % 6 == 0:
        print(f"step {step:3d} mse {float(loss):.4f}")
