import tensorflow as tf
import keras

keras.utils.set_random_seed(55)
dt = keras.DTypePolicy("mixed_float16")
x_in = keras.Input((10,))
h = keras.layers.Dense(48, activation="relu", dtype=dt, name="enc")(x_in)
o = keras.layers.Dense(3, dtype="float32", name="cls")(h)
model = keras.Model(x_in, o)
opt = keras.optimizers.SGD(0.1)
scale = tf.Variable(2.0**15, trainable=False)
done = tf.Variable(0, trainable=False)
T = tf.random.normal((10, 3))


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))
        s = loss * scale
    g = tape.gradient(s, model.trainable_variables)
    finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(v)) for v in g])
    if finite:
        opt.apply_gradients(
            [(v / scale, w) for v, w in zip(g, model.trainable_variables)])
        scale.assign(scale * 16.0)
        done.assign_add(1)
    else:
        scale.assign(scale / 2.0)
    return loss


for i in range(100):
    x = tf.random.normal((64, 10))
    y = tf.argmax(x @ T, 1, output_type=tf.int32)
    loss = train(x, y)
    if i % 10 == 0:
        print(f"step {i} loss {loss:.4f}")
