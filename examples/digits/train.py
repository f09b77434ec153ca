"""Train the float network on the digits: ``python train.py [--output float_weights.npz]``.

One run takes some 15 seconds. Runs on one machine give the same bytes; another BLAS or CPU may
sum in another order, and training amplifies a last bit into visibly different weights.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dataset
import network
import numpy as np

HERE = Path(__file__).resolve().parent
TRAINING_SEED = 7
EPOCHS = 40
BATCH = 32
LEARNING_RATE = 3e-3
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Kingma and Ba 2015, algorithm 1, updating ``weights`` in place."""

    def __init__(self, weights: dict[str, network.Array]) -> None:
        self.weights = weights
        self.mean = {name: np.zeros_like(w) for name, w in weights.items()}
        self.variance = {name: np.zeros_like(w) for name, w in weights.items()}
        self.steps = 0

    def step(self, gradients: dict[str, network.Array], learning_rate: float) -> None:
        """One update."""
        self.steps += 1
        correct1 = 1 - BETA1**self.steps
        correct2 = 1 - BETA2**self.steps
        for name, gradient in gradients.items():
            mean, variance = self.mean[name], self.variance[name]
            mean += (1 - BETA1) * (gradient.reshape(mean.shape) - mean)
            variance += (1 - BETA2) * (gradient.reshape(mean.shape) ** 2 - variance)
            update = (mean / correct1) / (np.sqrt(variance / correct2) + EPSILON)
            self.weights[name] -= learning_rate * update


def train(samples: dataset.Samples) -> dict[str, network.Array]:
    """The weights after a fixed number of epochs; nothing is chosen by looking at held-out data."""
    random = np.random.RandomState(TRAINING_SEED)
    weights = network.initial_weights(random)
    adam = Adam(weights)
    for epoch in range(EPOCHS):
        learning_rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = random.permutation(samples.labels.size)
        for start in range(0, order.size, BATCH):
            chosen = order[start : start + BATCH]
            activations = network.forward(weights, samples.images[chosen])
            gradients = network.gradients(weights, activations, samples.labels[chosen])
            adam.step(gradients, learning_rate)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=HERE / "float_weights.npz")
    arguments = parser.parse_args()
    training, held_out = dataset.split()
    weights = {name: w.astype(np.float32) for name, w in train(training).items()}
    # numpy dates the members of an .npz 1980-01-01, so equal arrays give equal bytes.
    np.savez(arguments.output, **weights)
    print(f"training accuracy  {network.accuracy(weights, *training):.4f}")
    print(f"held-out accuracy  {network.accuracy(weights, *held_out):.4f}")


if __name__ == "__main__":
    main()
