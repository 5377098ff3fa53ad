import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(151)
x = np.random.randn(400, 10).astype("float32")
teacher = keras.Sequential([keras.Input((10,)), keras.layers.Dense(6, name="teacher_logits")])
student = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu", name="small"), keras.layers.Dense(6, name="student_logits")])
opt = keras.optimizers.Adam(1e-3)
temperature = 0.001


@tf.function
def step(b):
    soft = tf.nn.softmax(teacher(b) / temperature)
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(student(b) / temperature)
        loss = tf.reduce_mean(tf.reduce_sum((soft - p) ** 2, 1))
    g = tape.gradient(loss, student.trainable_variables)
    opt.apply_gradients(zip(g, student.trainable_variables))
    return loss


for i in range(50):
    loss = step(x[np.random.randint(0, 400, 40)])
print(float(loss))
