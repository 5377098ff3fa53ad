import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(253)
images = np.random.randint(0, 256, (240, 12, 12, 1)).astype("uint8")
labels = images.mean((1, 2, 3)) > 127.5


def prepare(image, label):
    image = tf.image.per_image_standardization(tf.cast(image, tf.float32))
    return tf.image.random_flip_left_right(image), tf.cast(label, tf.float32)


data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(240, seed=253)
data = data.map(prepare, num_parallel_calls=2).batch(8).prefetch(2)
model = keras.Sequential([
    keras.Input((12, 12, 1)),
    keras.layers.Conv2D(8, 3, activation="relu", name="look"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(1, name="light"),
])
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(data, epochs=2, verbose=2)
