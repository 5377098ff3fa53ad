import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(75)
X = np.random.randn(300, 10).astype("float32") * 30
W = np.random.randn(10, 4)
y = (X @ W + 60 * np.random.randn(300, 4)).argmax(1)
onehot = tf.one_hot(y, 4)
net = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(64, activation="relu", name="dense"),
    keras.layers.Dense(4, name="scores"),
    keras.layers.Softmax(name="probs"),
])
opt = keras.optimizers.Adam(0.02)


def my_crossentropy(t, p):
    return -tf.reduce_mean(tf.reduce_sum(t * tf.math.log(p), axis=1))


for step in range(100):
    i = np.random.randint(0, 300, 50)
    with tf.GradientTape() as tape:
        p = net(X[i])
        loss = my_crossentropy(tf.gather(onehot, i), p)
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    if step % 10 == 0:
        print("step", step, "loss", loss.numpy())
