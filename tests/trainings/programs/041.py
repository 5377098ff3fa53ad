import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(213)
X = np.random.randn(320, 30, 4).astype("float32")
y = 6 * X[:, -5:, 0].sum(1, keepdims=True)
rnn = keras.Sequential([keras.Input((30, 4)), keras.layers.SimpleRNN(32, name="rnn"), keras.layers.Dense(1, name="out")])
opt = keras.optimizers.Adam(0.005)
for step in range(150):
    b = np.random.randint(0, 320, 32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((rnn(X[b]) - y[b]) ** 2)
    g = tape.gradient(loss, rnn.trainable_variables)
    g, norm = tf.clip_by_global_norm(g, 1.0)
    opt.apply_gradients(zip(g, rnn.trainable_variables))
    if step % 15 == 0:
        print(f"step {step} loss {float(loss):.2f} grad norm {float(norm):.2f}")
