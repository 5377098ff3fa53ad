import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(186)
class Ramp(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.002 * 1.25 ** tf.cast(step, tf.float32)


model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(64, activation="relu", name="wide"), keras.layers.Dense(1, name="price")])
opt = keras.optimizers.SGD(Ramp(), momentum=0.9)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


true = np.random.randn(20, 1)
for i in range(60):
    x = np.random.randn(512, 20).astype("float32")
    print(i, float(train(x, (x @ true).astype("float32"))))
