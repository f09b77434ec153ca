"""Small models of all kinds, and a list of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model


def valid(units: int = 3) -> bytes:
    """A dense layer with so many outputs."""
    tensors = [
        TensorSpec("x", (1, 4), "float32"),
        TensorSpec("w", (units, 4), "float32", data=np.ones((units, 4), np.float32)),
        TensorSpec("y", (1, units), "float32"),
    ]
    dense = OperatorSpec("FULLY_CONNECTED", ["x", "w", -1], ["y"], "FullyConnectedOptions")
    return build_model(tensors, [dense], ["x"], ["y"])


def refused() -> bytes:
    """A sound model with an operator that is not supported."""
    tensors = [TensorSpec("x", (1, 4), "float32"), TensorSpec("y", (1, 4), "float32")]
    return build_model(tensors, [OperatorSpec("RFFT2D", ["x"], ["y"])], ["x"], ["y"])


def write(folder: Path) -> Path:
    """The list, next to a valid model, and others of which none takes long."""
    (folder / "valid.tflite").write_bytes(valid())
    (folder / "text.onnx").write_bytes(b"hello")
    (folder / "refused.tflite").write_bytes(refused())
    (folder / "corrupt.tflite").write_bytes(valid()[:200])
    listing = folder / "networks.txt"
    listing.write_text(
        "# of all kinds\nvalid.tflite\n\nrefused.tflite # RFFT2D\ncorrupt.tflite\n"
        "text.onnx\nmissing.tflite\n"
    )
    return listing
