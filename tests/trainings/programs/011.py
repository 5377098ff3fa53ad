import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(225)
X = np.random.randn(512, 8).astype("float32")
y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype("int32")


def mlp(width, name):
    return keras.Sequential([keras.Input((8,)), layers.Dense(width, activation="relu", name=name + "_h"),
                             layers.Dense(2, name=name + "_o")], name=name)


teacher, student = mlp(128, "teacher"), mlp(16, "student")
teacher.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
teacher.fit(X, y, epochs=5, batch_size=64, verbose=0)
teacher.trainable = False
opt, TEMP = keras.optimizers.Adam(1e-2), 3.0
for step in range(120):
    b = np.random.randint(0, 512, 64)
    soft = tf.nn.softmax(teacher(X[b]) / TEMP)
    with tf.GradientTape() as tape:
        logits = student(X[b], training=True)
        kd = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(soft, logits / TEMP))
        hard = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y[b], logits))
        loss = 0.7 * kd * TEMP ** 2 + 0.3 * hard
    opt.apply_gradients(zip(tape.gradient(loss, student.trainable_variables), student.trainable_variables))
    if step % 12 == 0:
        print("step", step, "kd", float(kd), "hard", float(hard))
