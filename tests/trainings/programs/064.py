import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(48)


class ResNet16(keras.Model):
    def __init__(self, depth=10, width=32):
        super().__init__()
        init = keras.initializers.VarianceScaling(7.0)
        self.blocks = [
            layers.Dense(width, activation="relu", kernel_initializer=init,
                         dtype="mixed_float16", name=f"res_{i}")
            for i in range(depth)
        ]
        self.scale = 1e-3
        self.head = layers.Dense(1, dtype="float32", name="head")

    def call(self, x):
        x = tf.cast(x, tf.float16)
        for blk in self.blocks:
            x = x + blk(x)
        return self.head(tf.cast(x, tf.float32) * self.scale)


model = ResNet16()
opt = keras.optimizers.SGD(2e-3)
X = tf.random.normal((256, 32))
y = 2.0 * tf.abs(X[:, :1]) + 30.0
for it in range(50):
    sel = tf.random.shuffle(tf.range(256))[:32]
    xb, yb = tf.gather(X, sel), tf.gather(y, sel)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(xb) - yb))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    if it % 5 == 0:
        print(f"{it:02d} loss {float(loss):.4f}")
