import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(52)
net = keras.Sequential([
    keras.Input((8,)),
    layers.Dense(32, activation="relu", dtype="mixed_float16", name="enc1"),
    layers.Dense(4, dtype="float32", name="enc2"),
])
opt = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-3))


@tf.function
def step(x, labels):
    with tf.GradientTape() as tape:
        z = net(x, training=True)
        diff = z[:, None, :] - z[None, :, :]
        dist = tf.sqrt(tf.reduce_sum(diff * diff, -1))
        same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
        loss = tf.reduce_mean(same * dist + (1 - same) * tf.nn.relu(1.0 - dist))
        scaled = opt.scale_loss(loss)
    grads = tape.gradient(scaled, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


proto = tf.random.normal((4, 8)) * 2
for i in range(60):
    lab = tf.random.uniform((24,), 0, 4, dtype=tf.int32)
    x = tf.gather(proto, lab) + 0.3 * tf.random.normal((24, 8))
    loss = step(x, lab)
    if i % 6 == 0:
        print("step", i, "contrastive", float(loss))
