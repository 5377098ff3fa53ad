"""Images and convolutions."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def masked_average_pooling():
    """Partial convolution: windows without any valid pixel divide by 0."""
    mask = tf.constant(np.pad(np.ones((1, 2, 2, 1)), [(0, 0), (0, 4), (0, 4), (0, 0)]), tf.float32)
    image = tf.random.uniform([1, 6, 6, 1])

    @tf.function
    def inpaint(image, mask):
        ones = tf.ones([3, 3, 1, 1])
        total = tf.nn.conv2d(image * mask, ones, 1, "SAME")
        return total / tf.nn.conv2d(mask, ones, 1, "SAME")  # BUG

    inpaint(image, mask)


@buggy("Sqrt")
def local_contrast():
    """Local deviation by E[x²] - E[x]² is the root of a number below 0 in flat, bright parts."""
    levels = tf.random.stateless_uniform([1, 16, 16, 1], [1, 2], 1000.0, 9000.0)
    image = tf.repeat(tf.repeat(levels, 3, axis=1), 3, axis=2)  # rounding makes some of many < 0

    @tf.function
    def contrast(image):
        window = tf.ones([3, 3, 1, 1]) / 9.0
        mean = tf.nn.conv2d(image, window, 1, "VALID")
        squares = tf.nn.conv2d(image * image, window, 1, "VALID")
        deviation = tf.sqrt(squares - mean * mean)  # BUG
        return (image[:, 1:-1, 1:-1] - mean) / (deviation + 1.0)

    contrast(image)


@buggy("Conv2D", kind="input")
def kernel_with_nan():
    """A kernel from a bad checkpoint; eager convolution."""
    kernel = np.ones((3, 3, 1, 2), "float32")
    kernel[1, 1, 0, 1] = np.nan
    image = tf.random.uniform([1, 6, 6, 1])
    features = tf.nn.conv2d(image, tf.constant(kernel), 1, "VALID")  # BUG
    tf.reduce_mean(tf.nn.relu(features))


@healthy
def augmentation():
    """Random changes of pictures, one of them black."""
    images = tf.concat([tf.zeros([1, 6, 6, 3]), tf.random.uniform([2, 6, 6, 3])], axis=0)

    def augment(image):
        image = tf.image.stateless_random_flip_left_right(image, seed=(1, 2))
        image = tf.image.stateless_random_contrast(image, 0.5, 1.5, seed=(1, 2))
        return tf.image.per_image_standardization(image)

    for batch in tf.data.Dataset.from_tensor_slices(images).map(augment).batch(3):
        tf.reduce_mean(batch)
