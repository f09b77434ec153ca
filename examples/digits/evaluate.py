"""Measure the shipped model on the held-out samples and print what README.md states.

LiteRT (``pip install ai-edge-litert``) runs the int8 model: with its reference kernels, and with
its default ones.
"""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

import dataset
import network
import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import Interpreter, OpResolverType

HERE = Path(__file__).resolve().parent
FILES = ("float_weights.npz", "digits_int8.tflite", "test_samples.npz", "digits_labels.npz")
PACKAGES = ("numpy", "scikit-learn", "tflite", "flatbuffers", "ai-edge-litert")


def litert_outputs(resolver: OpResolverType) -> npt.NDArray[np.int8]:
    """The model's int8 output for every held-out sample, [N,10]."""
    model = str(HERE / "digits_int8.tflite")
    interpreter = Interpreter(model, experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()
    source = interpreter.get_input_details()[0]["index"]
    result = interpreter.get_output_details()[0]["index"]
    outputs = []
    for image in np.load(HERE / "test_samples.npz")["image"]:
        interpreter.set_tensor(source, image)
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(result)[0])
    return np.array(outputs)


def float_predictions(images: network.Array) -> npt.NDArray[np.int64]:
    """The digits that the float network recognises, [N]."""
    with np.load(HERE / "float_weights.npz") as stored:
        weights = {name: stored[name].astype(np.float64) for name in stored.files}
    return network.forward(weights, images)["dense"].argmax(axis=1)


def main() -> None:
    _, held_out = dataset.split()
    labels = np.load(HERE / "digits_labels.npz")["labels"]
    predictions = {
        "float network": float_predictions(held_out.images),
        "int8 model, LiteRT reference kernels": litert_outputs(OpResolverType.BUILTIN_REF).argmax(
            1
        ),
        "int8 model, LiteRT default kernels": litert_outputs(OpResolverType.AUTO).argmax(1),
    }
    for row, digits in predictions.items():
        print(f"| {row} | {(digits == labels).sum()} of {labels.size} |")
    for name in FILES:
        data = (HERE / name).read_bytes()
        print(f"| {name} | {len(data)} | {hashlib.sha256(data).hexdigest()} |")
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    print(f"Made with Python {platform.python_version()}, {versions}.")


if __name__ == "__main__":
    main()
