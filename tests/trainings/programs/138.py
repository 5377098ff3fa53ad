import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(138)
features = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(8, 3, activation="relu", name="f1"), layers.Conv2D(8, 3, activation="relu", name="f2")], name="features")
rng = np.random.default_rng(5)
features.set_weights([rng.normal(size=w.shape) * 0.2 for w in features.get_weights()])
wanted = features(tf.random.uniform((1, 16, 16, 3)))
image = tf.Variable(tf.random.uniform((1, 16, 16, 3)), name="image")
opt = keras.optimizers.Adam(0.02)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((features(image) - wanted) ** 2)
    opt.apply_gradients([(tape.gradient(loss, image), image)])
    image.assign(tf.clip_by_value(image, 0.0, 1.0))


for i in range(80):
    step()
