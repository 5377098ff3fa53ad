import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(194)
def twin(name):
    return keras.Sequential([keras.layers.Dense(32, activation="relu", name=f"{name}_in"), keras.layers.Dense(8, name=f"{name}_out")], name=name)


student, teacher = twin("student"), twin("teacher")
head = keras.layers.Dense(3, name="head")
head.build((None, 8))
opt = keras.optimizers.Adam(1e-3)
trained = student.trainable_variables + head.trainable_variables  # the student has no weights yet
x = np.random.randn(640, 10).astype("float32")
y = np.digitize(x[:, 0], [-0.5, 0.5])
for i in range(60):
    b = slice(i % 20 * 32, i % 20 * 32 + 32)
    with tf.GradientTape() as tape:
        features = student(x[b])
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y[b], head(features), from_logits=True))
        loss += 0.1 * tf.reduce_mean((features - tf.stop_gradient(teacher(x[b]))) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, trained), trained))
    for s, t in zip(student.variables, teacher.variables):
        t.assign(0.99 * t + 0.01 * s)
print(float(loss))
