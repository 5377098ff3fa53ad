import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(207)
def twin(name):
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.3), keras.layers.Dense(3)], name=name)


student, teacher = twin("student"), twin("teacher")
teacher.set_weights(student.get_weights())
opt = keras.optimizers.Adam(3e-3)


@tf.function
def step(x, y, unlabelled, weight):
    aim = tf.nn.softmax(teacher(unlabelled, training=True))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, student(x, training=True), from_logits=True))
        agree = tf.reduce_mean((tf.nn.softmax(student(unlabelled, training=True)) - aim) ** 2)
        total = loss + weight * agree
    opt.apply_gradients(zip(tape.gradient(total, student.trainable_variables), student.trainable_variables))
    for s, t in zip(student.variables, teacher.variables):
        if s.dtype == "float32":
            t.assign(0.95 * t + 0.05 * s)
    return loss


for i in range(60):
    x, more = (np.random.randn(n, 10).astype("float32") for n in (32, 128))
    loss = step(x, np.digitize(x[:, 0], [-0.5, 0.5]), more, tf.constant(min(i / 30, 1.0) * 10))
    if i % 10 == 0:
        print(i, float(loss))
