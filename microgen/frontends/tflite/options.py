"""The options of TFLite's operators, checked when an importer reads them."""

from __future__ import annotations

from typing import Any

from tflite.ActivationFunctionType import ActivationFunctionType
from tflite.BuiltinOptions import BuiltinOptions
from tflite.BuiltinOptions2 import BuiltinOptions2
from tflite.Padding import Padding as PaddingCode

from microgen.frontends.operators import Operator
from microgen.frontends.tflite.reader import Reader
from microgen.frontends.tflite.records import OperatorRecord
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ops.base import Padding, Pair

_ACTIVATIONS = {
    ActivationFunctionType.NONE: Activation.NONE,
    ActivationFunctionType.RELU: Activation.RELU,
    ActivationFunctionType.RELU6: Activation.RELU6,
    ActivationFunctionType.RELU_N1_TO_1: Activation.RELU_N1_TO_1,
}
_ACTIVATION_NAMES = {v: k for k, v in vars(ActivationFunctionType).items() if isinstance(v, int)}
_PADDINGS: dict[int, Padding] = {PaddingCode.SAME: "SAME", PaddingCode.VALID: "VALID"}


class OperatorOptions(Operator):
    """An operator with the options of its record. Methods that return options raise ModelError or
    UnsupportedError, which name the layer, if the options contradict the methods' descriptions.
    """

    _record: OperatorRecord
    _reader: Reader
    _options: Any = None

    def read_options(self, schema: Any, *, required: bool) -> None:
        """Read the options, a ``schema`` table, for the methods that return options. If an optional
        table is absent, numbers are 0 and vectors are empty, as in the schema."""
        if hasattr(BuiltinOptions2, schema.__name__):
            self._read_second(schema)
            return
        code = getattr(BuiltinOptions, schema.__name__)
        if self._record.options_type not in (code, 0):
            raise self.invalid(
                f"has options of type {self._record.options_type}; {code} is expected"
            )
        if self._record.options_type:
            self._options = self._reader.union(self._record.table, "BuiltinOptions", schema)
        if self._options is None and required:
            raise self.invalid(f"has no {schema.__name__}")

    def _read_second(self, schema: Any) -> None:
        """Read options that are in the schema's second union."""
        code, name = getattr(BuiltinOptions2, schema.__name__), "BuiltinOptions2"
        if self._reader.get(self._record.table, f"{name}Type") == code:
            self._options = self._reader.union(self._record.table, name, schema)
        if self._options is None:
            raise self.invalid(f"has no {schema.__name__}")

    def option(self, name: str) -> int:
        """A number; ``name`` is the schema accessor's name, such as ``StrideH``."""
        return int(self._option(name))

    def flag(self, name: str) -> bool:
        """A truth value."""
        return bool(self._option(name))

    def real(self, name: str) -> float:
        """A float32 number."""
        return float(self._option(name))

    def option_integers(self, name: str) -> tuple[int, ...]:
        """A vector of integers, or of floats if the schema says so."""
        return () if self._options is None else self._reader.integers(self._options, name)

    def _option(self, name: str) -> Any:
        return 0 if self._options is None else self._reader.get(self._options, name)

    def custom_options(self) -> bytes:
        """The options of a custom operator, in a form of its own."""
        return self._reader.array(self._record.table, "CustomOptions").tobytes()

    def activation(self) -> Activation:
        """The fused activation."""
        code = self.option("FusedActivationFunction")
        if code not in _ACTIVATIONS:
            name = _ACTIVATION_NAMES.get(code, f"number {code}")
            raise self.unsupported(
                f"has the fused activation {name}",
                supported=", ".join(_ACTIVATION_NAMES[known] for known in _ACTIVATIONS),
            )
        return _ACTIVATIONS[code]

    def padding(self) -> Padding:
        """SAME or VALID."""
        code = self.option("Padding")
        if code not in _PADDINGS:
            raise self.invalid(f"has the padding number {code}; SAME (0) or VALID (1) is expected")
        return _PADDINGS[code]

    def positive_pair(self, height: str, width: str) -> Pair:
        """Two fields, (height, width), each at least 1."""
        pair = (self.option(height), self.option(width))
        for name, value in zip((height, width), pair, strict=True):
            if value < 1:
                raise self.invalid(f"has {name} {value}; at least 1 is expected")
        return pair
