"""tf.data: files, interleaving, windows, ragged batches, a generator, a saved iterator."""

import tensorflow as tf

tf.random.set_seed(100)
for number in range(3):
    with tf.io.TFRecordWriter(f"part{number}.tfrecord") as writer:
        for row in range(8):
            values = tf.train.FloatList(value=[number, row * 0.5])
            features = tf.train.Features(feature={"x": tf.train.Feature(float_list=values)})
            writer.write(tf.train.Example(features=features).SerializeToString())


def parse(record):
    row = tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature([2], tf.float32)})
    return tf.math.log1p(row["x"])


names = tf.data.Dataset.list_files("part*.tfrecord", shuffle=False)
rows = names.interleave(tf.data.TFRecordDataset, cycle_length=2).map(parse, num_parallel_calls=2)
rows = rows.shuffle(10, seed=3).batch(4).prefetch(1)
iterator = iter(rows)
checkpoint = tf.train.Checkpoint(iterator=iterator)
print("result first", next(iterator).numpy().tolist())
path = checkpoint.write("state")
print("result second", next(iterator).numpy().tolist())
checkpoint.read(path)
print("result again", next(iterator).numpy().tolist())
windows = tf.data.Dataset.range(10).window(4, shift=3).flat_map(lambda each: each.batch(4))
print("result windows", [each.numpy().tolist() for each in windows])
ragged = tf.data.Dataset.range(1, 6).map(tf.range).ragged_batch(3)
print("result ragged", [each.to_list() for each in ragged])
made = tf.data.Dataset.from_generator(
    lambda: ((n, [n] * n) for n in range(4)),
    output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)),
)
print("result padded", [each.numpy().tolist() for _, each in made.padded_batch(4)])
total = rows.unbatch().reduce(tf.zeros(2), lambda total, row: total + row)
print("result total", total.numpy().tolist())
mixed = tf.data.Dataset.sample_from_datasets([rows.unbatch(), rows.unbatch()], [0.5, 0.5], seed=4)
print("result mixed", [each.numpy().tolist() for each in mixed.take(3)])
