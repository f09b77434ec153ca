"""Quantize the trained network and write the shipped files:
``python write_tflite.py [--output DIR]``.

    digits_int8.tflite   the model
    test_samples.npz     the held-out images as its int8 input, ``image`` [N,1,8,8,1]
    digits_labels.npz    their labels, ``labels`` int64 [N]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dataset
import flatbuffer
import numpy as np
import quantize
import tflite

HERE = Path(__file__).resolve().parent
RELU = tflite.ActivationFunctionType.RELU
LINEAR = tflite.ActivationFunctionType.NONE
DESCRIPTION = "microgen example: handwritten digits, int8 (examples/digits/README.md)"


def model_bytes(network: quantize.QuantizedNetwork) -> bytes:
    """The network as a .tflite file."""
    model = flatbuffer.ModelWriter("digits", DESCRIPTION)
    names = _add_tensors(model, network)
    _add_operators(model, names)
    return model.finish(inputs=[names["image"]], outputs=[names["softmax"]])


def _add_tensors(
    model: flatbuffer.ModelWriter, network: quantize.QuantizedNetwork
) -> dict[str, int]:
    """Add every tensor; the returned indices have this example's short names as keys."""
    shapes = {
        "image": ("image", (1, 8, 8, 1)),
        "conv1": ("conv1/Relu", (1, 8, 8, 16)),
        "depthwise": ("block/depthwise/Relu", (1, 8, 8, 16)),
        "pointwise": ("block/pointwise/BiasAdd", (1, 8, 8, 16)),
        "add": ("block/add/Relu", (1, 8, 8, 16)),
        "pool": ("pool/AvgPool", (1, 4, 4, 16)),
        "flatten": ("flatten/Reshape", (1, 256)),
        "dense": ("dense/BiasAdd", (1, 10)),
        "softmax": ("probabilities", (1, 10)),
    }
    scales = {**network.activations, "flatten": network.activations["pool"]}
    indices = {
        short: model.tensor(name, shape, np.dtype(np.int8), scales[short])
        for short, (name, shape) in shapes.items()
    }
    for name, constant in network.constants.items():
        indices[name] = model.constant(name, constant.values, constant.scale)
    indices["flatten/shape"] = model.constant("flatten/shape", np.array([-1, 256], np.int32), None)
    return indices


def _add_operators(model: flatbuffer.ModelWriter, index: dict[str, int]) -> None:
    """Add the operators in order, each with the first version that has its int8 form."""
    op = tflite.BuiltinOperator

    def add(code: int, version: int, names: str, options: flatbuffer.Options) -> None:
        *inputs, output = (index[name] for name in names.split())
        model.operator(code, version, inputs, output, options)

    add(op.CONV_2D, 3, "image conv1/weight conv1/bias conv1", flatbuffer.conv2d(RELU))
    add(
        op.DEPTHWISE_CONV_2D,
        3,
        "conv1 depthwise/weight depthwise/bias depthwise",
        flatbuffer.depthwise_conv2d(RELU),
    )
    add(
        op.CONV_2D,
        3,
        "depthwise pointwise/weight pointwise/bias pointwise",
        flatbuffer.conv2d(LINEAR),
    )
    add(op.ADD, 2, "conv1 pointwise add", flatbuffer.add(RELU))
    add(op.AVERAGE_POOL_2D, 2, "add pool", flatbuffer.pool2d(2))
    add(op.RESHAPE, 1, "pool flatten/shape flatten", flatbuffer.reshape((-1, 256)))
    add(op.FULLY_CONNECTED, 4, "flatten dense/weight dense/bias dense", flatbuffer.dense(LINEAR))
    add(op.SOFTMAX, 2, "dense softmax", flatbuffer.softmax())


def main() -> None:
    parser = argparse.ArgumentParser(description="Quantize the network and write the model.")
    parser.add_argument("--output", type=Path, default=HERE, metavar="DIR")
    output = parser.parse_args().output
    training, held_out = dataset.split()
    with np.load(HERE / "float_weights.npz") as stored:
        weights = {name: stored[name].astype(np.float64) for name in stored.files}
    quantized = quantize.quantize(weights, training.images)
    output.mkdir(parents=True, exist_ok=True)
    (output / "digits_int8.tflite").write_bytes(model_bytes(quantized))
    images = quantize.quantize_images(held_out.images, quantized.activations["image"])
    np.savez(output / "test_samples.npz", image=images[:, np.newaxis])  # the model's batch of 1
    np.savez(output / "digits_labels.npz", labels=held_out.labels)
    print(f"wrote digits_int8.tflite and {len(images)} held-out samples to {output}")


if __name__ == "__main__":
    main()
