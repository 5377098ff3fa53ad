import tensorflow as tf
import keras

keras.utils.set_random_seed(246)
inp = keras.Input((5,), name="x")
inner_in = keras.Input((5,))
z = keras.layers.Dense(32, activation="relu", name="feat1")(inner_in)
z = keras.layers.Dense(32, activation="relu", name="feat2")(z)
features = keras.Model(inner_in, z, name="features")
logit = keras.layers.Dense(1, kernel_initializer="zeros", name="logit")(features(inp))
model = keras.Model(inp, logit, name="whole")
opt = keras.optimizers.SGD(0.3)
for step in range(150):
    x = tf.random.normal((64, 5))
    y = tf.cast(x[:, :1] + x[:, 1:2] ** 2 > 1.0, tf.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=model(x)))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    if step % 15 == 0:
        print(step, f"{float(loss):.4f}")
