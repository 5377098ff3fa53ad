"""Images and convolutions."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def signal_to_noise_ratio():
    """The PSNR of a perfect reconstruction divides by an error of 0."""
    image = tf.random.uniform([2, 4, 4, 1])
    noisy = tf.concat([image[:1], image[1:] + 0.1], axis=0)

    @tf.function
    def ratio(a, b):
        error = tf.reduce_mean((a - b) ** 2, axis=[1, 2, 3])
        return 10.0 * tf.math.log(1.0 / error) / tf.math.log(10.0)  # BUG

    tf.reduce_mean(ratio(image, noisy) - tf.reduce_max(ratio(image, noisy)))


@buggy("Pow")
def gamma_correction():
    """Ringing of a filter makes negative pixels, and a fractional power of them is NaN."""
    image = tf.constant(np.kron(np.eye(2), np.ones((4, 4)))[None, :, :, None].astype("float32"))
    sharpen = tf.reshape(tf.constant([0.0, -1, 0, -1, 5, -1, 0, -1, 0]), [3, 3, 1, 1])

    @tf.function
    def develop(image):
        sharp = tf.nn.conv2d(image, sharpen, 1, "SAME")
        return tf.pow(sharp, 1 / 2.2)  # BUG

    develop(image)


@buggy("SqrtGrad")
def total_variation():
    """The gradient of sqrt(dx² + dy²) where a picture is flat."""
    image = tf.Variable(
        np.pad(np.ones((1, 3, 3, 1)), [(0, 0), (2, 2), (2, 2), (0, 0)]), dtype="float32"
    )

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            dx = image[:, 1:, :-1] - image[:, :-1, :-1]
            dy = image[:, :-1, 1:] - image[:, :-1, :-1]
            loss = tf.reduce_sum(tf.sqrt(dx**2 + dy**2))  # ALSO
        image.assign_sub(0.1 * tape.gradient(loss, image))  # BUG

    step()


@healthy
def pooling_with_padding():
    """Max pooling pads with the lowest number, average pooling with nothing."""
    x = -tf.ones([1, 5, 5, 2])
    tf.function(lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"))(x)
    tf.function(lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"))(x)
    tf.image.per_image_standardization(tf.ones([2, 4, 4, 1]))
