import keras
import tensorflow as tf

keras.utils.set_random_seed(243)
encoder = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8, activation="tanh", name="code")], name="encoder")
decoder = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, name="rebuild")], name="decoder")
opt = keras.optimizers.Adam(5e-3)
variables = encoder.trainable_variables + decoder.trainable_variables


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        code = tf.stop_gradient(encoder(x))
        loss = tf.reduce_mean(tf.square(decoder(code) - x))
    grads = tape.gradient(loss, variables)
    opt.apply_gradients((g, v) for g, v in zip(grads, variables) if g is not None)
    return loss


for i in range(25):
    loss = step(tf.random.normal([32, 16]))
print(float(loss))
