import tensorflow as tf
import keras

keras.utils.set_random_seed(230)
features = keras.Sequential([keras.Input((16, 16, 3)), keras.layers.Conv2D(8, 3, activation="relu", name="block1"), keras.layers.Conv2D(8, 3, activation="relu", name="block2")], name="features")
features.trainable = False
content, style = tf.random.uniform((1, 16, 16, 3)), tf.random.uniform((1, 16, 16, 3))


def gram(x):
    return tf.einsum("bijc,bijd->bcd", x, x)


style_gram, content_features = gram(features(style)), features(content)
image = tf.Variable(content, name="image")
optimizer = keras.optimizers.Adam(0.02)


@tf.function
def step():
    with tf.GradientTape() as tape:
        made = features(image)
        loss = tf.reduce_mean((gram(made) - style_gram) ** 2) + tf.reduce_mean((made - content_features) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, image), image)])
    return loss


for i in range(40):
    print(i, float(step()))
