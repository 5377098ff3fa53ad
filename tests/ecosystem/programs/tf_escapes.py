"""Ways out of the graph: Python functions, threads, recomputed gradients, functions run eagerly."""

from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

weights = tf.Variable(tf.linspace(0.1, 1.2, 12))


@tf.function
def with_python(values):
    squared = tf.numpy_function(lambda each: each * each, [values], tf.float32)
    return values + tf.py_function(tf.sqrt, [tf.ensure_shape(squared, [12])], tf.float32)


@tf.recompute_grad
def block(values):
    return tf.nn.gelu(values * weights)


@tf.function
def recomputed():
    with tf.GradientTape(persistent=True) as tape:
        first = block(tf.ones(12))
        loss = tf.reduce_sum(block(first))
    return tape.gradient(loss, weights), tape.gradient(first, weights)


@tf.function
def slowly(start):
    total = start
    for _ in tf.range(5):
        total = tf.sin(total) + 0.1
    return total


print("result python", with_python(weights).numpy().tolist())
print("result recomputed", [each.numpy().tolist() for each in recomputed()])
with ThreadPoolExecutor(4) as pool:
    parts = pool.map(slowly, [tf.constant(float(n)) for n in range(8)])
    print("result threads", [float(part) for part in parts])
tf.config.run_functions_eagerly(True)
print("result eagerly", float(slowly(tf.constant(1.0))))
tf.config.run_functions_eagerly(False)
concrete = slowly.get_concrete_function(tf.TensorSpec([], tf.float32))
print("result concrete", float(concrete(tf.constant(0.5))))
graph = tf.Graph()
with graph.as_default():
    imported = tf.graph_util.import_graph_def(
        concrete.graph.as_graph_def(), return_elements=["Identity:0"]
    )
print("result imported", imported[0].dtype.name, len(graph.get_operations()) > 0)
print("result summed", float(tf.add_n([tf.reduce_sum(weights), slowly(tf.constant(2.0))])))
