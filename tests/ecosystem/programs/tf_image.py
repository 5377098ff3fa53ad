"""tf.image: resizing, colour, gradients, non-maximum suppression and measures of likeness."""

import tensorflow as tf

tf.random.set_seed(105)
images = tf.random.stateless_uniform([2, 24, 24, 3], seed=(1, 5))
blurred = tf.image.resize(tf.image.resize(images, [12, 12]), [24, 24], "bicubic")


@tf.function
def compare(left, right):
    likeness = tf.image.ssim(left, right, max_val=1.0)
    noise = tf.minimum(tf.image.psnr(left, right, max_val=1.0), 100.0)
    return likeness, noise


for other in (blurred, images):
    likeness, noise = compare(images, other)
    print("result likeness", likeness.numpy().tolist(), noise.numpy().tolist())
hue = tf.image.stateless_random_hue(images, 0.1, seed=(2, 5))
hue = tf.image.adjust_gamma(tf.clip_by_value(hue, 0.0, 1.0), 0.8)
print("result hue", hue.numpy()[0, 0, 0].tolist())
vertical, horizontal = tf.image.image_gradients(images)
print("result edges", tf.image.sobel_edges(images).numpy()[0, 3, 3].ravel().tolist())
boxes = tf.constant([[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.6], [0.5, 0.5, 1.0, 1.0]])
chosen = tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], 3, iou_threshold=0.5)
print("result chosen", chosen.numpy().tolist())
crops = tf.image.crop_and_resize(images, boxes, [0, 1, 0], [4, 4])
print("result crops", crops.numpy()[2, 1, 1].tolist())
encoded = tf.io.encode_png(tf.image.convert_image_dtype(images[0], tf.uint8))
print("result decoded", tf.io.decode_png(encoded).numpy()[0, 0].tolist())
