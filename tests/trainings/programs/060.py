import tensorflow as tf
import keras

keras.utils.set_random_seed(44)


class EnergyNet(tf.Module):
    def __init__(self):
        super().__init__(name="energy_net")
        self.w = tf.Variable(tf.random.normal((8, 16)) * 14.0, name="proj")
        self.a = tf.Variable(tf.zeros((16, 1)), name="readout")

    def __call__(self, x):
        f = tf.cast(x, tf.float16) @ tf.cast(self.w, tf.float16)
        energy = tf.square(f)
        scaled = tf.cast(energy, tf.float32) / 1e4
        return tf.nn.softplus(scaled @ self.a)


net = EnergyNet()
opt = keras.optimizers.Adam(0.6)
for i in range(90):
    x = tf.clip_by_value(tf.random.normal((32, 8)), -2, 2)
    y = tf.reduce_sum(x**2, 1, keepdims=True) * 20
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    vs = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
    if i % 10 == 0:
        print(i, loss.numpy())
