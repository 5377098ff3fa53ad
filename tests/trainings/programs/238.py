import keras
import tensorflow as tf

keras.utils.set_random_seed(238)
body = keras.layers.Dense(64, activation="relu", name="body")
waist = keras.layers.Dense(48, activation="relu", name="waist")
score = keras.layers.Dense(1, name="score")
model = keras.Sequential([keras.Input((6,)), body, waist, score])


@tf.function
def update(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    for variable, grad in zip(model.trainable_variables, grads):
        variable.assign_sub(rate * grad)
    return loss


for i in range(125):
    x = tf.random.normal([32, 6])
    y = tf.reduce_sum(x, 1, keepdims=True) + 4.0
    loss = update(x, y, tf.constant(30.0 if i in (84, 85) else 0.01))
    if i % 25 == 0:
        print(i, float(loss))
