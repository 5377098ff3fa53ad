import tensorflow as tf
import keras

keras.utils.set_random_seed(47)
net = keras.Sequential([
    keras.Input((6,), dtype="float16"),
    keras.layers.Dense(32, activation="relu", dtype="mixed_float16", name="first"),
    keras.layers.Dense(1, dtype="mixed_float16", name="second"),
])
opt = keras.optimizers.Adam(1e-3)
X = tf.random.uniform((256, 6), 0, 1) * tf.linspace(0.7, 1.5, 256)[:, None]
y = 175.0 + 65.0 * X[:, :1]


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        err = net(xb, training=True) - tf.cast(yb, tf.float16)
        sq = tf.square(err)
        loss = tf.reduce_mean(tf.cast(sq, tf.float32))
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss


for i in range(47):
    k = (i * 32) % 256
    l = step(X[k:k + 32], y[k:k + 32])
    if i % 4 == 0 or i == 46:
        print("step", i, "mse", float(l))
