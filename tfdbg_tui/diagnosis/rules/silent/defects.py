"""What silent defects mean; `search` finds the places that have them."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_tui.diagnosis.rules.model import BOUND_IT, NO_LOWER_BOUND, OVER_TIME, Defect, Example

DEAD_RELU = Defect(
    id="dead-relu",
    title="A ReLU layer that is off all the time",
    why="All inputs of the ReLU are negative, so its gradient is 0 and the layers before it cannot "
    "learn.",
    fix="Lower the learning rate, scale the inputs (pixels to 0 to 1, say), use He initialisation, "
    "or a leaky ReLU.",
    example=Example("Relu([-3, -1, …]) → [0, 0, …] in each of 1,000 computations"),
)
DEAD_FROM_THE_FIRST = replace(
    DEAD_RELU,
    why="All inputs of the ReLU are negative, from the first computation on: its gradient is 0, "
    "and neither its layer nor those before it can learn.",
    fix="Look at the values that the layer starts with: initial weights and bias (0, He "
    "initialisation), and the scale of what it takes. A leaky ReLU learns all the same.",
)
"""The same where no training has led there."""
EXP_UNDERFLOW = Defect(
    id="exp-underflow",
    title="Exponential that is always rounded to zero",
    why="exp of less than -103 (float32) or -17 (float16) is 0: a sum of such terms is 0, and "
    "dividing by it or taking its log fails.",
    fix="Subtract the maximum first, or stay with logarithms (tf.reduce_logsumexp).",
    example=Example("Exp([-200, -300, …]) → [0, 0, …] in each of 1,000 computations"),
)
GRADIENT_UNDERFLOW = Defect(
    id="gradient-underflow",
    title="Gradients that vanish in float16",
    why="Numbers below 6e-8 are 0 in float16, and those below 6e-5 lose digits: the gradients are "
    "lost, in a cast or as they are computed.",
    fix="Use a loss scale (keras.mixed_precision.LossScaleOptimizer), or bfloat16.",
    example=Example("Cast(float32 [1e-9, -2e-9, …]) → float16 [0, 0, …] in a gradient, always"),
)
NEAR_OVERFLOW = Defect(
    id="near-overflow",
    title="Numbers close to overflow",
    why="The result is within a factor of two of the largest number of its type: a slightly larger "
    "input or weight makes it ∞.",
    fix="Scale or clip the argument; compute a part that is in float16 in bfloat16 or float32.",
    example=Example("MatMul(float16 …) → [41200, -300, …], the largest float16 is 65504"),
)
SATURATED_SOFTMAX = Defect(
    id="saturated-softmax",
    title="Softmax that is saturated all the time",
    why="The logits lie more than 103 apart, so that all probabilities but one are rounded to 0: "
    "the gradient of the softmax is 0 as well, and its logarithm would be -∞.",
    fix="Scale the inputs (pictures from 0 to 1, not 255), lower the learning rate or the initial "
    "weights; in attention divide the scores by the root of their size; compute the loss from the "
    "logits.",
    example=Example("Softmax(BiasAdd(…) = [900, 0, -700, …]) → [1, 0, 0, …] in each computation"),
)
SATURATED_LOSS = replace(
    SATURATED_SOFTMAX,
    why="The logits lie so far apart in each step that no step of training brings them together: "
    "layers without a normalisation that each make numbers larger, initial weights that are too "
    "large, or inputs that are. The loss is as large as they are.",
    fix="Normalise between the layers, make the initial weights smaller (of the last layer of each "
    "residual block, say, 0), scale the inputs (pictures from 0 to 1, not 255).",
)
"""The same where the loss takes the logits, and its gradient does not vanish therefore."""
SOFTMAX_OF_ONE = Defect(
    id="softmax-of-one",
    title="Softmax of a single number",
    why="A softmax makes shares of a whole: of one number the result is 1, whatever the number is. "
    "The model always says the same, and no gradient comes back through it. A loss that takes the "
    "logits instead may fall all the same.",
    fix="Give the layer a sigmoid and the loss a binary cross entropy (for a probability), no "
    "activation (for a number), or one unit for each class.",
    example=Example("Softmax([[-0.3], [2.1], …]) → [[1], [1], …] in each computation"),
)
NORM_OF_ONE = Defect(
    id="norm-of-one",
    title="Normalisation of a single number",
    why="A normalisation subtracts the mean. Of one number the mean is the number itself: what is "
    "left is 0, whatever the layers before give, and no gradient comes back through it.",
    fix="Normalise over several numbers: give the layer before more units or channels, take other "
    "axes or fewer groups, batches of more than one example, or leave the normalisation out there.",
    example=Example("SquaredDifference(BiasAdd of shape [32, 40, 1], its mean over the last axis)"),
)
TARGET_OUT_OF_REACH = Defect(
    id="target-out-of-reach",
    title="Targets that the last activation can never give",
    why="The result of a sigmoid is between 0 and 1, that of a tanh between -1 and 1, and the loss "
    "compares it with much larger numbers: it ends at its bound, and stays there.",
    fix="Use no activation in the last layer for numbers of any size, or scale the targets "
    "(pictures from 0 to 1, not 255) to what it gives.",
    example=Example("Sub(targets up to 103, Sigmoid(…) = [0.99, …]), then Square, in each step"),
)
TARGETS_OF_NO_PROBABILITY = Defect(
    id="targets-of-no-probability",
    title="Targets of a binary cross entropy that are no probabilities",
    why="The cross entropy of a probability and a target of 0 to 1 is never below 0. That of "
    "another target has no least value: the loss falls below 0 without end, as the logits grow.",
    fix="Give it 0 and 1. Classes that are numbered want SparseCategoricalCrossentropy, from 0 on, "
    "and a unit for each class; -1 and 1 want a hinge loss, or (y + 1) / 2.",
    example=Example("binary_crossentropy of targets 1, 2 and 3: 0.4 in step 0, -560 in step 71"),
)
MINUS_MISSING = Defect(
    id="minus-missing",
    title="A cross entropy without its minus",
    why="Logarithms of probabilities are below 0, and so is their mean: to make that smaller is to "
    "make the right classes less likely, and it has no least value.",
    fix="Put the minus before the mean: -tf.reduce_mean(...); or use tf.nn's or Keras' cross "
    "entropy of the logits.",
    example=Example("reduce_mean(labels * log_softmax(logits)): -0.9 in step 0, -80 in step 50"),
)
ONLY_ZEROS = Defect(
    id="only-zeros",
    title="All that the model is given is 0",
    why="Whatever weights 0 is multiplied with, the product is 0: the first layers cannot learn, "
    "and the model says the same of all examples.",
    fix="Look at what is fed: a division of integers (images // 255), an array that was never "
    "filled, a scale or a mask of 0. A matrix of word vectors stays 0 where no word was found in "
    "the file that it is read from.",
    example=Example("IteratorGetNext:0 is 0 in each computation, and so is what Conv2D is given"),
)
TARGETS_TOO_LARGE = Defect(
    id="targets-too-large",
    title="Targets so large that the model does not come near them",
    why="The loss compares what the model gives with numbers that are 10,000 times as large and "
    "more, in all steps. Adam and RMSprop move each weight by about the learning rate in a step, "
    "however large the gradient is: the loss stays what it was.",
    fix="Scale the targets: subtract their mean and divide by their standard deviation, or take "
    "the logarithm; undo that in what is predicted.",
    example=Example("Square(Sub(targets up to 1e8, AddV2(…) of at most 28)) in each of 120 steps"),
)
NOT_PROBABILITIES = Defect(
    id="not-probabilities",
    title="A cross entropy of numbers that are no probabilities",
    why="The loss takes the logarithm of probabilities and clips what it is given to 0 to 1: what "
    "is below or above has no gradient, and the model ends with numbers of any size.",
    fix="Pass from_logits=True to the loss, or end the model with a softmax (a sigmoid where there "
    "is one number, or where several classes may hold).",
    example=Example("Log(ClipByValue(BiasAdd(…) = [-3, 7, …], 0, 1)) in each computation"),
)
SILENT_BROADCAST = Defect(
    id="silent-broadcast",
    title="Difference of a column and a row",
    why="A tensor of shape [n, 1] minus one of shape [n] has shape [n, n]: the loss compares every "
    "prediction with every target.",
    fix="Give both the same shape: tf.squeeze(predictions, -1), or targets[:, tf.newaxis].",
    example=Example("Sub(shape [32, 1], shape [32]) → shape [32, 32], then Square, Mean"),
)
SOFTMAX_TWICE = Defect(
    id="softmax-twice",
    title="Softmax of a softmax",
    why="The loss applies a softmax itself and wants logits: given probabilities, its gradients "
    "are small and training is slow.",
    fix="Leave the softmax out of the last layer, or set from_logits=False.",
    example=Example("SoftmaxCrossEntropyWithLogits(Softmax(…), labels)"),
)
SIGMOID_TWICE = Defect(
    id="sigmoid-twice",
    title="Sigmoid of a sigmoid",
    why="The loss applies a sigmoid itself and wants logits: given probabilities, it takes none of "
    "them for less than 0.5 or more than 0.73, its gradients are small and training is slow.",
    fix="Leave the sigmoid out of the last layer, or set from_logits=False.",
    example=Example("tf.nn.sigmoid_cross_entropy_with_logits(labels, Sigmoid(…))"),
)
ALL_STEPS_SKIPPED = Defect(
    id="all-steps-skipped",
    title="Every training step is skipped",
    why="The gradients are never finite, so none of them is applied: nothing is learnt.",
    fix="Find the overflow that makes them infinite (it is the same in each step) and keep that "
    "part in float32; where the loss scale is still falling, begin with a smaller one "
    "(initial_scale).",
    example=Example("IsFinite(gradients) → False in each of 500 steps"),
)
SCALE_RISES = replace(
    ALL_STEPS_SKIPPED,
    why="The gradients are never finite, so none of them is applied, and the loss scale gets "
    "larger nevertheless: nothing is learnt.",
    fix="Divide the loss scale after a step that is skipped, and multiply it only after many that "
    "are not.",
)
"""The same where the loss scale goes the wrong way."""
MOST_STEPS_SKIPPED = Defect(
    id="most-steps-skipped",
    title="Most training steps are skipped",
    why="Gradients overflow still after many steps: the loss scale rises too soon again, or has "
    "not fallen far enough; or something in the forward pass overflows, whatever the scale is.",
    fix="Begin with a smaller scale (initial_scale) and let it grow less often "
    "(dynamic_growth_steps); where it becomes less than 1, find the overflow in the forward pass "
    "and keep that part in float32.",
    example=Example("IsFinite(gradients) → False in 40 of 60 steps, in the last 30 in 20"),
)
MANY_STEPS_SKIPPED = replace(
    MOST_STEPS_SKIPPED,
    title="Many training steps are skipped, up to the end",
    why="Gradients overflow still after many steps: the loss scale rises too soon again.",
)
"""The same where it is not most of them."""
LOSS_SCALE_BELOW_ONE = Defect(
    id="loss-scale-below-one",
    title="The loss scale has fallen below 1",
    why="Gradients overflow float16 even where the loss is not multiplied at all: they, or the "
    "loss, are so large that the scale makes them smaller, and each step down to it was skipped.",
    fix="Find what is so large (the loss of predictions that are far off, a sum in place of a "
    "mean) and scale it down; keep that part in float32.",
    example=Example("Loss scale 32768 in step 0, 0.125 in step 30; 18 of 40 steps skipped"),
)
TRAINING_DIVERGES = Defect(
    id="training-diverges",
    title="The training diverges: gradients or the loss grow beyond all bounds",
    why="Steps that are too long, or go the wrong way, make the next ones longer, until numbers "
    "overflow; a batch that is far from all others can begin it.",
    fix="Lower the learning rate, or raise it more slowly; clip gradients (clipnorm); scale inputs "
    "and targets, and look at the batch before the growth began.",
    fix_in_recurrent=OVER_TIME,
    example=Example("MatMul in a gradient: 12 in step 0, 9e14 in step 12"),
)
LOSS_FALLS_WITHOUT_END = replace(TRAINING_DIVERGES, why=NO_LOWER_BOUND, fix=BOUND_IT)
"""The same of a loss that is below 0."""
NUMBERS_EXPLODE = Defect(
    id="numbers-explode",
    title="The numbers of a layer have become far larger than they were",
    why="What the layer takes or its weights are out of bounds, and nothing keeps them: an "
    "activation without a bound in a recurrent cell multiplies them in each step of time, and a "
    "training step that is too long does so with the weights. What comes after is saturated.",
    fix="Lower the learning rate and clip gradients (clipnorm); in a recurrent cell use tanh, not "
    "ReLU, and orthogonal recurrent weights of gain 1; normalise (LayerNormalization).",
    example=Example("MatMul of a layer: 0.2 in step 0, 4e15 in step 1, 5e32 in step 21"),
)
STEPS_TOO_LONG = Defect(
    id="steps-too-long",
    title="Training steps that are longer than the weights are large",
    why="A few steps make most weights many times as large as they were: nothing is left of what "
    "they were, activations saturate, and losses rise and fall by powers of ten. Adam and RMSprop "
    "move each weight by about the learning rate in a step; SGD by the gradient times the rate.",
    fix="Lower the learning rate, to a hundredth of the largest weight or less; scale inputs and "
    "targets; clip gradients (clipnorm).",
    example=Example("ReadVariableOp of a kernel: 0.5 in step 0, 3.5 in step 1, 9 in step 4"),
)
ONE_STEP_TOO_LONG = replace(
    STEPS_TOO_LONG,
    why="One step made the weights thousands of times as large as they were, and there they have "
    "stayed: a batch that is far from all others (a missing value written as a huge number, a "
    "wrong unit), and nothing that keeps the step of it short.",
    fix="Look at the data of that step, and leave out or replace such values; clip gradients "
    "(clipnorm); scale inputs and targets; lower the learning rate.",
)
"""The same where a single loss was as far from all others."""
LOSS_AT_BOUND = Defect(
    id="loss-at-bound",
    title="A loss that is as low as the bound of its logarithm lets it be",
    why="The loss is the logarithm of probabilities, not its negative: training makes the "
    "probabilities of what is right 0, and only a bound (an epsilon, a clip) keeps the logarithm "
    "from -∞. Nothing more is learned then.",
    fix="Change the sign of the loss (-tf.math.log(p + epsilon)), or of what is to be maximised.",
    example=Example("Mean(labels * Log(p + 1e-7)): -1.1 in step 0, -16.118 from step 300 on"),
)
SATURATED_ACTIVATION = Defect(
    id="saturated-activation",
    title="An activation that is saturated everywhere",
    why="All inputs of the tanh or sigmoid are so far from 0 that its slope is next to 0: no "
    "gradient comes back through it, and the layers before it cannot learn.",
    fix="Scale the inputs, make the initial weights smaller (Glorot), lower the learning rate, or "
    "normalise before the activation.",
    example=Example("TanhGrad of gradients up to 0.2 gives at most 3e-9, in each of 60 steps"),
)
VANISHING_GRADIENT = Defect(
    id="vanishing-gradient",
    title="Gradients that vanish on the way back",
    why="Each layer makes the gradient smaller, until what reaches the first ones is nothing "
    "beside that of the last; or the loss that trains them has a tiny weight. They do not learn.",
    fix="Use ReLU or the like instead of sigmoid and tanh, residual connections, normalisation, "
    "He or Glorot initialisation; for long sequences LSTM or GRU. Look at the weights of losses.",
    example=Example("MatMul in a gradient: at most 1e-11, in the last layer 0.3, in every step"),
)
OUTPUT_CANCELLED = Defect(
    id="output-cancelled",
    title="What a layer adds is taken off again",
    why="The layer gives one number for many places (a bias for each channel, an embedding of the "
    "time), and a normalisation after the addition subtracts the mean over just these places: "
    "the result does not depend on the layer, and its gradient is 0 but for rounding.",
    fix="Add it after the normalisation, or normalise over several channels together (fewer groups "
    "in GroupNormalization, LayerNormalization over channels); or scale and shift by it.",
    example=Example("Sum in a gradient: of numbers up to 0.005 at most 1e-8, in every step"),
)
LAYER_NEVER_CHANGES = Defect(
    id="layer-never-changes",
    title="A layer that never changes",
    why="Its variables may be trained, but nothing changes them: the layer is not among what is "
    "trained, or no gradient comes back to it.",
    fix="Add its variables to the list that tape.gradient and the optimizer are given (where that "
    "is the model's, make the layer an attribute of the model), or look for what cuts the gradient "
    "off: tf.stop_gradient, numpy(), argmax, rounding, casts to integers. If it is "
    "to stay as it is, set layer.trainable = False.",
    example=Example("encoder: 4 variables, gradients of None in every step, others are trained"),
)
LEFT_OUT_OF_SESSION = replace(
    LAYER_NEVER_CHANGES,
    why="Its variables may be trained, and the loss is made of them, but no optimizer changes "
    "them: they stay the random numbers that they began with.",
    fix="Add them to the var_list of minimize, or leave that out: then all are trained that the "
    "loss is made of. If they are to stay as they are, make them with trainable=False.",
)
"""The same of variables of a session."""
LAYER_OF_ZEROS = replace(
    LAYER_NEVER_CHANGES,
    why="What the layer is given is 0 in each step, and so is the gradient of its weights.",
    fix="Look at what it is given: an array that was never filled, a division of integers, a scale "
    "or a mask of 0. If it may be 0 in all examples, all is well.",
)
"""The same of a layer that is given only zeros."""
NOTHING_TRAINED = Defect(
    id="nothing-trained",
    title="A training in which nothing is trained",
    why="All layers of the model are frozen that have weights: there is no gradient, the optimizer "
    "has no variable to change, and the loss stays what it was.",
    fix="Set trainable = True for the layers that are to learn, before compile. The last one of "
    "model.layers may have no weights (an activation, dropout): leave out of what is frozen the "
    "last one that has.",
    example=Example("6 variables with trainable = False, the same in each of 80 steps of fit"),
)
GRADIENTS_NOT_APPLIED = Defect(
    id="gradients-not-applied",
    title="Gradients that are asked for and never applied",
    why="The training step asks a tape for gradients, and nothing assigns to the variables: they "
    "stay what they were, and so does the loss.",
    fix="Give the gradients to the optimizer: apply_gradients(zip(gradients, variables)).",
    example=Example("GradientTape.gradient(loss, 4 variables) in each step, no assignment to one"),
)
GRADIENTS_NONE = Defect(
    id="gradients-none",
    title="Gradients of None for all that is to be trained",
    why="The loss is made of none of the variables whose gradients are asked for: those are of "
    "another model or a copy of it, or something on the way to the loss is not recorded by the "
    "tape. Nothing is trained.",
    fix="Ask for the gradients of the model that the loss is made with, and compute all of the "
    "loss inside of `with tf.GradientTape()`, with ops of TensorFlow: no numpy(), no int(), no "
    "tf.constant of results, no tf.stop_gradient.",
    example=Example(
        "tape.gradient(loss, model.trainable_variables) → [None, None, …] in each step"
    ),
)
ZERO_WEIGHTS = replace(
    LAYER_NEVER_CHANGES,
    why="Weights that begin with 0 in several layers stay 0: what the layers give is 0, and so is "
    "the gradient of the weights, as it is made of the weights of the layers after them. At most "
    "the last bias learns.",
    fix="Let weights begin with random numbers (Glorot, He); 0 is for biases, and for one layer of "
    "several that follow each other, as the last of a residual block.",
)
"""The same of layers that all begin with 0."""
UNITS_ALIKE = Defect(
    id="units-alike",
    title="All units of a layer stay alike, as their weights began with one number",
    why="Units that begin with the same weights give the same, get the same gradient and stay the "
    "same: the layer learns no more than one unit would.",
    fix="Let weights begin with random numbers (Glorot, He); a constant is for biases and for the "
    "scales of normalisations.",
    example=Example("kernel: 160 numbers of 0.1 at first; bias: 16 numbers of 0.012 in step 76"),
)
NO_GRADIENT = Defect(
    id="no-gradient",
    title="No gradient comes back to any layer",
    why="What the loss is made of does not change with what the layers compute: numbers that are "
    "clipped or rounded, compared or saturated have a slope of 0. Nothing is learned.",
    fix="Look at what the model ends with (its last activation, clipping, rounding, argmax), and "
    "at the scale of its inputs and initial weights.",
    example=Example("ClipByValue([7000, …], 0, 1): all gradients are 0 in each of 60 steps"),
)
LOSS_OF_ZERO = replace(
    NO_GRADIENT,
    why="The loss is 0 in all steps: a margin of the wrong sign or size, a mask or a weight of 0, "
    "or a difference of what is always the same leaves nothing to learn. So it is, too, where a "
    "model has learned all that the loss asks for before it was recorded.",
    fix="Look at what the loss is clipped at, at the signs of what it compares, and at its masks "
    "and weights.",
)
DATA_OF_ZERO = replace(
    NO_GRADIENT,
    why="The loss is 0 in all steps, as it is multiplied by, or made of, what came in with the "
    "data and is 0 everywhere: sample weights, a mask, or targets.",
    fix="Look at what is given besides the inputs (sample_weight, class_weight, a mask, the "
    "targets): a division of integers, say, gives 0 for each share of a whole.",
)
"""The same where what is 0 first is no result of an op."""
ONLY_OF_PENALTIES = replace(
    NO_GRADIENT,
    why="What compares the model with the data has no gradient: an op on the way has none. Only "
    "penalties of the weights (a regulariser, an L2 loss) have one: the weights get smaller, and "
    "nothing is learned.",
    fix="Compare what has a slope: probabilities or logits in place of rounded ones, classes or "
    "flags (round, argmax, cast, greater), and tensors in place of arrays (numpy()). Where it has "
    "to be rounded, let the gradient through: x + tf.stop_gradient(tf.round(x) - x).",
)
"""The same where penalties are added to the loss."""
UPDATES_TOO_SMALL = Defect(
    id="updates-too-small",
    title="Steps so short that the variables stay as they are",
    why="What a step adds to a variable is less than the distance to the next number of its type, "
    "so that the sum is rounded to what it was: nothing is learned.",
    fix="Raise the learning rate; look at what makes it small (a schedule, a decay, a unit), and "
    "at the scale of the loss; keep variables in float32 rather than in bfloat16 or float16.",
    example=Example("AssignSub(kernel = [0.4, …], [1e-12, …]) in float32, in each of 160 steps"),
)
UPDATES_NEXT_TO_NOTHING = replace(
    UPDATES_TOO_SMALL,
    why="What a step adds to a variable is less than a millionth of it, so that a million steps "
    "would have to be made to change it, and the loss stays what it was.",
)
"""The same where the variables do change, which shows in no loss."""
GRADIENT_NEXT_TO_NOTHING = replace(
    UPDATES_TOO_SMALL,
    why="A bias moves a thousand times as far and more, so that it is not the learning rate: the "
    "gradients of kernels are next to nothing, as what their layers are given is.",
    fix="Look at what the layers are given: features next to 0, as of a frozen base whose weights "
    "are random; scale or normalise them.",
)
"""The same where only biases learn."""
UPDATES_OF_ZERO = replace(
    UPDATES_TOO_SMALL,
    why="The optimizer adds exactly 0: its learning rate is 0, as that of a schedule that has come "
    "to its end, and nothing is learned from then on.",
    fix="Let the schedule last as long as the training: decay_steps counts batches, not epochs. "
    "Look at what sets the learning rate.",
)
"""The same where nothing is rounded."""
PENALTY_TOO_STRONG = Defect(
    id="penalty-too-strong",
    title="A penalty or weight decay so strong that weights go to 0, and nothing else is learned",
    why="A regulariser, or the weight decay of the optimizer, makes the weights smaller in each "
    "step than the rest of the loss makes them larger: they are next to nothing, and the model "
    "says the same whatever it is given.",
    fix="Make the factor of the regulariser smaller (1e-4 is usual): it is one for the sum over "
    "all weights, so that the penalty is the larger the more weights there are. The same goes for "
    "weight_decay of the optimizer (0.1 or less).",
    example=Example("Loss: 2.3 and penalties of 1,470 in step 0, 2.3 and 0.8 in step 130"),
)

OPTIMIZER_SLOT_EXPLODED = Defect(
    id="optimizer-slot-exploded",
    title="What the optimizer keeps is so large that its steps are next to nothing",
    why="A batch with enormous gradients went into the sum of their squares that the optimizer "
    "divides by: it never gets smaller again, or only slowly, and nothing learns meanwhile.",
    fix="Clip gradients (clipnorm), look at the batch before it grew; begin with a new optimizer.",
    example=Example("Adagrad's accumulator: 0.1 in step 0, 1e26 from step 4 on, gradients of 1"),
)

IN_ALL_STEPS = frozenset(
    one.id
    for one in (
        *(GRADIENT_UNDERFLOW, SOFTMAX_OF_ONE, NORM_OF_ONE, TARGET_OUT_OF_REACH, TARGETS_TOO_LARGE),
        *(SOFTMAX_TWICE, LAYER_NEVER_CHANGES, NOTHING_TRAINED, GRADIENTS_NOT_APPLIED, ZERO_WEIGHTS),
        *(GRADIENTS_NONE, UNITS_ALIKE, NO_GRADIENT, LOSS_OF_ZERO, TARGETS_OF_NO_PROBABILITY),
        *(
            LAYER_OF_ZEROS,
            LEFT_OUT_OF_SESSION,
            SIGMOID_TWICE,
            DATA_OF_ZERO,
            ONLY_OF_PENALTIES,
            ONLY_ZEROS,
        ),
        MINUS_MISSING,
    )
)
"""Rules that are told only of what is so in all steps that were measured."""

DEFECTS = (
    DEAD_RELU,
    EXP_UNDERFLOW,
    GRADIENT_UNDERFLOW,
    NEAR_OVERFLOW,
    SATURATED_SOFTMAX,
    SILENT_BROADCAST,
    NOT_PROBABILITIES,
    ONLY_ZEROS,
    SOFTMAX_OF_ONE,
    NORM_OF_ONE,
    TARGET_OUT_OF_REACH,
    TARGETS_TOO_LARGE,
    TARGETS_OF_NO_PROBABILITY,
    MINUS_MISSING,
    SOFTMAX_TWICE,
    SIGMOID_TWICE,
    ALL_STEPS_SKIPPED,
    MOST_STEPS_SKIPPED,
    LOSS_SCALE_BELOW_ONE,
    TRAINING_DIVERGES,
    NUMBERS_EXPLODE,
    STEPS_TOO_LONG,
    LOSS_AT_BOUND,
    SATURATED_ACTIVATION,
    VANISHING_GRADIENT,
    OUTPUT_CANCELLED,
    LAYER_NEVER_CHANGES,
    NOTHING_TRAINED,
    GRADIENTS_NONE,
    NO_GRADIENT,
    UPDATES_TOO_SMALL,
    PENALTY_TOO_STRONG,
    UNITS_ALIKE,
    OPTIMIZER_SLOT_EXPLODED,
)
"""All kinds of silent defects."""
