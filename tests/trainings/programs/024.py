import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(209)
X = np.random.rand(400, 5).astype("float32")
y = 10000.0 + 4000.0 * X[:, :1] - 3000.0 * X[:, 1:2] * X[:, 2:3]
y = y.astype("float32")
net = keras.Sequential([keras.Input((5,)), keras.layers.Dense(48, activation="relu", name="h"),
                        keras.layers.Dense(48, activation="relu", name="h2"),
                        keras.layers.Dense(1, name="price")])
opt = keras.optimizers.Adam(0.03)


@tf.function
def train(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(xb, training=True) - yb) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for i in range(180):
    j = np.random.choice(400, 64, replace=False)
    loss = train(X[j], y[j])
    if i % 20 == 0 or i == 179:
        print("step", i, "mse", float(loss), "rmse", float(loss) ** 0.5)
