import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(95)


class Quantised(keras.Model):
    def __init__(self):
        super().__init__(name="quantised")
        self.quant_in = layers.Dense(12, name="quant_in")
        self.dec = layers.Dense(24, activation="relu", name="dec")
        self.out = layers.Dense(6, name="out")

    def call(self, x):
        code = tf.round(4.0 * tf.sigmoid(self.quant_in(x)))
        return self.out(self.dec(code / 4.0))


net = Quantised()
opt = keras.optimizers.Adam(5e-3)
data = tf.random.normal((256, 6))
for step in range(100):
    i = (step % 8) * 32
    xb = data[i:i + 32]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(xb) - xb) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    if step % 10 == 0:
        print(f"{step} {loss.numpy():.4f}")
