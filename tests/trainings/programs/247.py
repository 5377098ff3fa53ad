import keras
import tensorflow as tf

keras.utils.set_random_seed(247)
gen = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu", name="g1"), keras.layers.Dense(2, name="g2")])
dis = keras.Sequential([keras.Input((2,)), keras.layers.Dense(24, activation="relu", name="d1"), keras.layers.Dense(1, name="d2")])
og, od = keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train(real):
    noise = tf.random.normal([64, 4])
    with tf.GradientTape() as td, tf.GradientTape() as tg:
        fake = gen(noise)
        on_real, on_fake = dis(real), dis(fake)
        ld = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        lg = bce(tf.ones_like(on_fake), on_fake)
    od.apply_gradients(zip(td.gradient(ld, dis.trainable_variables), dis.trainable_variables))
    og.apply_gradients(zip(tg.gradient(lg, gen.trainable_variables), gen.trainable_variables))
    return ld, lg


for i in range(160):
    d, g = train(tf.random.normal([64, 2], mean=1.0))
print(float(d), float(g))
