import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(17)
X = np.random.randn(256, 20).astype("float32")
Y = (X[:, :1] * X[:, 1:2] > 0).astype("float32")
inp = keras.Input((20,))
h = keras.layers.Dense(32, activation="relu", name="dense_a")(inp)
h = keras.layers.Dense(32, activation="relu", name="dense_b")(h)
net = keras.Model(inp, keras.layers.Dense(1, name="score")(h))
optimizer = keras.optimizers.AdamW(learning_rate=0.1, weight_decay=30.0)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


def train_one(xb, yb):
    with tf.GradientTape() as tape:
        loss = bce(yb, net(xb, training=True))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return float(loss)


for step in range(100):
    i = (step * 32) % 256
    loss = train_one(X[i:i + 32], Y[i:i + 32])
    if step % 10 == 0 or step == 99:
        print("step", step, "loss", loss)
