import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(139)
encoder = keras.Sequential([keras.Input((10,)), layers.Dense(32, activation="relu", name="e1"), layers.Dense(8, name="e2")], name="encoder")
opt = keras.optimizers.Adam(1e-3)


@tf.function
def pretrain(x):
    with tf.GradientTape() as tape:
        a = tf.math.l2_normalize(encoder(x + 0.1 * tf.random.normal(tf.shape(x))), -1)
        b = tf.math.l2_normalize(encoder(x + 0.1 * tf.random.normal(tf.shape(x))), -1)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(32), 5.0 * a @ tf.transpose(b)))
    opt.apply_gradients(zip(tape.gradient(loss, encoder.trainable_variables), encoder.trainable_variables))


for i in range(50):
    pretrain(tf.random.normal((32, 10)))
encoder.trainable = False
probe = keras.Sequential([keras.Input((10,)), encoder, layers.Dense(2, name="probe")])
X = np.random.randn(320, 10).astype("float32")
probe.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
probe.fit(X, (X[:, 0] > 0).astype(int), epochs=3, batch_size=32, verbose=0)
