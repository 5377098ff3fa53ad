import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(93)
encoder = keras.Sequential([keras.Input((8, 5)), layers.GRU(24, name="enc_gru")], name="encoder")
dec_in = keras.Input((24,))
d = layers.RepeatVector(8, name="rep")(dec_in)
d = layers.GRU(24, return_sequences=True, name="dec_gru")(d)
decoder = keras.Model(dec_in, layers.TimeDistributed(layers.Dense(5, name="dec_out"), name="td")(d), name="decoder")
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        recon = decoder(encoder(x))
        loss = tf.reduce_mean(tf.square(recon - x))
    variables = encoder.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for step in range(60):
    base = tf.random.normal((32, 1, 5))
    x = base * tf.reshape(tf.linspace(0.5, 1.0, 8), (1, 8, 1))
    loss = train_step(x)
    if step % 6 == 0:
        print("step", step, "recon", float(loss))
