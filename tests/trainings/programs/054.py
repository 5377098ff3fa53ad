import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(82)
T = 120
X = (0.03 * np.random.randn(256, T, 4)).astype("float32")
y = np.random.randint(0, 2, 256)
X[:, 0, :] = np.where(y[:, None] == 1, 1.0, -1.0)

rnn = keras.layers.SimpleRNN(16, name="memory", recurrent_initializer=keras.initializers.RandomNormal(stddev=0.1))
head = keras.layers.Dense(2, name="head")
opt = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        h = rnn(xb)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=yb, logits=head(h)))
    tv = rnn.trainable_variables + head.trainable_variables
    g = tape.gradient(loss, tv)
    opt.apply_gradients(zip(g, tv))
    return loss


rnn.build((None, T, 4)); head.build((None, 16))
for step in range(50):
    sel = np.random.choice(256, 64, replace=False)
    loss = train_step(X[sel], y[sel])
    if step % 6 == 0:
        print("step", step, "loss %.4f" % float(loss))
