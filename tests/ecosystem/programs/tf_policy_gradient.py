"""Reinforcement learning in eager mode: sampling actions from probabilities, some of them 0."""

import tensorflow as tf

tf.random.set_seed(108)
policy = tf.Variable(tf.zeros([4, 3]))
allowed = tf.constant([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
for episode in range(4):
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        state = 0
        for _ in range(5):
            probabilities = tf.nn.softmax(policy[state]) * allowed[state]
            probabilities /= tf.reduce_sum(probabilities)
            logits = tf.math.log(tf.stop_gradient(probabilities))  # −∞: the action is forbidden
            action = int(tf.random.categorical(logits[None], 1, seed=episode)[0, 0])
            reward = 1.0 if action == state % 3 else -0.1
            total += reward * tf.math.log(probabilities[action])
            state = (state + action + 1) % 4
    policy.assign_add(0.5 * tape.gradient(total, policy))
    print("result episode", float(total), policy.numpy().ravel().tolist())
