import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(234)
net = keras.Sequential([keras.Input((20, 6)), layers.Bidirectional(layers.GRU(16, return_sequences=True)), layers.Dense(6, name="letters")], name="listener")
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def train(sound, labels):
    with tf.GradientTape() as tape:
        logits = net(sound)
        loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, tf.fill([16], 4), tf.fill([16], 20), logits_time_major=False, blank_index=0))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for i in range(40):
    labels = np.random.randint(1, 6, (16, 4))
    sound = np.repeat(np.eye(6)[labels], 5, axis=1) + 0.1 * np.random.randn(16, 20, 6)
    loss = train(sound.astype("float32"), labels.astype("int32"))
    if i % 8 == 0:
        print(i, float(loss))
