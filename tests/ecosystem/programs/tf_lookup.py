"""Tables, strings, ragged and sparse tensors in a function that serves text."""

import tensorflow as tf

words = tf.constant(["the", "sea", "is", "wide"])
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(words, tf.range(4, dtype=tf.int64)), num_oov_buckets=2
)
counts = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, default_value=0.0)


@tf.function
def encode(texts):
    tokens = tf.strings.split(tf.strings.lower(tf.strings.regex_replace(texts, r"[^\w ]", "")))
    ids = table.lookup(tokens)
    flat = ids.flat_values
    counts.insert(flat, counts.lookup(flat) + 1.0)
    weights = 1.0 / tf.math.log(2.0 + tf.cast(ids, tf.float32))
    return ids, tf.reduce_mean(weights, axis=1)


ids, means = encode(tf.constant(["The sea, the sea!", "Is it wide?", "is"]))
print("result ids", ids.to_list())
print("result means", means.numpy().tolist())
keys, values = counts.export()
print("result counts", sorted(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)))
matrix = tf.sparse.from_dense([[0.0, 2.0], [3.0, 0.0]])
print("result product", tf.sparse.sparse_dense_matmul(matrix, tf.ones([2, 2])).numpy().tolist())
print("result softmax", tf.sparse.softmax(matrix).values.numpy().tolist())
print(
    "result empty", tf.reduce_mean(tf.ragged.constant([[1.0], [2.0, 4.0]]), axis=1).numpy().tolist()
)
