"""The attributes of an operator's arithmetic: its fused activation and its rounding."""

from __future__ import annotations

import enum


class Activation(enum.Enum):
    """A fused activation: it clamps to a closed range of real values.

    NONE and RELU limit floats to finite numbers, as TFLite's kernels do. Their two "unlimited"
    forms keep infinities.
    """

    __hash__ = object.__hash__  # Enum's own function is Python code

    NONE = "none"
    RELU = "relu"  # [0, inf)
    RELU6 = "relu6"  # [0, 6]
    RELU_N1_TO_1 = "relu_n1_to_1"  # [-1, 1]
    RELU_0_TO_1 = "relu_0_to_1"  # [0, 1]
    # ONNX's operators keep infinities.
    UNLIMITED = "unlimited"
    RELU_UNLIMITED = "relu_unlimited"

    @property
    def clamps(self) -> bool:
        """Whether the activation clamps finite values."""
        return self not in OPEN


OPEN = (Activation.NONE, Activation.UNLIMITED)  # they leave all finite values as they are
RELUS = (Activation.RELU, Activation.RELU_UNLIMITED)  # they only raise negative values to 0


class Rounding(enum.Enum):
    """The rounding with which an accumulator is scaled to the output.

    The frontend chooses it from the numerics profile and the file, so that a graph has only one
    meaning. int8 activations: DOUBLE or SINGLE, see ``int8``; int16 activations: DOUBLE, REDUCED or
    REAL, see ``int16``. PRODUCT is for convolutions that are uint8 in the file. UPWARD and NEAREST
    are the roundings of Relay's qnn.requantize. With these two, the sums have a scale of their own,
    which is recorded with the weight. FLOAT is ONNX's, see ``in_float32``.
    """

    __hash__ = object.__hash__  # Enum's own function is Python code

    DOUBLE = "double"  # gemmlowp: doubling high multiply, then rounding shift: two roundings
    PRODUCT = "product"  # DOUBLE, with one weight scale, which float32 multiplies by the input's
    SINGLE = "single"  # one rounding of the 64-bit product
    REDUCED = "reduced"  # int64 accumulators, 16-bit multipliers, one rounding, ties upwards
    REAL = "real"  # int64 accumulators, C's round of the product in double
    UPWARD = "upward"  # one rounding of the 64-bit product, ties upwards
    NEAREST = "nearest"  # the arithmetic of SINGLE, in the scale of the sums
    FLOAT = "float32"  # float32(sum) times a float32 scale, rounded to nearest, ties to even
