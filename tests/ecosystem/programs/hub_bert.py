"""KerasHub: a tiny BERT from its configuration, fine-tuned on token ids."""

import keras
import keras_hub
import numpy as np

keras.utils.set_random_seed(20)
backbone = keras_hub.models.BertBackbone(
    vocabulary_size=60,
    num_layers=2,
    num_heads=2,
    hidden_dim=16,
    intermediate_dim=32,
    max_sequence_length=12,
)
model = keras_hub.models.BertTextClassifier(backbone, num_classes=2, preprocessor=None, dropout=0.1)
tokens = np.random.randint(1, 60, size=(16, 12))
lengths = np.random.randint(4, 13, size=(16, 1))
x = {
    "token_ids": tokens,
    "segment_ids": np.zeros((16, 12), "int32"),
    "padding_mask": (np.arange(12) < lengths).astype("int32"),
}
y = tokens[:, 0] % 2
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(loss=loss, optimizer=keras.optimizers.Adam(1e-3), jit_compile=False)
history = model.fit(x, y, batch_size=8, epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
print("result predict", model.predict(x, verbose=0)[:2].ravel().tolist())
