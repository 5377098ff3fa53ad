"""What the bytes of a tfdbg2 logdir mean: shared by the dump writer and the reader.

Framing (`tfrecord`), protocol-buffer wire format (`codec`) and messages (`message`), the table of
all events and their fields (`events`), tensor debug modes and their value vectors (`modes`), tensor
element types (`dtypes`) and file names (`filesets`).  Needs neither TensorFlow nor protobuf.
"""
